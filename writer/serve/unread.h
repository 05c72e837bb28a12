/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unread lists the queues that have unread entries of a position, and finds the lowest seq among these
 * entries. The store keeps what entries from that seq on refer to.
 *
 * Invariant: each place of an open queue with unread entries is in its position's list. The lowest seq of a
 * list never falls, because a queue is added with entries of the newest commit. So while the queue that had
 * the lowest seq still has it, no other queue is looked at.
 */
#ifndef WRITER_SERVE_UNREAD_H
#define WRITER_SERVE_UNREAD_H

#include "writer/serve/ring_out.h"
#include "writer/store/store.h"

/* The list of one position. Zeroed is empty. */
struct unread {
	struct unread_place **places;
	size_t count;
	/* which place had the lowest seq when that was last computed; NULL: compute it */
	const struct unread_place *lowest_of;
	uint64_t lowest;
};

/* A queue at one position. noted: it is in the list. */
struct unread_place {
	struct unread_queue *queue;
	struct unread *list;
	unsigned resource;
	bool noted;
};

/* A subscriber's queue, and its places. noted: each place is in its list. */
struct unread_queue {
	struct subscriber *subscriber;
	struct ring_out *ring;
	struct unread_place *places;
	size_t place_count;
	bool noted;
};

/* Make room in the list for `capacity` places. Returns 0 or -ENOMEM. */
int unread_reserve(struct unread *u, size_t capacity);

/* The queue has unread entries: add its places to their lists. */
void unread_note_places(struct unread_queue *q);
static inline void
unread_note(struct unread_queue *q)
{
	if (!q->noted)
		unread_note_places(q);
}

/* Take all places of the queue from their lists, and free them. */
void unread_forget(struct unread_queue *q);

/* The queue with the lowest unread seq of a position, and that seq. NULL: nothing is unread. */
struct unread_queue *unread_lowest(struct unread *u, uint64_t *ret_seq);

/* Bytes that the store keeps for the queue's unread entries. */
uint64_t unread_held_bytes(const struct unread_queue *q, const struct store *store);

#endif
