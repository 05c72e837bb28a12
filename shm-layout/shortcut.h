/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortcuts: tables that lead from a key or an ordinal straight to an object's newest state, past the tries.
 * The writer stores the cells; readers load them.
 *
 *	key ──hash──▶ bucket of 8 cells ──▶ object		ordinal ──▶ cell ──▶ object
 *
 * The cells are hints, and a table may be incomplete. A reader that finds an empty cell, or an object newer
 * than its root, searches the tries. A shortcut never proves that an object is absent.
 *
 * BLOCK_SHORTCUT payload. The cells change in place, so the block's tag covers the first 8 bytes only:
 *
 *   0          4        8         A                                     A + cells * size
 *   +----------+--------+- - - - -+--------+--------+--------+- - - - - +
 *   | cells    | kind   |         | cell   | cell   | cell   |          |
 *   +----------+--------+- - - - -+--------+--------+--------+- - - - - +
 *
 *   A      the first multiple of 64 of the file at or after byte 8 of the payload
 *   cells  number of cells, a power of two
 *   kind   1, by key: a cell has 8 bytes: the hash's upper 32 bits above the object's ref; 0: empty. A key is
 *          in one of the 8 cells of bucket hash & (cells / 8 - 1), which has 64 bytes
 *          2, by ordinal: a cell has 4 bytes: the object's ref; 0: empty
 *
 * Invariant: before the writer stores a root, it stores the cell of each object that the commit changes; 0
 * for a deleted object. So a reader that pinned a root finds nothing in a cell, or the state that its root
 * has, or a later state. The seq of a later state is above the root's (PROTOCOLS.md, Shortcut).
 *
 * A reader that verifies tags does not use shortcuts, because no tag covers the cells.
 */
#ifndef SHM_LAYOUT_SHORTCUT_H
#define SHM_LAYOUT_SHORTCUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/object.h"
#include "shm-layout/slot.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(SHORTCUT_PLAIN)
#define SHORTCUT_PLAIN
#endif
#endif
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__) && !defined(SHORTCUT_PLAIN)
#include <emmintrin.h>
#define SHORTCUT_SSE2
#endif

/* Inlined for speed in each lookup. Not with SHORTCUT_PLAIN: the explorer finds the function by its name. */
#ifdef SHORTCUT_PLAIN
#define SHORTCUT_INLINE static inline
#else
#define SHORTCUT_INLINE static inline __attribute__((always_inline))
#endif

#define SHORTCUT_BUCKET 8u
#define SHORTCUT_TAGGED 8u	/* bytes of the payload that the tag covers */

enum shortcut_kind { SHORTCUT_BY_KEY = 1, SHORTCUT_BY_ORDINAL = 2 };

struct shortcut {
	uint32_t cells;
	uint32_t kind;
};
_Static_assert(sizeof(struct shortcut) == SHORTCUT_TAGGED, "shortcut: size");

/* Bytes of payload of a table with this number of cells. */
static inline uint64_t
shortcut_length(enum shortcut_kind kind, uint64_t cells)
{
	return sizeof(struct shortcut) + 64 +
	       cells * (kind == SHORTCUT_BY_KEY ? sizeof(uint64_t) : sizeof(uint32_t));
}

/* The first cell of a table; NULL when the table is absent, of another kind, or damaged. */
static inline void *
shortcut_cells(const struct arena_view *view, uint32_t ref, enum shortcut_kind kind, uint32_t *ret_cells)
{
	const struct shortcut *s;
	uint32_t length, cells;
	const struct block *b = block_load(view, ref, BLOCK_SHORTCUT, sizeof(*s), &length);
	uint64_t offset;

	if (__builtin_expect(!b, 0))
		return NULL;
	s = (const struct shortcut *)(const void *)b->payload;
	cells = LOAD_ONCE(&s->cells);
	if (s->kind != (uint32_t)kind || cells < SHORTCUT_BUCKET || (cells & (cells - 1)) ||
	    shortcut_length(kind, cells) > length)
		return NULL;
	*ret_cells = cells;
	offset = (ref_offset(ref) + sizeof(*b) + sizeof(*s) + 63) & ~63ull;
	return (void *)((uintptr_t)view->base + offset);
}

/* The cells of a key's bucket. */
static inline _Atomic uint64_t *
shortcut_bucket(void *cells, uint32_t count, uint64_t hash)
{
	return (_Atomic uint64_t *)cells + (hash & (count / SHORTCUT_BUCKET - 1)) * SHORTCUT_BUCKET;
}

/*
 * The cells of a bucket that may belong to this hash: bit i for cell i. All 8 cells are compared, without a
 * branch that the processor could mispredict. On x86 a vector load is atomic for each 8 bytes; the caller
 * loads a matching cell again, atomically.
 */
