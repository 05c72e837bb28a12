/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a snapshot: which mapping and cell it holds, and whether it may be read.
 */
#ifndef READER_LIB_ATTACH_SNAPSHOT_H
#define READER_LIB_ATTACH_SNAPSHOT_H

#include <string.h>

#include "reader-lib/attach/mapping.h"
#include "shm-layout/root.h"

/* The head of memory that belongs to a snapshot and is freed at its end. */
struct snapshot_loan {
	struct snapshot_loan *next;
	struct allocator memory;
};

/*
 * The content of struct informer_snapshot. The view comes first: values point at it and so find their
 * snapshot.
 *
 * cell            the pin; NULL: the snapshot holds none (ended, or a private home)
 * resource_count  of the root, already checked
 * loans           memory that is freed with the snapshot; NULL: none
 */
struct snapshot {
	struct arena_view view;
	struct informer *inf;
	struct mapping *mapping;
	struct pin_cell *cell;
	const struct root *root;
	uint32_t resource_count;
	struct snapshot_loan *loans;
	/* the handle's `alive`; NULL: the snapshot is not open. Every accessor checks it */
	_Atomic uint32_t *alive;
};
_Static_assert(sizeof(struct snapshot) <= sizeof(struct informer_snapshot),
	       "snapshot: private_ is too small");

/*
 * informer_begin() on a given mapping, also a superseded one. Does not drive the connection. The caller keeps
 * the mapping mapped: by a ring of the mapping, or by `lock` while the mapping is current.
 */
int snapshot_begin_on(struct informer *inf, struct mapping *m, struct informer_snapshot *ret_snapshot);
/* Extend the view to what the arena has committed by now: it may have grown since the snapshot began. */
void snapshot_stretch(struct informer_snapshot *snapshot);

static inline const struct snapshot *
snapshot_of(const struct informer_snapshot *s)
{
	return (const struct snapshot *)(const void *)s;
}

/* A resource of the snapshot's root; NULL: damaged, or absent. */
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

/* 0 if the snapshot may be read; -EINVAL: not open; INFORMER_E_FORKED. */
static inline int
snapshot_usable(const struct snapshot *s)
{
	if (unlikely(!s || !s->alive))
		return -EINVAL;
	return unlikely(atomic_load_explicit(s->alive, memory_order_relaxed) == 0) ? INFORMER_E_FORKED : 0;
}

/*
 * A long walk calls snapshot_validate() after this many objects or nodes. In a revoked arena, each page that
 * a walk touches takes memory again.
 */
#define SNAPSHOT_LOOK_EVERY 64u

/* The snapshot has expired. If its arena was revoked, map our own zeros there: reads then take no memory. */
void snapshot_expire(const struct snapshot *s);

/*
 * Judge the result r of reading, after the last read. Returns r, or
 *
 * INFORMER_E_EXPIRED  meanwhile the arena was revoked (its pages read as zeros), or our slot was closed (what
 *                     was read may be overwritten)
 * INFORMER_E_CORRUPT  r is -EBADMSG, or the verifier has met a wrong tag in this arena: blocks that it
 *                     refuses read as absent
 *
 * Order: the fence puts all reads before the loads of `state` and `closed`. The writer sets these words
 * before it takes away the first page (arena_set_state()), or reuses the first block that the slot kept.
 * Without the fence, the words could be loaded early, and bytes read after that be given out as objects.
 */
static inline int
snapshot_validate(const struct snapshot *s, int r)
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
