/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortcuts: flat tables that lead from a key, or an ordinal, straight to the object's newest version, past
 * the tries.
 *
 *	key ──hash──▶ bucket of 8 cells ──▶ object		ordinal ──▶ cell ──▶ object
 *
 * They are hints: whoever finds nothing, or something newer than his root, goes by the tries, which are the
 * truth. So a table need not be whole, and answers "not found" to nobody.
 *
 * BLOCK_SHORTCUT payload; the block's tag covers the first 8 bytes only, for the cells change in place:
 *
 *   0          4        8         A                                     A + cells * size
 *   +----------+--------+- - - - -+--------+--------+--------+- - - - - +
 *   | cells    | kind   |         | cell   | cell   | cell   |          |
 *   +----------+--------+- - - - -+--------+--------+--------+- - - - - +
 *
 *   A      the first multiple of 64 of the file from byte 8 on
 *   cells  how many, a power of two
 *   kind   1, by key: 8 bytes a cell, the hash's upper 32 bits above the object's ref, 0 empty; the 8 of the
 *          64-byte bucket number hash & (cells / 8 - 1) are searched
 *          2, by ordinal: 4 bytes a cell, the ref, 0 none
 *
 * Invariant: before a root is stored, every cell about an object that its commit changed is (a deleted one's
 * is empty). So who pinned a root finds in a cell nothing, or the version of that root, or a later one, which
 * the versions' own seq tells (PROTOCOLS.md, Shortcut).
 *
 * Readers that verify do not use them, since no tag vouches for the cells.
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

/* Into its one caller, whose time is a lookup's; but the explorer looks for it by its name. */
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

/* Bytes of payload for so many cells. */
static inline uint64_t
shortcut_length(enum shortcut_kind kind, uint64_t cells)
{
	return sizeof(struct shortcut) + 64 +
	       cells * (kind == SHORTCUT_BY_KEY ? sizeof(uint64_t) : sizeof(uint32_t));
}

/* Where a table's cells begin; NULL when there is none of this kind, or its lengths do not fit its block. */
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
 * Which of a bucket's cells may be those of this hash: a bit each. All eight are looked at, so that there is
 * no branch whose way is a matter of chance. A vector's load is eight bytes at a time on every x86 there is;
 * what it finds is loaded again, atomically.
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
 * The object with this hash, and with this ordinal, as the root of seq `seq` has it: its ref and lengths,
 * checked; NULL: go by the tries. The first of those with the hash: whoever asks compares the key.
 *
 * S2': what a cell was given after the reader's slot was closed is protected by nothing (PROTOCOLS.md,
 * Revoke). Who loaded that, by acquire, sees it; who asks for cells by ordinal looks himself, before he
 * follows them.
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
	 * Meets the release stores of fill_key() and change_key() (writer/store/shortcut_edit.c): who finds
	 * the ref finds the object. Without it the object's header could be read as what stood there
	 * before.
	 */
	ref = (uint32_t)atomic_load_explicit(&bucket[__builtin_ctz(match)], memory_order_acquire) & REF_MAX;
	if (__builtin_expect(slot_is_closed(slot), 0))				/* S2' */
		return NULL;
	/* header and key lie in two or three lines: asked for together */
	__builtin_prefetch(view->base + ref_offset(ref) + 64);
	o = object_load(view, ref, ret_extent);
	if (!o || o->seq > seq || o->key_hash != hash)
		return NULL;
	*ret_ref = ref;
	return o;
}

/*
 * Prefetch a key's bucket, then the object that shortcut_by_key() would look at. For several keys at a time.
 * Returns the bucket; NULL: there is no table.
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

/* The cell of an ordinal: a ref that is only a hint, to be given to shortcut_object(); 0: none. */
static inline uint32_t
shortcut_cell(const void *cells, uint32_t count, uint32_t ordinal)
{
	/*
	 * Meets the release store in shortcut_apply() (writer/store/shortcut_edit.c), as in
	 * shortcut_by_key().
	 */
	return ordinal < count ? atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)cells + ordinal,
						      memory_order_acquire)
			       : 0;
}

static inline const struct object *
shortcut_object(const struct arena_view *view, uint32_t ref, uint64_t seq, uint32_t ordinal)
{
	const struct object *o = ref ? object_at(view, ref) : NULL;

	return o && o->seq <= seq && o->ordinal == ordinal ? o : NULL;
}

#endif
