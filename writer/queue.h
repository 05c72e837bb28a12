/*
 * One subscription's queue, the writer's side of shm-layout/queue.h: the ring in its sealed memfd, pushes, overflow, reopening.
 *
 * Invariant: an unread entry is never overwritten, and nothing that a reader stores makes the writer wait, allocate, or touch
 * memory outside the ring: consumed is read once, and counts only between what it was and head.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_QUEUE_H
#define WRITER_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/queue.h"
#include "shm-layout/slot.h"

struct queue_out;

/*
 * capacity  is rounded up to a power of two within the bounds of shm-layout/queue.h
 * cursor    the reader's; borrowed, hostile
 * base      the seq from which on it is complete
 * ret_fd    the memfd, sealed, mode 0600, owned by the queue; to be passed on re-opened read-only
 */
int queue_out_new(uint32_t capacity, struct queue_cursor *cursor, uint64_t base, struct queue_out **ret_queue, int *ret_fd);
void queue_out_free(struct queue_out *q);

/* Q: what the reader has consumed, clamped. To be called once before the pushes of a commit: reopens when it may (P1). */
void queue_out_begin(struct queue_out *q, uint64_t base);
/* Add an entry (P2), or overflow (P3) when there is no room; the entry shows when queue_out_publish() was called. */
void queue_out_push(struct queue_out *q, const struct queue_entry *entry, uint64_t now_boot_ns);
/* Store head. True when the reader has something to look at: new entries, or changes that it missed while overflowed. */
bool queue_out_publish(struct queue_out *q);
/* Budget spent: overflow now. */
void queue_out_overflow(struct queue_out *q);

bool queue_out_is_open(const struct queue_out *q);
uint64_t queue_out_unread(struct queue_out *q);
/* seq of the first unread entry while open, and when it was pushed; UINT64_MAX when there is none. Cost: O(1) */
uint64_t queue_out_lowest(struct queue_out *q, uint64_t *ret_pushed_boot_ns);
uint64_t queue_out_overflows(const struct queue_out *q);

#endif
