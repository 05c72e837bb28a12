/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's side of a queue. The steps P1 to P3 are those of shm-layout/PROTOCOLS.md; P4 is the broker's.
 */
#include "writer/serve/ring_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm-layout/page_size.h"

/*
 * head       entries pushed, including those that the reader cannot see yet
 * published  entries that the reader can see
 * consumed   entries that the reader said it has read
 * missed     since the last publish something happened that the ring does not have
 */
struct ring_out {
	struct queue *shared;
	struct queue_cursor *cursor;
	uint32_t capacity;
	bool open, missed;
	uint64_t head, published, consumed;
	uint64_t overflows;
};

uint32_t
ring_out_capacity(uint32_t entries)
{
	uint32_t capacity = QUEUE_ENTRIES_MIN;

	while (capacity < entries && capacity < QUEUE_ENTRIES_MAX)
		capacity *= 2;
	return capacity;
}

/*
 * Make a memfd, mapped writable here with all its memory, so that no push allocates; and a read-only
 * descriptor of it. The mode keeps other users from opening the memfd for writing. A seal could too
 * (F_SEAL_FUTURE_WRITE), but then the memory could not be freed while a reader keeps its descriptor.
 */
static int
make_ring(size_t bytes, struct queue **ret_ring, int *ret_fd)
{
	int fd = memfd_create("informer-queue", MFD_CLOEXEC | MFD_ALLOW_SEALING), reading = -1;
	void *ring = MAP_FAILED;
	char path[64];
	int r;

	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0600) < 0)
		goto fail;
	while (fallocate(fd, 0, 0, (off_t)bytes) < 0)
		if (errno != EINTR)
			goto fail;
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED || madvise(ring, bytes, MADV_DONTFORK) < 0)
		goto fail;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		goto fail;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reading = open(path, O_RDONLY | O_CLOEXEC);
	if (reading < 0)
		goto fail;
	close(fd);
	*ret_ring = ring;
	*ret_fd = reading;
	return 0;
fail:
	r = -errno;
	if (ring != MAP_FAILED)
		munmap(ring, bytes);
	close(fd);
	return r;
}

int
ring_out_new(uint32_t capacity, struct queue_cursor *cursor, uint64_t base, struct ring_out **ret_queue,
	     int *ret_fd)
{
	struct ring_out *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	q->capacity = ring_out_capacity(capacity);
	q->cursor = cursor;
	q->open = true;
	r = make_ring(queue_bytes(q->capacity), &q->shared, ret_fd);
	if (r < 0 || !q->shared) {
		free(q);
		return r;
	}
	q->shared->capacity = q->capacity;
	atomic_store_explicit(&q->shared->base, base, memory_order_relaxed);
	/*
	 * Meets ring_look() (reader-lib/events/ring.c), as in ring_out_begin(). No reader has the ring yet.
	 */
	atomic_store_explicit(&q->shared->openings, 1, memory_order_release);
	*ret_queue = q;
	return 0;
}

/*
 * The first page keeps its memory: it holds the state. Where pages are larger than the head, entries stand in
 * the first page, too.
 */
static void
free_entries(struct ring_out *q)
{
	size_t bytes = queue_bytes(q->capacity), kept = page_round_up(QUEUE_ENTRIES_OFFSET);
	uint8_t *start = (uint8_t *)q->shared;

	memset(start + QUEUE_ENTRIES_OFFSET, 0, (kept < bytes ? kept : bytes) - QUEUE_ENTRIES_OFFSET);
	if (kept < bytes)
		madvise(start + kept, bytes - kept, MADV_REMOVE);
}

void
ring_out_free(struct ring_out *q, bool take_back)
{
	if (!q)
		return;
	if (take_back) {
		ring_out_overflow(q);
		free_entries(q);
	}
	munmap(q->shared, queue_bytes(q->capacity));
	free(q);
}

