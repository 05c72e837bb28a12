/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: the immutable pieces of which everything after the arena's header is made.
 *
 * A block starts on a 16-byte boundary and is named by a *ref*: its offset in the
 * arena divided by 16. Ref 0 (the header) names nothing. A ref has 31 bits, so an
 * arena holds at most 32 GiB; bit 31 belongs to links (trie.h).
 *
 *   0                8               12              16
 *   +----------------+---------------+---------------+------------------ - -
 *   | tag            | type : length | aux           | payload
 *   +----------------+---------------+---------------+------------------ - -
 *
 *   tag     integrity tag over offset, type, length, aux and payload (tag.h)
 *   type    bits 28..31, enum block_type
 *   length  bits 0..27, bytes of payload
 *   aux     by type: a trie node's shift; of VALUE and SHAPE the low 32 bits of the
 *           payload's content hash, so that the writer's books find them; else 0
 *
 * Invariant: once a published root reaches a block, no byte of it changes until
 * no reader can reach it any more.
 *
 * Readers treat all of it as input: block_load() checks alignment by construction,
 * bounds, type and length, and answers NULL where something is off. To a reader
 * whose snapshot was revoked a block may turn to zeros at any moment: it reads
 * nothing outside of what it checked (LOAD_ONCE), and learns afterwards that what
 * it read counts for nothing.
 */
#ifndef SHM_LAYOUT_BLOCK_H
#define SHM_LAYOUT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REF_UNIT      16u
#define REF_MAX       0x7fffffffu
#define BLOCK_LENGTH_MAX 0x0fffffffu

/* All types: NAME, number, and what people call it. LAYOUT.md has the same list (layout_page_test.c). */
#define BLOCK_TYPES(X)                                                                                       \
	X(ROOT, 1, "root")             /* root.h: one version of the whole store */                          \
	X(RESOURCE, 2, "resource")     /* root.h: one version of one resource */                             \
	X(NODE, 3, "trie node")        /* trie.h */                                                          \
	X(OBJECT, 4, "object")         /* object.h: one Kubernetes object */                                 \
	X(VALUE, 5, "value")           /* value.h: a shared value (string, array, object) */                 \
	X(SHAPE, 6, "shape")           /* value.h: the field names of an object, in order */                 \
	X(POSTINGS, 7, "postings")     /* posting.h: an index value and the ordinals that have it */         \
	X(COLLISION, 8, "collision")   /* collision.h: links that share one 64-bit key */                    \
	X(TOMBSTONE, 9, "tombstone")   /* tombstone.h: a deleted object */                                   \
	X(CONSUMERS, 10, "consumers")  /* consumer.h: cursors of named consumers */                          \
	X(SHORTCUT, 11, "shortcut")    /* shortcut.h: straight to an object; it changes in place, alone */

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
 * An arena as somebody reads it.
 *
 * base       where it is mapped
 * committed  bytes that may be touched; the writer grows it, never shrinks it
 * verifier   NULL, or what checks each block's tag at its first touch (tag.h)
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

/* Bytes a block with `length` bytes of payload takes, header and padding included. */
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
 * What stands at a place of a block, loaded once, whatever the compiler thinks of it. What is checked is this
 * copy and not the block, and what is used is what was checked: under a reader that nothing protects any more
 * a block turns to zeros, or becomes another, between any two loads.
 */
#define LOAD_ONCE(place) (*(volatile const __typeof__(*(place)) *)(place))

static inline uint32_t
block_word(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/*
 * Slow path of block_any(), in tag.c: check the tag of a block that lies within bounds. type_length is what
 * said so.
 */
bool block_verify(const struct arena_view *view, uint32_t ref, const struct block *b, uint32_t type_length);

/* In tag.c: a reader that verifies has met damage. */
void block_note_damage(const struct arena_view *view);

/* No block: that is damage like a wrong tag, which came to light before the tag did. */
static inline void
block_refuse(const struct arena_view *view)
{
	if (__builtin_expect(view->verifier != NULL, 0))
		block_note_damage(view);
}

/*
 * The block named by ref, whatever its type.
 *
 * ret_type_length  type and length, as the bounds were checked
 *
 * Returns   the block, or NULL when ref is 0, or the block does not lie within
 *           the committed bytes, or (with a verifier) its tag is wrong
 * Cost      two comparisons; the block's first cache line is touched
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

/* For those who look at its type alone, or whose blocks do not change under them. */
static inline const struct block *
block_any(const struct arena_view *view, uint32_t ref)
{
	uint32_t type_length;

	return block_any_load(view, ref, &type_length);
}

/*
 * The same, and NULL unless it has this type and at least min_length bytes of payload. ret_length: how many
 * it has, as the bounds were checked.
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

/* The same for those who read no more than min_length bytes, or whose blocks do not change under them. */
static inline const struct block *
block_at(const struct arena_view *view, uint32_t ref, enum block_type type, uint32_t min_length)
{
	uint32_t length;

	return block_load(view, ref, type, min_length, &length);
}

#endif
