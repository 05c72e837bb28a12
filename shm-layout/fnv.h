/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FNV-1a: a hash for names among a few, and for "is it the same text as before". Whoever may choose the text
 * can find others of the same hash; what a stranger fills takes a keyed one (key_hash.h).
 *
 * Cost: one multiplication a byte.
 */
#ifndef SHM_LAYOUT_FNV_H
#define SHM_LAYOUT_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV64_BEGIN 0xcbf29ce484222325ull

/* The hash so far, and more bytes. */
static inline uint64_t
fnv64(uint64_t hash, const void *data, size_t length)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ull;
	return hash;
}

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
