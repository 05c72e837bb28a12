/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue: a bounded ring of events that the writer fills for one subscription of one reader (a handler, as a
 * rule). A memfd of its own, mapped read-only by the reader; how far the reader has read stands in the
 * reader's slot (slot.h, queue_cursor).
 *
 *   offset  bytes  field
 *        0      8  head       entries pushed so far; entry n stands at ring[n % capacity]
 *        8      8  base       since it opened last: the ring has every change of its subscription with
 *                             seq > base
 *       16      8  openings   how often it was opened: 1, and one more each time it reopened
 *       24      4  state      0 OPEN, 1 OVERFLOWED
 *       28      4  capacity   entries, a power of two, QUEUE_ENTRIES_MIN .. QUEUE_ENTRIES_MAX; never changes
 *     4096  24*n  entries     {seq, kind, resource, old, new}
 *
 * Invariant: while OPEN, what an unread entry refers to stays in the arena. An unread entry is never
 * overwritten.
 *
 * The steps Q1 to Q5 of a reader and P1 to P4 of the writer, their orders and why: PROTOCOLS.md, Queue; how
 * a reader goes to sleep: Armed.
 *
 * To the reader all of it is input: head - consumed is clamped to capacity, refs are checked where they are
 * followed.
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
 * What an entry tells.
 *
 *   ADDED     new: the object             UPDATED  old, new
 *   DELETED   old: the last state before; new: the final state, 0 when the deletion was not seen, only that
 *             it is gone
 *   SYNCED    the resource's first list is in (again after a RESET)
 *   RESET     the resource was emptied and is listed anew: what was known of it no longer counts
 *   STATUS    the Reflector met an error, or recovered; new: a VALUE (LAYOUT.md, STATUS)
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
 * seq       of the change, RESET included; of SYNCED and STATUS that of the last one before them
 * kind      enum queue_kind
 * resource  position of its resource in the root
 * old, new  refs of BLOCK_OBJECTs (of a BLOCK_VALUE in STATUS), or 0
 * pushed_ms CLOCK_BOOTTIME in milliseconds when it was pushed, the low 32 bits: how far one lags
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

static inline size_t
queue_bytes(uint32_t capacity)
{
	return QUEUE_ENTRIES_OFFSET + (size_t)capacity * sizeof(struct queue_entry);
}

static inline struct queue_entry *
queue_ring(const struct queue *q)
{
	return (struct queue_entry *)(void *)((uint8_t *)(uintptr_t)q + QUEUE_ENTRIES_OFFSET);
}

#endif
