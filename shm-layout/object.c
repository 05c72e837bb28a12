/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects: the hashes under which they are filed.
 */
#include "shm-layout/object.h"

#include "shm-layout/key_hash.h"

uint64_t
object_key_hash(const uint8_t hash_key[16], const char *ns, size_t ns_length, const char *name,
		size_t name_length)
{
	if (ns_length > OBJECT_NAMESPACE_MAX || name_length > OBJECT_NAME_MAX)
		return 0;	/* no object has such a key, so whatever is found compares unequal */
	return key_hash_name(hash_key, ns, ns_length, name, name_length);
}

uint64_t
index_value_hash(const uint8_t hash_key[16], const void *value, size_t length)
{
	return key_hash(hash_key, value, length);
}
