/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitmaps, one bit for each unit or page. Address space is reserved for the largest size; memory is used
 * only where bits were set.
 */
#ifndef WRITER_ARENA_BITMAP_H
#define WRITER_ARENA_BITMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

static inline uint64_t
bitmap_bytes(uint64_t bits)
{
	return (bits + 63) / 64 * 8;
}

/* All zero; NULL: no address space. */
static inline uint64_t *
bitmap_reserve(uint64_t bits)
{
	void *p = mmap(NULL, bitmap_bytes(bits), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static inline void
bitmap_release(uint64_t *map, uint64_t bits)
{
	if (map)
		munmap(map, bitmap_bytes(bits));
}

/* The bits below this are zero again, and so are those of the same page; their memory is given back. */
static inline void
bitmap_drop(uint64_t *map, uint64_t bits)
{
	if (bits > 0)
		madvise(map, bitmap_bytes(bits), MADV_DONTNEED);
}

static inline bool
bit(const uint64_t *map, uint64_t i)
{
	return map[i / 64] >> (i % 64) & 1;
}

/* How many of these `count` bits (at least 1) stand in the same word as the first; and their mask. */
static inline uint64_t
bits_in_word(uint64_t from, uint64_t count)
{
	uint64_t in_word = 64 - from % 64;

	return count < in_word ? count : in_word;
}

static inline uint64_t
bits_mask(uint64_t from, uint64_t count)
{
	return ~0ull >> ((64 - count) & 63) << (from & 63);
}

static inline void
bits_fill(uint64_t *map, uint64_t from, uint64_t count, bool value)
{
	while (count > 0) {
		uint64_t n = bits_in_word(from, count), mask = bits_mask(from, n);

		if (value)
			map[from / 64] |= mask;
		else
			map[from / 64] &= ~mask;
		from += n;
		count -= n;
	}
}

static inline bool
bits_all(const uint64_t *map, uint64_t from, uint64_t count)
{
	while (count > 0) {
		uint64_t n = bits_in_word(from, count), mask = bits_mask(from, n);

		if ((map[from / 64] & mask) != mask)
			return false;
		from += n;
		count -= n;
	}
	return true;
}

/* The first bit of this value in [from, end); end when there is none. */
static inline uint64_t
bits_next(const uint64_t *map, uint64_t from, uint64_t end, bool value)
{
	while (from < end) {
		uint64_t word = (value ? map[from / 64] : ~map[from / 64]) & (~0ull << (from % 64));

		if (word) {
			from = from / 64 * 64 + (uint64_t)__builtin_ctzll(word);
			return from < end ? from : end;
		}
		from = (from / 64 + 1) * 64;
	}
	return end;
}

/* The first bit of the run of set bits that contains bit i, which is set. */
static inline uint64_t
bits_run_start(const uint64_t *map, uint64_t i)
{
	uint64_t word = ~map[i / 64] << (63 - i % 64);

	while (!word) {
		if (i < 64)
			return 0;
		i = i / 64 * 64 - 1;
		word = ~map[i / 64];
	}
	return i + 1 - (uint64_t)__builtin_clzll(word);
}

#endif
