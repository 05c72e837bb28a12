/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring is the reader's view of one subscription's queue: filled by the daemon, mapped read-only
 * (shm-layout/ queue.h). The reader's place in it stands in the slot.
 *
 * Invariants
 * - Nothing outside the mapping is touched, whatever the ring contains. capacity is taken once, from the
 *   mapping's size. head is accepted only within `capacity` of what was consumed.
 * - Counts that belong to a ring or its arena stand in struct ring and go with it. So no count of one ring is
 *   used for another.
 *
 * Threads: one at a time, except ring_has_news().
 */
#ifndef READER_LIB_EVENTS_RING_H
#define READER_LIB_EVENTS_RING_H

#include "reader-lib/attach/mapping.h"
#include "shm-layout/queue.h"

/* What ring_look() showed. */
struct ring_look {
	uint64_t head;
	uint64_t base;
	uint64_t openings;
	bool open;
};

/*
 * mapping                   its slot holds the cursor, its arena what the entries refer to; held mapped while
 *                           the ring lives
 * consumed                  number of entries that are done with
 * openings                  number of the opening whose entries are read; 0: the ring was not looked at yet
 * has_cursor, lineage, seq  of the named consumer, as the daemon knew it
 * arena_lineage             of the first root that was looked at through the ring; zero until then (`lock`)
 *
 * The feed's fields:
 *
 * look                  the last look
 * next                  entry to be read next; earlier ones are consumed at the end of the turn or before
 * stranger              one above the last entry of a part that the root lacks: a RESYNC began; 0: none
 * root_seq, root_epoch  of the last root that was looked at through the ring
 * proven                every entry up to this seq was in the ring when the snapshot was taken
 * looked                epoch of the root with which the feed found nothing to do
 * blocked               the root that was looked at lacks the resource
 */
struct ring {
	struct informer *inf;
	struct mapping *mapping;
	struct queue *queue;
	size_t bytes;
	uint32_t capacity;
	unsigned number;
	struct queue_cursor *cursor;
	_Atomic uint64_t consumed;
	_Atomic uint64_t openings;
	bool has_cursor;
	uint8_t lineage[16];
	uint64_t seq;
	uint8_t arena_lineage[16];
	struct ring_look look;
	uint64_t next, stranger;
	uint64_t root_seq, root_epoch;
	uint64_t proven;
	uint64_t looked;
	bool blocked;
};

/*
 * Map the file that came with SUBSCRIBED. fd is taken over, also on failure. `lock` is held. Returns 0, or a
 * code with a message in the handle.
 */
int ring_new(struct informer *inf, struct mapping *m, int fd, const struct message_subscribed *answer,
	     struct ring **ret_ring);
/* NULL is fine. In a forked child there is no mapping to undo. */
void ring_free(struct ring *ring, bool in_child);

/*
 * Q2. The caller has taken its pin before.
 * Returns 0; -EAGAIN: the queue reopened meanwhile, look again; -EBADMSG: the ring makes no sense
 */
int ring_look(const struct ring *ring, struct ring_look *ret_look);

/*
 * A copy of entry n, consumed <= n < head. Each field is loaded once, because the owner of the queue's file
 * may write to it: the value that is checked is the value that is used.
 */
static inline struct queue_entry
ring_entry(const struct ring *ring, uint64_t n)
{
	const struct queue_entry *e = &queue_ring(ring->queue)[n & (ring->capacity - 1)];

	return (struct queue_entry){.seq = LOAD_ONCE(&e->seq),
				    .kind = LOAD_ONCE(&e->kind),
				    .resource = LOAD_ONCE(&e->resource),
				    .old_ref = LOAD_ONCE(&e->old_ref),
				    .new_ref = LOAD_ONCE(&e->new_ref),
				    .pushed_ms = LOAD_ONCE(&e->pushed_ms)};
}

/* Everything before `next` is done with. */
static inline void
ring_consume(struct ring *ring)
{
	atomic_store_explicit(&ring->consumed, ring->next, memory_order_relaxed);
	/*
	 * Meets take_consumed() (writer/serve/ring_out.c): the entries were copied before their places are
	 * free. Without it a late copy could take half of what comes there next.
	 */
	atomic_store_explicit(&ring->cursor->consumed, ring->next, memory_order_release);
}

/* Discard the entries that the last look showed. */
static inline void
ring_throw_away(struct ring *ring)
{
	ring->next = ring->look.head;
	ring_consume(ring);
}

/* Whether a look would find entries or another opening. Any thread. */
static inline bool
ring_has_news(const struct ring *ring)
{
	/* A hint; the look that follows is ring_look(), which has the order. */
	return atomic_load_explicit(&ring->queue->head, memory_order_acquire) !=
		       atomic_load_explicit(&ring->consumed, memory_order_relaxed) ||
	       atomic_load_explicit(&ring->queue->openings, memory_order_relaxed) !=
		       atomic_load_explicit(&ring->openings, memory_order_relaxed);
}

static inline bool
ring_is_open(const struct ring *ring)
{
	/*
	 * Meets ring_out_overflow(): still OPEN, after the pin was taken, means that what entries refer to
	 * is kept.
	 */
	return atomic_load_explicit(&ring->queue->state, memory_order_acquire) == QUEUE_OPEN;
}

/*
 * Whether what the entries refer to is protected: by our slot, or because no daemon writes into that arena
 * any more. After the connection was lost, the answer is unknown until the daemon answers again: it may have
 * died or dropped us.
 */
bool ring_usable(const struct ring *ring);

#endif
