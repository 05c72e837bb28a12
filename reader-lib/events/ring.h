/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue as its reader sees it: the ring that the daemon fills for one subscription, mapped read-only
 * (shm-layout/queue.h), and our place in it, which stands in the slot.
 *
 * Invariant: nothing outside the mapping is touched, whatever stands in it: capacity is what the mapping has
 * room for, taken once; head is believed only within `capacity` of what was consumed.
 *
 * Whatever is counted in a ring, or by its arena's epochs, stands in the ring and goes with it: no count of
 * one ring can be taken for another's.
 *
 * Threads: one at a time, except ring_has_news().
 */
#ifndef READER_LIB_EVENTS_RING_H
#define READER_LIB_EVENTS_RING_H

#include "reader-lib/attach/mapping.h"
#include "shm-layout/queue.h"

/* What a look showed. */
struct ring_look {
	uint64_t head;
	uint64_t base;
	uint64_t openings;
	bool open;
};

/*
 * mapping    whose slot holds the cursor, and into whose arena the entries refer; held mapped for as long as
 *            the ring lives
 * consumed   entries that are done with
 * openings   of which opening the entries are that we read; 0: we have not looked yet
 * has_cursor, lineage, seq   of the named consumer, as the daemon knew it
 * arena_lineage   of the first root that was looked at through it; zeroes until then (`lock`)
 *
 * The feed's:
 * look       the last one
 * next       entry to be read; those before it are consumed at the turn's end, if not before
 * root_seq, root_epoch   of the last root that was looked at through it
 * proven     every entry up to this seq stood in the ring when the snapshot was taken
 * looked     epoch of the root with which it found nothing to do
 * blocked    the resource is not in the root that was looked at
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
	uint64_t next;
	uint64_t root_seq, root_epoch;
	uint64_t proven;
	uint64_t looked;
	bool blocked;
};

/*
 * Map what came with SUBSCRIBED. fd is taken over, also on failure. Called with `lock` held. 0, or a code
 * with a message in the handle.
 */
int ring_new(struct informer *inf, struct mapping *m, int fd, const struct message_subscribed *answer,
	     struct ring **ret_ring);
/* NULL is fine. In a forked child nothing is mapped. */
void ring_free(struct ring *ring, bool in_child);

/*
 * Q2. To be called with a pin that was taken before.
 * Returns 0; -EAGAIN it reopened meanwhile, look again; -EBADMSG it holds nonsense
 */
int ring_look(const struct ring *ring, struct ring_look *ret_look);

/*
 * Entry n, consumed <= n < head: a copy. Each field is loaded once: whoever owns the queue's file may write
 * there, and what was checked of an entry is what is followed.
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

/* Throw away what the last look showed. */
static inline void
ring_throw_away(struct ring *ring)
{
	ring->next = ring->look.head;
	ring_consume(ring);
}

/* Whether a look would find something: entries, or another opening. Any thread. */
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
 * Whether what the entries refer to is protected: by our slot, or because nobody writes into that arena any
 * more. When the connection was lost we cannot know whether the daemon died or dropped us, until it answers
 * again.
 */
bool ring_usable(const struct ring *ring);

#endif
