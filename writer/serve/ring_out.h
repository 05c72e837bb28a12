/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One subscription's queue, the writer's side of shm-layout/queue.h: the ring in its memfd, pushes, overflow,
 * reopening.
 *
 * Invariant: an unread entry is never overwritten, and nothing that a reader stores makes the writer wait,
 * allocate, or touch memory outside the ring: consumed is read once, and counts only between what it was and
 * head. The ring cannot be resized, has all its memory from the start, and its reader gets a descriptor that
 * only reads; who owns the file (root, the daemon's own user) could open it again for writing, as he could
 * the arena. So what is read back, an entry's seq and time, only says how long it is held: nonsense there
 * ends by the limits of bytes and age.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_SERVE_RING_OUT_H
#define WRITER_SERVE_RING_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/queue.h"
#include "shm-layout/slot.h"

struct ring_out;

/*
 * The capacity that a queue for so many entries has: a power of two within the bounds of
 * shm-layout/queue.h.
 */
uint32_t ring_out_capacity(uint32_t entries);

/*
 * capacity  as ring_out_capacity() says
 * cursor    the reader's; borrowed, hostile; a consumed of 0 is where it begins
 * base      the seq from which on it is complete
 * ret_fd    read-only, for the reader; the caller's to close
 */
int ring_out_new(uint32_t capacity, struct queue_cursor *cursor, uint64_t base, struct ring_out **ret_queue,
		 int *ret_fd);
/*
 * take_back  its memory is free whoever keeps the descriptor: it has overflowed, for who should read it all
 *            the same, and its entries are zeros. Else what stands in it can still be read
 */
void ring_out_free(struct ring_out *q, bool take_back);

/*
 * To be called once before the pushes of a commit: takes what the reader has consumed; reopens when it may
 * (P1).
 */
void ring_out_begin(struct ring_out *q, uint64_t base);
/*
 * Add an entry (P2), or overflow (P3) when there is no room; it shows when ring_out_publish() was called.
 * pushed_ms is filled in from now_boot_ns.
 */
void ring_out_push(struct ring_out *q, const struct queue_entry *entry, uint64_t now_boot_ns);
/*
 * Store head. True when the reader has something to look at: new entries, or changes that it missed while
 * overflowed.
 */
bool ring_out_publish(struct ring_out *q);
/* Budget spent: overflow now. What is pushed but not published is gone. */
void ring_out_overflow(struct ring_out *q);

/*
 * The queue as it is mapped here: for readers that are threads of this process (the thread sanitizer follows
 * addresses).
 */
const struct queue *ring_out_page(const struct ring_out *q);

bool ring_out_is_open(const struct ring_out *q);
uint64_t ring_out_unread(struct ring_out *q);
/* seq of the first unread entry while open, UINT64_MAX when there is none. Cost: O(1) */
uint64_t ring_out_lowest(struct ring_out *q);
/* For how long that entry has been unread. */
uint64_t ring_out_age_ms(struct ring_out *q, uint64_t now_boot_ns);
uint64_t ring_out_overflows(const struct ring_out *q);

#endif