static inline unsigned
shortcut_match(_Atomic uint64_t *bucket, uint64_t hash)
{
#ifdef SHORTCUT_SSE2
	const __m128 *cells = (const __m128 *)(uintptr_t)bucket;
	__m128i tag = _mm_set1_epi32((int)(hash >> 32));
	__m128i low = _mm_castps_si128(_mm_shuffle_ps(cells[0], cells[1], 0xdd));
	__m128i high = _mm_castps_si128(_mm_shuffle_ps(cells[2], cells[3], 0xdd));
	int a = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(low, tag)));
	int b = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(high, tag)));

	return (unsigned)(a | b << 4);
#else
	unsigned match = 0;

	for (unsigned i = 0; i < SHORTCUT_BUCKET; i++)
		match |= (unsigned)(atomic_load_explicit(&bucket[i], memory_order_relaxed) >> 32 ==
				    hash >> 32)
			 << i;
	return match;
#endif
}

/*
 * S2, S2', S3: the object with this key hash, as the root of seq `seq` has it. Its ref and lengths are
 * checked. Several objects may have the hash: the caller compares the key.
 *
 * slot     the reader's. No pin protects what a cell was given after the slot was closed; the acquire load
 *          of such a cell makes `closed` visible to S2' (PROTOCOLS.md, Revoke)
 * Returns  NULL: search the tries
 */
SHORTCUT_INLINE const struct object *
shortcut_by_key(const struct arena_view *view, const struct slot *slot, uint32_t table, uint64_t seq,
		uint64_t hash, uint32_t *ret_ref, struct object_extent *ret_extent)
{
	_Atomic uint64_t *bucket;
	const struct object *o;
	unsigned match;
	uint32_t count, ref;
	void *cells;

	if (table == 0 || view->verifier)
		return NULL;
	cells = shortcut_cells(view, table, SHORTCUT_BY_KEY, &count);
	if (!cells)
		return NULL;
	bucket = shortcut_bucket(cells, count, hash);
	match = shortcut_match(bucket, hash);
	if (match == 0)
		return NULL;
	/*
	 * Pairs with the release stores of fill_key() and change_key() (writer/store/shortcut_edit.c): the
	 * object was stored before its ref. Relaxed, its header could be read as the earlier content of that
	 * memory.
	 */
	ref = (uint32_t)atomic_load_explicit(&bucket[__builtin_ctz(match)], memory_order_acquire) & REF_MAX;
	if (__builtin_expect(slot_is_closed(slot), 0))				/* S2' */
		return NULL;
	/* header and key are in two or three cache lines: load them together */
	__builtin_prefetch(view->base + ref_offset(ref) + 64);
	o = object_load(view, ref, ret_extent);
	if (!o || o->seq > seq || o->key_hash != hash)
		return NULL;
	*ret_ref = ref;
	return o;
}

/*
 * For lookups of several keys at a time: prefetch a key's bucket. Then shortcut_expect_object() prefetches
 * the object that shortcut_by_key() finds in it.
 *
 * Returns  the bucket; NULL: the table is absent or damaged, or the view verifies tags
 */
static inline _Atomic uint64_t *
shortcut_expect_bucket(const struct arena_view *view, uint32_t table, uint64_t hash)
{
	_Atomic uint64_t *bucket;
	uint32_t count;
	void *cells = table == 0 || view->verifier ? NULL
						   : shortcut_cells(view, table, SHORTCUT_BY_KEY, &count);

	if (!cells)
		return NULL;
	bucket = shortcut_bucket(cells, count, hash);
	__builtin_prefetch(bucket);
	return bucket;
}

/*
 * Prefetch the object that the bucket has for this hash, if any. The prefetch is a hint: nothing is checked.
 */
static inline void
shortcut_expect_object(const struct arena_view *view, _Atomic uint64_t *bucket, uint64_t hash)
{
	unsigned match = shortcut_match(bucket, hash);
	const uint8_t *at;

	if (match == 0)
		return;
	at = view->base +
	     ref_offset((uint32_t)atomic_load_explicit(&bucket[__builtin_ctz(match)], memory_order_relaxed) &
			REF_MAX);
	for (unsigned line = 0; line < 4; line++)
		__builtin_prefetch(at + line * 64);
}

/*
 * S2: the cell of an ordinal: a hint for shortcut_object(); 0: empty. The caller does S2' before it follows
 * it.
 */
static inline uint32_t
shortcut_cell(const void *cells, uint32_t count, uint32_t ordinal)
{
	/*
	 * Pairs with the release store in shortcut_apply() (writer/store/shortcut_edit.c), as in
	 * shortcut_by_key().
	 */
	return ordinal < count ? atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)cells + ordinal,
						      memory_order_acquire)
			       : 0;
}

/* S3: the object at ref, if it has this ordinal and the root of seq `seq` has this state; else NULL. */
static inline const struct object *
shortcut_object(const struct arena_view *view, uint32_t ref, uint64_t seq, uint32_t ordinal)
{
	const struct object *o = ref ? object_at(view, ref) : NULL;

	return o && o->seq <= seq && o->ordinal == ordinal ? o : NULL;
}

#endif
