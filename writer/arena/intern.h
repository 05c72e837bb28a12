/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash-consing: equal shared values and shapes stand in the arena once, with a count of who refers to them.
 *
 * One table, private to the writer, 12 bytes an entry: {ref, low 32 bits of the content hash, count}. The
 * block's aux carries the same 32 bits, so a ref finds its entry without hashing its content again.
 *
 * Invariant: a block's count is the number of places that hold its ref: sealed blocks (once per occurrence),
 * plus drafts in the making. At zero it leaves the table, is retired, and what it refers to is released. None
 * is immortal.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_ARENA_INTERN_H
#define WRITER_ARENA_INTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/arena/arena.h"

struct intern;

struct intern *intern_new(struct arena *arena);		/* NULL: no memory */
void intern_free(struct intern *in);			/* the table; the blocks stay */

/*
 * The ref of a block of this type (VALUE or SHAPE) with this payload: the one that exists, or a new, sealed
 * one.
 *
 * ret_ref    set on success; one reference has been taken for the caller
 * ret_known  true: it existed, and the refs *within* payload still belong to the caller, who releases them;
 *            false: the new block has taken them over
 * Returns    0, -ENOSPC, -ENOMEM, -E2BIG
 */
int intern_get(struct intern *in, enum block_type type, const void *payload, uint32_t length,
	       uint32_t *ret_ref, bool *ret_known);

/* `times` at once: whoever hands out references often takes them in stock. */
void intern_ref_many(struct intern *in, uint32_t ref, uint32_t times);
void intern_unref_many(struct intern *in, uint32_t ref, uint32_t times);

static inline void
intern_ref(struct intern *in, uint32_t ref)
{
	intern_ref_many(in, ref, 1);
}

static inline void
intern_unref(struct intern *in, uint32_t ref)
{
	intern_unref_many(in, ref, 1);
}

/* Release all refs that stand directly in an encoded value (an object's body at its retirement). */
void intern_release_value(struct intern *in, const uint8_t *at, const uint8_t *end);

/* Bytes of the blocks that nobody but this encoded value refers to, directly or through each other. */
uint64_t intern_own_bytes(const struct intern *in, const uint8_t *at, const uint8_t *end);

/*
 * For rebuilding the books: one more place holds ref. *ret_first is set when the block was not in the table
 * yet: the caller then walks what it refers to. Returns 0, -ENOMEM.
 */
int intern_restore(struct intern *in, uint32_t ref, bool *ret_first);

/* Entries, and private bytes of the table. */
uint64_t intern_count(const struct intern *in);
uint64_t intern_private_bytes(const struct intern *in);

#endif
