/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue: a bounded ring of events for one subscription of one reader. Usually a handler subscribes. The
 * queue is a memfd of its own: the writer stores, the reader maps it read-only. How far the reader has read
 * is in its slot (slot.h, queue_cursor).
 *
 *   offset  bytes  field
 *        0      8  head       entries pushed so far; entry n is ring[n % capacity]
 *        8      8  base       since the last opening, the ring has each change of its subscription with
 *                             seq > base
 *       16      8  openings   1, and one more each time the queue reopened
 *       24      4  state      0 OPEN, 1 OVERFLOWED
 *       28      4  capacity   entries, a power of two, QUEUE_ENTRIES_MIN .. QUEUE_ENTRIES_MAX; never changes
 *     4096  24*n  entries     struct queue_entry
 *
 * Invariant: while the queue is OPEN, the arena keeps what an unread entry refers to. The writer never
 * overwrites an unread entry.
 *
 * PROTOCOLS.md has the steps Q1 to Q5 of the reader and P1 to P4 of the writer (Queue), and how a reader
 * sleeps (Armed).
 *
 * The reader treats the queue as input: it clamps head - consumed to capacity, and checks each ref that it
 * follows.
 */
#ifndef SHM_LAYOUT_QUEUE_H
#define SHM_LAYOUT_QUEUE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define QUEUE_ENTRIES_MIN 64u
#define QUEUE_ENTRIES_DEFAULT 4096u
#define QUEUE_ENTRIES_MAX 65536u
#define QUEUE_ENTRIES_OFFSET 4096u

enum queue_state { QUEUE_OPEN = 0, QUEUE_OVERFLOWED = 1 };

/*
 * The kinds of entries, and what old_ref and new_ref are; 0 where not listed.
 *
 *   ADDED     new: the object
 *   UPDATED   old: the object before; new: the object
 *   DELETED   old: the object before; new: its final state, 0 when the deletion was not seen, only that the
 *             object is gone
 *   SYNCED    the resource's first list is in, also the first one after a RESET
 *   RESET     the resource was emptied and will be listed anew; earlier entries of it no longer count
 *   STATUS    the Reflector met an error or recovered; new: a BLOCK_VALUE (LAYOUT.md, STATUS)
 */
enum queue_kind {
	QUEUE_ADDED = 1,
	QUEUE_UPDATED = 2,
	QUEUE_DELETED = 3,
	QUEUE_SYNCED = 4,
	QUEUE_RESET = 5,
	QUEUE_STATUS = 6,
};

/*
 * seq               of the change, a RESET included; SYNCED and STATUS: of the last change before
 * kind              enum queue_kind
 * resource          position of the resource in the root
 * old_ref, new_ref  refs of BLOCK_OBJECTs (STATUS: of a BLOCK_VALUE), or 0
 * pushed_ms         CLOCK_BOOTTIME in milliseconds at the push, low 32 bits; tells the reader's lag
 */
struct queue_entry {
	uint64_t seq;
	uint16_t kind;
	uint16_t resource;
	uint32_t old_ref;
	uint32_t new_ref;
	uint32_t pushed_ms;
};
_Static_assert(sizeof(struct queue_entry) == 24, "queue_entry: size");
_Static_assert(offsetof(struct queue_entry, old_ref) == 12, "queue_entry: old_ref moved");

struct queue {
	_Atomic uint64_t head;
	_Atomic uint64_t base;
	_Atomic uint64_t openings;
	_Atomic uint32_t state;
	uint32_t capacity;
};
_Static_assert(offsetof(struct queue, state) == 24, "queue: state moved");
_Static_assert(sizeof(struct queue) == 32, "queue: size");

/* Size of a queue's file. */
static inline size_t
queue_bytes(uint32_t capacity)
{
	return QUEUE_ENTRIES_OFFSET + (size_t)capacity * sizeof(struct queue_entry);
}

/* The queue's entries. The reader's mapping is read-only. */
static inline struct queue_entry *
queue_ring(const struct queue *q)
{
	return (struct queue_entry *)(void *)((uint8_t *)(uintptr_t)q + QUEUE_ENTRIES_OFFSET);
}

#endif
