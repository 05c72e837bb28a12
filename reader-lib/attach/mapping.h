/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings: an arena, our slot and the eventfd, as the broker passed them. */
#ifndef READER_LIB_ATTACH_MAPPING_H
#define READER_LIB_ATTACH_MAPPING_H

#include "reader-lib/attach/handle.h"
#include "shm-layout/protocol.h"
#include "shm-layout/slot.h"
#include "shm-layout/tag.h"

/*
 * Lifetime: the arena is unmapped once another mapping is current, all cells are FREE and `holds` is 0. A
 * thread may still be entering the slot through this struct (snapshot.c). So the struct stays: a later arena
 * uses it again, and detach frees it. The slot's replacement also stays (slot_places.h).
 *
 * A thread without `lock`, a claimed cell or a ring of this mapping may read only `place`.
 */
struct mapping {
	const struct header *header;	/* the arena's base */
	_Atomic uint32_t *state;	/* the header's */
	struct slot *slot;
	_Atomic(struct slot *) place;	/* `slot`, once published; each address serves once */
	uint64_t serial;		/* counts the handle's mappings, from 1 */
	/* NULL unless INFORMER_VERIFY; keys then holds the block keys */
	struct block_verifier *verifier;
	_Atomic uint64_t checked;	/* bytes known to lie within the file */
	/* the connection that passed it is gone, or it is an orphan */
	_Atomic bool lost;
	_Atomic bool blank;             /* private zeros replace the arena */
	_Atomic unsigned holds;		/* rings whose entries refer to it */
	uint8_t hash_key[16];
	uint64_t generation;
	uint64_t max_bytes;
	uint8_t incarnation[16];
	struct tag_keys keys;
	int arena_fd;
	int event_fd;
	int socket;			/* the lost connection, kept open while we read here; or -1 */
	struct mapping *next;
};

/*
 * Take over three received descriptors (also on failure) and map them. `lock` held.
 * Returns 0, or a code with a message. -EAGAIN: the arena is not complete yet.
 */
int mapping_new(struct informer *inf, const int fds[PROTOCOL_DESCRIPTORS],
		const struct message_welcome *welcome, struct mapping **ret_mapping);
/* Unmap a mapping that was never current. `lock` held, also for the next two. */
void mapping_free(struct informer *inf, struct mapping *m);
/* M1: snapshots begin on this mapping from now on. */
void mapping_make_current(struct informer *inf, struct mapping *m);
/* M2 and M3: unmap old arenas without pins and rings. */
void mapping_reap(struct informer *inf);
/* Unmap and free all, at detach. */
void mappings_done(struct informer *inf, bool in_child);
/* The arena grew: compare it with the file's size. Returns how many bytes may be touched. */
uint64_t mapping_grown(struct mapping *m, uint64_t committed);
/* Whether another arena replaces this one, or the writer revoked it or closed our slot. */
static inline bool
mapping_superseded(const struct mapping *m)
{
	struct header *h = (struct header *)(uintptr_t)m->header;

	return atomic_load_explicit(&h->superseded_by, memory_order_relaxed) != 0 ||
	       atomic_load_explicit(&h->state, memory_order_relaxed) == HEADER_REVOKED ||
	       slot_is_closed(m->slot);
}
unsigned mapping_pins(const struct mapping *m);
/* The published slot of a mapping that may be unmapped at any time. Writing to it stays harmless. */
static inline struct slot *
mapping_place(const struct mapping *m)
{
	/* Relaxed: every access to the slot depends on this address. */
	return atomic_load_explicit(&((struct mapping *)(uintptr_t)m)->place, memory_order_relaxed);
}

#endif
