/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The intern table stores equal shared values and shapes once in the arena, with a count of references to
 * each.
 *
 * It is private to the writer, 12 bytes an entry: {ref, low 32 bits of the content hash, count}. The block's
 * aux carries the same 32 bits, so a ref finds its entry without hashing its content again.
 *
 * Invariant: a block's count is the number of places that hold its ref: sealed blocks (once per occurrence)
 * and unfinished drafts. At zero the block leaves the table, is retired, and the refs in it are released.
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
 * Get the ref of a VALUE or SHAPE block with this payload: an existing block, or a new, sealed one.
 *
 * ret_ref    set on success; the caller gets one reference
 * ret_known  true: the block existed, and the caller still owns the refs *within* payload and releases them;
 *            false: the new block has taken them over
 * Returns    0, -ENOSPC, -ENOMEM, -E2BIG
 */
int intern_get(struct intern *in, enum block_type type, const void *payload, uint32_t length,
	       uint32_t *ret_ref, bool *ret_known);

/* Add or release `times` references at once. */
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

/* Release all refs that stand directly in an encoded value (when an object's body is retired). */
void intern_release_value(struct intern *in, const uint8_t *at, const uint8_t *end);

/* Bytes of the blocks that only this encoded value refers to, directly or through each other. */
uint64_t intern_own_bytes(const struct intern *in, const uint8_t *at, const uint8_t *end);

/*
 * For rebuilding the books: count one more reference to ref. *ret_first is set if the block was not in the
 * table yet; the caller then walks the refs in it. Returns 0, -ENOMEM.
 */
int intern_restore(struct intern *in, uint32_t ref, bool *ret_first);

/* Entries, and private bytes of the table. */
uint64_t intern_count(const struct intern *in);
uint64_t intern_private_bytes(const struct intern *in);

#endif
