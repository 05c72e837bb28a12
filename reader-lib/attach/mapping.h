/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings: one arena each, with our slot in it, as the broker handed them over.
 */
#ifndef READER_LIB_ATTACH_MAPPING_H
#define READER_LIB_ATTACH_MAPPING_H

#include "reader-lib/attach/handle.h"
#include "shm-layout/protocol.h"
#include "shm-layout/slot.h"
#include "shm-layout/tag.h"

/*
 * Lifetime: the arena is unmapped once another mapping is current and all cells are FREE. A thread may still
 * be on its way into the slot by this struct (snapshot.c): so the struct stays, is used again for an arena
 * that comes later, and is freed at detach; what stands in for the slot stays too (slot_places.h).
 *
 * Who has claimed no cell here, nor holds `lock` or a ring of it, may read `place` alone.
 */
struct mapping {
	const struct header *header;	/* the arena's base */
	_Atomic uint32_t *state;	/* the header's */
	struct slot *slot;
	_Atomic(struct slot *) place;	/* slot, once it is published; never twice the same */
	uint64_t serial;		/* grows with each mapping of the handle; from 1 */
	/* NULL unless INFORMER_VERIFY; keys then holds the block keys */
	struct block_verifier *verifier;
	_Atomic uint64_t checked;	/* bytes known to lie within the file */
	/* informerd hung up on the connection that it came over */
	_Atomic bool lost;
	_Atomic bool blank;             /* zeros of our own are in its place */
	_Atomic unsigned holds;		/* rings whose entries refer to it */
	uint8_t hash_key[16];
	uint64_t generation;
	uint64_t max_bytes;
	uint8_t incarnation[16];
	struct tag_keys keys;
	int arena_fd;
	int event_fd;
	int socket;			/* that connection, lost, and kept while we read here; or -1 */
	struct mapping *next;
};

/*
 * Take over three received descriptors (also on failure) and map them.
 * Returns 0, or a code with a message in the handle. -EAGAIN: the arena is not complete yet.
 */
int mapping_new(struct informer *inf, const int fds[PROTOCOL_DESCRIPTORS],
		const struct message_welcome *welcome, struct mapping **ret_mapping);
/* Give up one that was not made current. Called with `lock` held, as are the next three. */
void mapping_free(struct informer *inf, struct mapping *m);
/* M1: from here on snapshots begin on it. */
void mapping_make_current(struct informer *inf, struct mapping *m);
/* M2 and M3: unmap arenas that nobody reads any more. */
void mapping_reap(struct informer *inf);
/* Unmap and free all. */
void mappings_done(struct informer *inf, bool in_child);
/* The arena grew: look whether the file did too. Returns how many bytes may be touched. */
uint64_t mapping_grown(struct mapping *m, uint64_t committed);
/* Another arena is to take its place, or the writer wants us to begin nothing here. */
static inline bool
mapping_superseded(const struct mapping *m)
{
	struct header *h = (struct header *)(uintptr_t)m->header;

	return atomic_load_explicit(&h->superseded_by, memory_order_relaxed) != 0 ||
	       atomic_load_explicit(&h->state, memory_order_relaxed) == HEADER_REVOKED ||
	       slot_is_closed(m->slot);
}
unsigned mapping_pins(const struct mapping *m);
/* The slot of a mapping that may be given up at any time. To write there then harms nobody. */
static inline struct slot *
mapping_place(const struct mapping *m)
{
	/* Relaxed: what is done there begins with this address. */
	return atomic_load_explicit(&((struct mapping *)(uintptr_t)m)->place, memory_order_relaxed);
}

#endif
