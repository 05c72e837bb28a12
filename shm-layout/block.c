/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: the slow path of looking at one, taken by readers that verify.
 */
#include "shm-layout/block.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/tag.h"

/* Entries of the table of checked blocks: 2^14 of 16 bytes, a reader's private 256 KiB. */
#define VERIFIER_BITS 14u

struct checked {
	_Atomic uint64_t ref;
	_Atomic uint64_t tag;
};

struct block_verifier {
	struct tag_keys keys;
	struct checked table[1u << VERIFIER_BITS];
};

struct block_verifier *
block_verifier_new(const struct tag_keys *keys)
{
	struct block_verifier *v = calloc(1, sizeof(*v));

	if (v)
		v->keys = *keys;
	return v;
}

void
block_verifier_free(struct block_verifier *v)
{
	if (!v)
		return;
	sodium_memzero(&v->keys, sizeof(v->keys));
	free(v);
}

/*
 * Two threads may store different entries in one place; a mixed pair {ref of one, tag of the other} matches
 * neither block, so it only costs another check.
 */
bool
block_verify(const struct arena_view *view, uint32_t ref, const struct block *b)
{
	struct block_verifier *v = view->verifier;
	struct checked *c = &v->table[(ref * 2654435761u) >> (32 - VERIFIER_BITS)];
	uint64_t tag = b->tag;

	if (atomic_load_explicit(&c->ref, memory_order_relaxed) == ref &&
	    atomic_load_explicit(&c->tag, memory_order_relaxed) == tag)
		return true;
	if (!tag_block_ok(&v->keys, ref_offset(ref), b))
		return false;
	atomic_store_explicit(&c->ref, ref, memory_order_relaxed);
	atomic_store_explicit(&c->tag, tag, memory_order_relaxed);
	return true;
}
