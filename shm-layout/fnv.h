/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FNV-1a, for small sets of names and for noticing that a text changed. It has no key: who chooses the texts
 * can make their hashes equal. Tables of foreign names use key_hash.h.
 *
 * Cost: one multiplication for each byte.
 */
#ifndef SHM_LAYOUT_FNV_H
#define SHM_LAYOUT_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV64_BEGIN 0xcbf29ce484222325ull

/* Continue a hash with more bytes; the first `hash` is FNV64_BEGIN. */
static inline uint64_t
fnv64(uint64_t hash, const void *data, size_t length)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ull;
	return hash;
}

/* The 32-bit hash of all bytes. */
static inline uint32_t
fnv32(const void *data, size_t length)
{
	const uint8_t *bytes = data;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

#endif
