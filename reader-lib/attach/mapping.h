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
 * Lifetime: listed in the handle until detach. The arena itself is unmapped once another mapping is current
 * and all cells are FREE; in the place of the slot stays memory of our own, since a thread may be on its
 * way into it (snapshot.c).
 */
struct mapping {
	const struct header *header;	/* the arena's base */
	_Atomic uint32_t *state;	/* the header's */
	struct slot *slot;
	/* NULL unless INFORMER_VERIFY; keys then holds the block keys */
	struct block_verifier *verifier;
	_Atomic uint64_t checked;	/* bytes known to lie within the file */
	/* informerd hung up on the connection that it came over */
	_Atomic bool lost;
	_Atomic unsigned holds;		/* rings whose entries refer to it */
	uint8_t hash_key[16];
	uint64_t generation;
	uint64_t max_bytes;
	uint8_t incarnation[16];
	struct tag_keys keys;
	int arena_fd;
	int event_fd;
	int socket;			/* that connection, lost, and kept while we read here; or -1 */
	bool unmapped;
	struct mapping *next;
};

/*
 * Take over three received descriptors (also on failure) and map them.
 * Returns 0, or a code with a message in the handle. -EAGAIN: the arena is not complete yet.
 */
int mapping_new(struct informer *inf, const int fds[PROTOCOL_DESCRIPTORS],
		const struct message_welcome *welcome, struct mapping **ret_mapping);
void mapping_free(struct informer *inf, struct mapping *m, bool forked);
/* Unmap arenas that nobody reads any more. Called with `lock` held. */
void mapping_reap(struct informer *inf);
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

#endif
