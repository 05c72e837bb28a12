/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keyed hash of names and values. The shortest lengths are tested first: most namespaces have up to 16
 * bytes, most names 17 to 64.
 */
#include "shm-layout/key_hash.h"

#include <string.h>

#define SPREAD 0x9e3779b97f4a7c15u

struct secret {
	uint64_t word[2];
};

static inline uint64_t
load8(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static inline uint64_t
load4(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap32(word);
#endif
	return word;
}

static inline uint64_t
mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t
secret_word(const struct secret *s, unsigned i)
{
	return s->word[i % 2] + (i + 1) * SPREAD;
}

static inline uint64_t
pair(const uint8_t *p, const struct secret *s, unsigned i)
{
	return mix(load8(p) ^ secret_word(s, i), load8(p + 8) ^ secret_word(s, i + 1));
}

static inline uint64_t
up_to_16(const uint8_t *p, size_t n, const struct secret *s)
{
	uint64_t a = 0, b = 0;

	if (n >= 8) {
		a = load8(p);
		b = load8(p + n - 8);
	} else if (n >= 4) {
		a = load4(p);
		b = load4(p + n - 4);
	} else if (n > 0) {
		a = (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1];
	}
	return mix(a ^ secret_word(s, 0), b ^ secret_word(s, 1));
}

static inline uint64_t
up_to_64(const uint8_t *p, size_t n, const struct secret *s)
{
	return pair(p, s, 0) + pair(p + 16, s, 2) + pair(p + n - 32, s, 4) + pair(p + n - 16, s, 6);
}

static __attribute__((noinline)) uint64_t
longer(const uint8_t *p, size_t n, const struct secret *s)
{
	uint64_t h = 0;

	for (; n > 64; p += 64, n -= 64)
		h = mix(h ^ secret_word(s, 8), up_to_64(p, 64, s));
	return mix(h ^ secret_word(s, 8), up_to_64(p + n - 64, 64, s));
}

static inline uint64_t
piece(const uint8_t *p, size_t n, const struct secret *s)
{
	if (n <= 16)
		return up_to_16(p, n, s);
	if (n <= 32)
		return pair(p, s, 0) + pair(p + n - 16, s, 2);
	if (n <= 64)
		return up_to_64(p, n, s);
	return longer(p, n, s);
}

uint64_t
index_value_hash(const uint8_t key[16], const void *value, size_t length)
{
	struct secret s = {{load8(key), load8(key + 8)}};

	return mix(piece(value, length, &s) ^ secret_word(&s, 9), length ^ secret_word(&s, 10));
}

uint64_t
object_key_hash(const uint8_t key[16], const char *ns, size_t ns_length, const char *name, size_t name_length)
{
	struct secret s = {{load8(key), load8(key + 8)}};
	uint64_t lengths = (uint64_t)ns_length << 32 | name_length;

	if (ns_length > OBJECT_NAMESPACE_MAX || name_length > OBJECT_NAME_MAX)
		return 0;
	return mix(piece((const uint8_t *)ns, ns_length, &s) ^ secret_word(&s, 11),
		   piece((const uint8_t *)name, name_length, &s) ^ lengths ^ secret_word(&s, 12));
}
