/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots as they are inside: which mapping and cell one holds, and whether it may be read.
 */
#ifndef READER_LIB_ATTACH_SNAPSHOT_H
#define READER_LIB_ATTACH_SNAPSHOT_H

#include <string.h>

#include "reader-lib/attach/mapping.h"
#include "shm-layout/root.h"

/* Stands first in a piece of memory that goes with a snapshot. */
struct snapshot_loan {
	struct snapshot_loan *next;
	struct allocator memory;
};

/*
 * What struct informer_snapshot holds. The view comes first: values point at it, and so find their snapshot.
 *
 * cell   NULL: there is nothing to end: it was ended, or never pinned anything
 * resource_count  the root's, as it was checked
 * loans  what was made for it and goes with it; NULL: none
 */
struct snapshot {
	struct arena_view view;
	struct informer *inf;
	struct mapping *mapping;
	struct pin_cell *cell;
	const struct root *root;
	uint32_t resource_count;
	struct snapshot_loan *loans;
	/* the handle's; NULL: the snapshot is not open. Every accessor looks at it */
	_Atomic uint32_t *alive;
};
_Static_assert(sizeof(struct snapshot) <= sizeof(struct informer_snapshot),
	       "snapshot: private_ is too small");

/*
 * informer_begin() on a mapping that the caller holds mapped (it holds a ring of it, or `lock` while it is
 * current): also on one that was superseded. Without the part of informer_begin() that drives the connection.
 */
int snapshot_begin_on(struct informer *inf, struct mapping *m, struct informer_snapshot *ret_snapshot);
/* The arena may have grown since: see to it that what is published now can be followed. */
void snapshot_stretch(struct informer_snapshot *snapshot);

static inline const struct snapshot *
snapshot_of(const struct informer_snapshot *s)
{
	return (const struct snapshot *)(const void *)s;
}

/* A resource of its root; NULL when it is damaged, or there is none. */
static inline const struct resource *
snapshot_resource(const struct snapshot *s, uint32_t position)
{
	return root_resource_of(&s->view, s->root, s->resource_count, position);
}

static inline const struct snapshot *
snapshot_of_view(const struct arena_view *view)
{
	return (const struct snapshot *)(const void *)view;
}

/* 0, or why nothing may be read through this snapshot. */
static inline int
snapshot_usable(const struct snapshot *s)
{
	if (unlikely(!s || !s->alive))
		return -EINVAL;
	return unlikely(atomic_load_explicit(s->alive, memory_order_relaxed) == 0) ? INFORMER_E_FORKED : 0;
}

/*
 * A walk that may be long settles each time that it has passed so many objects or nodes: of pages that were
 * given back each touch takes memory that nobody has planned for.
 */
#define SNAPSHOT_LOOK_EVERY 64u

/* It has expired: what nobody may believe any more takes no memory from now on. */
void snapshot_expire(const struct snapshot *s);

/*
 * After reading: r, unless the arena was revoked meanwhile, whose pages then read as zeros, or our slot was
 * closed, so that what was read may have been written over.
 * Order: what was read is read before both words, which are set before the first page is gone
 * (arena_set_state()), before the first block that the slot kept is reused. Without the fence the words could
 * be loaded first, as they were, and what was read after them be given out as objects.
 *
 * Who verifies believes nothing of an arena any more in which a wrong tag was met: what cannot be read reads
 * as absent.
 */
static inline int
snapshot_settle(const struct snapshot *s, int r)
{
#ifdef __SANITIZE_THREAD__
	atomic_signal_fence(memory_order_seq_cst);
#else
	atomic_thread_fence(memory_order_acquire);
#endif
	if (unlikely(atomic_load_explicit(s->mapping->state, memory_order_relaxed) == HEADER_REVOKED ||
		     slot_is_closed(s->mapping->slot))) {
		snapshot_expire(s);
		return INFORMER_E_EXPIRED;
	}
	if (unlikely(s->view.verifier != NULL) && block_verifier_met_damage(s->view.verifier))
		return INFORMER_E_CORRUPT;
	return r == -EBADMSG ? INFORMER_E_CORRUPT : r;
}

#endif
