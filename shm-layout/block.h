/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: after its header, an arena consists of blocks and free space. The writer makes blocks; readers map
 * them read-only.
 *
 * A block starts on a 16-byte boundary. Its name is a *ref*: its offset in the arena divided by 16. Ref 0
 * names no block. A ref has 31 bits, so an arena holds at most 32 GiB; bit 31 belongs to links (trie.h).
 *
 *   0                8               12              16
 *   +----------------+---------------+---------------+------------------ - -
 *   | tag            | type : length | aux           | payload
 *   +----------------+---------------+---------------+------------------ - -
 *
 *   tag     integrity tag over offset, type, length, aux and payload (tag.h)
 *   type    bits 28..31, enum block_type
 *   length  bits 0..27, bytes of payload
 *   aux     NODE: its shift. VALUE, SHAPE: the low 32 bits of the payload's content
 *           hash, by which the writer finds an equal block. Else 0
 *
 * Invariant: once a published root reaches a block, the block does not change until no reader can reach it.
 * Only the cells of a SHORTCUT change in place.
 *
 * Readers treat each block as input. block_load() checks bounds, type and length, and returns NULL for a
 * damaged block. Under a reader that was revoked, a block may turn to zeros at any moment. So the reader
 * loads each length once (LOAD_ONCE), checks that copy, and reads within it. After the read
 * snapshot_validate() says whether the result counts.
 */
#ifndef SHM_LAYOUT_BLOCK_H
#define SHM_LAYOUT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REF_UNIT      16u
#define REF_MAX       0x7fffffffu
#define BLOCK_LENGTH_MAX 0x0fffffffu

/* All types: NAME, number, and the word for messages. LAYOUT.md has the same list (layout_page_test.c). */
#define BLOCK_TYPES(X)                                                                                       \
	X(ROOT, 1, "root")             /* root.h: one version of all resources */                            \
	X(RESOURCE, 2, "resource")     /* root.h: one version of one resource */                             \
	X(NODE, 3, "trie node")        /* trie.h */                                                          \
	X(OBJECT, 4, "object")         /* object.h: one Kubernetes object */                                 \
	X(VALUE, 5, "value")           /* value.h: a shared value (string, array, object) */                 \
	X(SHAPE, 6, "shape")           /* value.h: the field names of an object, in order */                 \
	X(POSTINGS, 7, "postings")     /* posting.h: an index value and the ordinals that have it */         \
	X(COLLISION, 8, "collision")   /* collision.h: links that share one 64-bit key */                    \
	X(TOMBSTONE, 9, "tombstone")   /* tombstone.h: a deleted object */                                   \
	X(CONSUMERS, 10, "consumers")  /* consumer.h: cursors of named consumers */                          \
	X(SHORTCUT, 11, "shortcut")    /* shortcut.h: from a key or ordinal to an object */

enum block_type {
#define BLOCK_TYPE(name, number, text) BLOCK_##name = number,
	BLOCK_TYPES(BLOCK_TYPE)
#undef BLOCK_TYPE
};

struct block {
	uint64_t tag;
	uint32_t type_length;
	uint32_t aux;
	uint8_t payload[];
};
_Static_assert(sizeof(struct block) == 16, "block: header is 16 bytes");
_Static_assert(offsetof(struct block, type_length) == 8, "block: type_length moved");
_Static_assert(offsetof(struct block, aux) == 12, "block: aux moved");

struct block_verifier;

/*
 * A mapped arena.
 *
 * base       address of the mapping
 * committed  bytes that may be touched; never shrinks
 * verifier   checks each block's tag at its first touch (tag.h); NULL: tags are not checked
 */
struct arena_view {
	const uint8_t *base;
	uint64_t committed;
	struct block_verifier *verifier;
};

static inline enum block_type
block_type(const struct block *b)
{
	return (enum block_type)(b->type_length >> 28);
}

static inline uint32_t
block_length(const struct block *b)
{
	return b->type_length & BLOCK_LENGTH_MAX;
}

/* The bytes of a block with `length` bytes of payload, head and padding included. */
static inline uint64_t
block_footprint(uint32_t length)
{
	return (sizeof(struct block) + (uint64_t)length + REF_UNIT - 1) & ~(uint64_t)(REF_UNIT - 1);
}

static inline uint64_t
ref_offset(uint32_t ref)
{
	return (uint64_t)ref * REF_UNIT;
}

/*
 * Load a field of a block exactly once. Check and use this copy: under a revoked reader the block may turn to
 * zeros, or become another block, between two loads.
 */
#define LOAD_ONCE(place) (*(volatile const __typeof__(*(place)) *)(place))

static inline uint32_t
block_word(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/*
 * Check a block's tag; the slow path of block_any_load(), in tag.c.
 *
 * type_length  the copy by which the block's bounds were checked
 */
bool block_verify(const struct arena_view *view, uint32_t ref, const struct block *b, uint32_t type_length);

/* Note in the view's verifier that a block was damaged. In tag.c. */
void block_note_damage(const struct arena_view *view);

/* To a verifier, a block that fails its checks is damage, as a wrong tag is. */
static inline void
block_refuse(const struct arena_view *view)
{
	if (__builtin_expect(view->verifier != NULL, 0))
		block_note_damage(view);
}

/*
 * The block named by ref, of any type.
 *
 * ret_type_length  the copy of type and length by which the bounds were checked
 *
 * Returns   the block; NULL when ref is 0, when the block does not lie within the committed bytes, or (with a
 *           verifier) when its tag is wrong
 * Cost      two comparisons; one cache line of the block is loaded
 */
static inline const struct block *
block_any_load(const struct arena_view *view, uint32_t ref, uint32_t *ret_type_length)
{
	uint64_t off = ref_offset(ref);
	const struct block *b;

	if (ref == 0)
		return NULL;
	if (ref > REF_MAX || off + sizeof(*b) > view->committed) {
		block_refuse(view);
		return NULL;
	}
	b = (const struct block *)(const void *)(view->base + off);
	*ret_type_length = LOAD_ONCE(&b->type_length);
	if (off + sizeof(*b) + (*ret_type_length & BLOCK_LENGTH_MAX) > view->committed) {
		block_refuse(view);
		return NULL;
	}
	if (__builtin_expect(view->verifier != NULL, 0) && !block_verify(view, ref, b, *ret_type_length))
		return NULL;
	return b;
}

/* As block_any_load(), for callers that read only the type, or whose blocks cannot change. */
static inline const struct block *
block_any(const struct arena_view *view, uint32_t ref)
{
	uint32_t type_length;

	return block_any_load(view, ref, &type_length);
}

/*
 * As block_any_load(); also NULL unless the block has this type and at least min_length bytes of payload.
 *
 * ret_length  the checked length of the payload
 */
static inline const struct block *
block_load(const struct arena_view *view, uint32_t ref, enum block_type type, uint32_t min_length,
	   uint32_t *ret_length)
{
	uint32_t type_length;
	const struct block *b = block_any_load(view, ref, &type_length);

	if (!b)
		return NULL;
	*ret_length = type_length & BLOCK_LENGTH_MAX;
	if (type_length >> 28 != (uint32_t)type || *ret_length < min_length) {
		block_refuse(view);
		return NULL;
	}
	return b;
}

/* As block_load(), for callers that read at most min_length bytes, or whose blocks cannot change. */
static inline const struct block *
block_at(const struct arena_view *view, uint32_t ref, enum block_type type, uint32_t min_length)
{
	uint32_t length;

	return block_load(view, ref, type, min_length, &length);
}

#endif
