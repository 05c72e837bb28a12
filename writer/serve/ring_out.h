/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's side of one subscription's queue (shm-layout/queue.h): the ring in its memfd, pushes,
 * overflow, reopening.
 *
 * Invariants
 * - An unread entry is never overwritten.
 * - Nothing that a reader stores makes the writer wait, allocate, or touch memory outside the ring.
 *   `consumed` is read once, and accepted only between its old value and head.
 * - The ring has a fixed size and all its memory from the start. The reader's descriptor is read-only.
 *
 * The file's owner (root or the daemon's user) could reopen the ring for writing, as it could the arena. So
 * the seq and time that the writer reads back decide only how long an entry is held. Wrong values end at the
 * limits of bytes and age.
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
 * The capacity of a queue for at least this many entries: a power of two within the bounds of
 * shm-layout/queue.h.
 */
uint32_t ring_out_capacity(uint32_t entries);

/*
 * capacity  as ring_out_capacity() says
 * cursor    the reader's cursor; borrowed, hostile; `consumed` begins at 0
 * base      the queue has every change with a greater seq
 * ret_fd    read-only, for the reader; the caller closes it
 */
int ring_out_new(uint32_t capacity, struct queue_cursor *cursor, uint64_t base, struct ring_out **ret_queue,
		 int *ret_fd);
/*
 * take_back: free the queue's memory even if a process keeps its descriptor. A reader that still reads finds
 * the queue overflowed and its entries zero. Otherwise the entries stay readable.
 */
void ring_out_free(struct ring_out *q, bool take_back);

/*
 * Called once before the pushes of a commit. Takes what the reader has consumed, and reopens the queue when
 * it may (P1).
 */
void ring_out_begin(struct ring_out *q, uint64_t base);
/*
 * Add an entry (P2), or overflow when there is no room (P3). ring_out_publish() makes the entry visible.
 * pushed_ms is set from now_boot_ns.
 */
void ring_out_push(struct ring_out *q, const struct queue_entry *entry, uint64_t now_boot_ns);
/*
 * Store head. Returns whether the reader has something to look at: new entries, or changes that it missed
 * while the queue was overflowed.
 */
bool ring_out_publish(struct ring_out *q);
/* A limit is exceeded: overflow now. Entries that are pushed but not published are lost. */
void ring_out_overflow(struct ring_out *q);

/*
 * The queue as mapped in this process, for readers that are threads of it (the thread sanitizer follows
 * addresses).
 */
const struct queue *ring_out_page(const struct ring_out *q);

bool ring_out_is_open(const struct ring_out *q);
uint64_t ring_out_unread(struct ring_out *q);
/* Seq of the first unread entry; UINT64_MAX: none is unread, or the queue is not open. Cost: O(1). */
uint64_t ring_out_lowest(struct ring_out *q);
/* How long that entry has been unread. */
uint64_t ring_out_age_ms(struct ring_out *q, uint64_t now_boot_ns);
uint64_t ring_out_overflows(const struct ring_out *q);

#endif
