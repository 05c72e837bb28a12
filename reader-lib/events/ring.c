/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps a queue and looks at it for the feed, in the order that queue.h requires. Its bytes are input:
 * nonsense is reported as damage.
 */
#include "reader-lib/events/ring.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int
ring_new(struct informer *inf, struct mapping *m, int fd, const struct message_subscribed *answer,
	 struct ring **ret_ring)
{
	struct ring *ring = memory_get(inf, sizeof(*ring));
	uint32_t capacity = answer->entries;
	struct stat st;
	void *page = MAP_FAILED;
	int r = 0;

	if (!ring)
		r = error_set(-ENOMEM, "no memory for another queue");
	else if (capacity < QUEUE_ENTRIES_MIN || capacity > QUEUE_ENTRIES_MAX ||
		 (capacity & (capacity - 1)) || answer->number >= SLOT_QUEUES || fstat(fd, &st) < 0 ||
		 st.st_size < (off_t)queue_bytes(capacity))
		r = error_set(-EPROTO, "informerd passed a queue of %u entries, which makes no sense",
			      capacity);
	if (r == 0) {
		page = mmap(NULL, queue_bytes(capacity), PROT_READ, MAP_SHARED, fd, 0);
		if (page == MAP_FAILED)
			r = error_set(-errno, "cannot map a queue: %s", errno_text(errno));
		else if (madvise(page, queue_bytes(capacity), MADV_DONTFORK) < 0)
			r = error_set(-errno, "cannot keep a queue from being inherited: %s",
				      errno_text(errno));
	}
	close(fd);
	if (r < 0 || !ring) {
		if (page != MAP_FAILED)
			munmap(page, queue_bytes(capacity));
		memory_put(inf, ring);
		return r;
	}
	ring->inf = inf;
	ring->mapping = m;
	ring->queue = page;
	ring->bytes = queue_bytes(capacity);
	ring->capacity = capacity;
	ring->number = answer->number;
	ring->cursor = &m->slot->queues[answer->number];
	ring->has_cursor = answer->has_cursor != 0;
	memcpy(ring->lineage, answer->lineage, sizeof(ring->lineage));
	ring->seq = answer->seq;
	atomic_fetch_add_explicit(&m->holds, 1, memory_order_relaxed);
	*ret_ring = ring;
	return 0;
}

void
ring_free(struct ring *ring, bool in_child)
{
	if (!ring)
		return;
	if (!in_child)
		munmap(ring->queue, ring->bytes);
	/*
	 * Meets the acquire load in mapping_reap(): our last look through this ring is over before the arena
	 * is unmapped. Without release that look could find nothing mapped (SIGSEGV).
	 */
	atomic_fetch_sub_explicit(&ring->mapping->holds, 1, memory_order_release);
	memory_put(ring->inf, ring);
}

int
ring_look(const struct ring *ring, struct ring_look *ret)
{
	struct queue *q = ring->queue;
	/*
	 * Q2. Each load meets a release store in writer/serve/ring_out.c: head that of ring_out_publish();
	 * state and openings, and through them base, those of ring_out_begin(); OVERFLOWED that of
	 * ring_out_overflow(). Acquire also keeps the loads in this order. Head comes first: loaded after
	 * OVERFLOWED, it could be the head of a ring that reopened and filled since. Q3 would throw away its
	 * entries, and nothing would tell them. Openings are loaded on both sides of base, which belongs to
	 * one opening.
	 */
	uint64_t head = atomic_load_explicit(&q->head, memory_order_acquire);
	uint32_t state = atomic_load_explicit(&q->state, memory_order_acquire);
	uint64_t openings = atomic_load_explicit(&q->openings, memory_order_acquire);
	uint64_t consumed = atomic_load_explicit(&ring->consumed, memory_order_relaxed);

	ret->head = head;
	ret->base = atomic_load_explicit(&q->base, memory_order_acquire);
	ret->openings = atomic_load_explicit(&q->openings, memory_order_acquire);
	ret->open = state == QUEUE_OPEN;
	/* A ring reopens only after we consumed everything: at most once between two looks. */
	if (ret->openings != openings)
		return -EAGAIN;
	if (openings == 0 || state > QUEUE_OVERFLOWED || head - consumed > ring->capacity)
		return -EBADMSG;
	return 0;
}

bool
ring_usable(const struct ring *ring)
{
	struct mapping *m = ring->mapping,
		       *current = atomic_load_explicit(&ring->inf->current, memory_order_acquire);
	/* Meets arena_set_state() (writer/arena/arena.c): if it is STALE, the last commit is there. */
	uint32_t state = atomic_load_explicit(m->state, memory_order_acquire);

	/* for the same arena again, make_current() closes the slot before it changes `current` */
	if (slot_is_closed(m->slot) || state == HEADER_REVOKED)
		return false;
	return m != current || !atomic_load_explicit(&m->lost, memory_order_relaxed) || state == HEADER_STALE;
}