/*
 * Meets the release store in ring_consume() (reader-lib/events/ring.h): the reader has read an entry before
 * it is overwritten. Without it a late copy could take half of another entry. Impossible values are ignored.
 */
static void
take_consumed(struct ring_out *q)
{
	uint64_t consumed = atomic_load_explicit(&q->cursor->consumed, memory_order_acquire);

	if (consumed > q->consumed && consumed <= q->published)
		q->consumed = consumed;
}

void
ring_out_begin(struct ring_out *q, uint64_t base)
{
	take_consumed(q);
	if (q->open || q->consumed != q->published)
		return;
	atomic_store_explicit(&q->shared->base, base, memory_order_relaxed);
	/*
	 * Both meet the acquire loads in ring_look() (reader-lib/events/ring.c): a reader that sees the
	 * opening, or OPEN, sees this base. Without it entries behind a gap could pass for the whole history,
	 * and the changes in the gap would never be told.
	 */
	atomic_fetch_add_explicit(&q->shared->openings, 1, memory_order_release);
	atomic_store_explicit(&q->shared->state, QUEUE_OPEN, memory_order_release); /* P1 */
	q->open = true;
}

static uint32_t
ms_of(uint64_t boot_ns)
{
	return (uint32_t)(boot_ns / 1000000u);
}

void
ring_out_push(struct ring_out *q, const struct queue_entry *entry, uint64_t now_boot_ns)
{
	struct queue_entry *at;

	if (q->open && q->head - q->consumed == q->capacity) {
		take_consumed(q);
		if (q->head - q->consumed == q->capacity)
			ring_out_overflow(q);
	}
	if (!q->open) {
		q->missed = true;
		return;
	}
	at = &queue_ring(q->shared)[q->head & (q->capacity - 1)];
	*at = *entry;
	at->pushed_ms = ms_of(now_boot_ns);
	q->head++;
}

bool
ring_out_publish(struct ring_out *q)
{
	bool due = q->missed || q->head != q->published;

	if (q->head != q->published)
		/*
		 * Meets the acquire loads of head in ring_look() and ring_has_news(): the entries below it
		 * were written before. Without it a reader could copy an entry of the previous round.
		 */
		atomic_store_explicit(&q->shared->head, q->head, memory_order_release); /* P2 */
	q->published = q->head;
	q->missed = false;
	return due;
}

void
ring_out_overflow(struct ring_out *q)
{
	if (!q->open)
		return;
	q->open = false;
	q->missed |= q->head != q->published;
	q->head = q->published;
	q->overflows++;
	/*
	 * The fence meets the one of Q1 in slot_claim(): a reader pins, then loads the state in ring_look().
	 * Either it sees OVERFLOWED and follows no entry, or the scan of pins_horizon(), after this, sees its
	 * pin. Without it both could miss, and a block could be reused while the reader reads it.
	 */
	atomic_store_explicit(&q->shared->state, QUEUE_OVERFLOWED, memory_order_release); /* P3 */
	slot_fence();
}

const struct queue *
ring_out_page(const struct ring_out *q)
{
	return q->shared;
}

bool
ring_out_is_open(const struct ring_out *q)
{
	return q->open;
}

uint64_t
ring_out_unread(struct ring_out *q)
{
	take_consumed(q);
	return q->head - q->consumed;
}

uint64_t
ring_out_lowest(struct ring_out *q)
{
	if (!q->open || ring_out_unread(q) == 0)
		return UINT64_MAX;
	return queue_ring(q->shared)[q->consumed & (q->capacity - 1)].seq;
}

uint64_t
ring_out_age_ms(struct ring_out *q, uint64_t now_boot_ns)
{
	if (!q->open || ring_out_unread(q) == 0)
		return 0;
	return ms_of(now_boot_ns) - queue_ring(q->shared)[q->consumed & (q->capacity - 1)].pushed_ms;
}

uint64_t
ring_out_overflows(const struct ring_out *q)
{
	return q->overflows;
}
