/* SPDX-License-Identifier: Apache-2.0 */
/* Shortened hashes for programs that are linked to wrap them. */
#include "tests/support/short_hash.h"

#include <stddef.h>

uint64_t __real_index_value_hash(const uint8_t key[16], const void *value, size_t length);
uint64_t __wrap_index_value_hash(const uint8_t key[16], const void *value, size_t length);
uint64_t __real_object_key_hash(const uint8_t key[16], const char *ns, size_t ns_length, const char *name,
				size_t name_length);
uint64_t __wrap_object_key_hash(const uint8_t key[16], const char *ns, size_t ns_length, const char *name,
				size_t name_length);

uint64_t short_hash_mask = ~0ull;

uint64_t
__wrap_index_value_hash(const uint8_t key[16], const void *value, size_t length)
{
	return __real_index_value_hash(key, value, length) & short_hash_mask;
}

uint64_t
__wrap_object_key_hash(const uint8_t key[16], const char *ns, size_t ns_length, const char *name,
		       size_t name_length)
{
	return __real_object_key_hash(key, ns, ns_length, name, name_length) & short_hash_mask;
}
