/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slot: two pages that one attached reader shares with the writer: a memfd of its own, sealed against
 * shrinking and growing. The reader stores pins and cursors. The writer reads them as hostile input: it loads
 * each word once, clamps it, and never uses it as an index.
 *
 *   offset  bytes  field
 *        0      4  armed      what wakes the reader: ARMED_COMMIT, the next commit; ARMED_QUEUE, an entry or
 *                             an opening in one of its queues. The reader sets bits before it sleeps. With
 *                             the signal the writer clears the bits that it answers; other bits stay set
 *        4      4  closed     1: no snapshot begins through this slot any more, and open snapshots have
 *                             expired. The writer stores it when it drops or revokes the reader. The reader
 *                             stores it before it hangs up first, and in its old slot when it attached to the
 *                             same arena again. Never cleared
 *        8      8  touched    bit n: cell n was claimed at least once. The reader sets it before the claim;
 *                             never cleared. The writer scans only these cells, because each costs a cache
 *                             line and most are never used
 *       64  63*64  cells      pins: FREE, ACQUIRING, or the epoch that one snapshot reads; only the reader
 *                             stores
 *     4096  64*64  queues     for each queue of the reader (queue.h), by number: how far it has read
 *
 * Steps, orders and reasons: PROTOCOLS.md (Pin, Drop, Revoke, Armed, Queue, Consumer).
 *
 * Pin (reader R0 to R4, writer W1 to W3). Invariant: what a pinned root reaches is not reused. A new
 * ACQUIRING counts as a pin of the epoch that was current at the writer's previous scan. Pairs with:
 * pins_horizon() (writer/arena/pins.c).
 *
 * Drop (writer D1 to D4). Invariant: no reader reads through a slot that was given up. Pairs with:
 * pins_close() and pins_are_free() (writer/arena/pins.c).
 */
#ifndef SHM_LAYOUT_SLOT_H
#define SHM_LAYOUT_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/header.h"

#define SLOT_BYTES 8192u
#define SLOT_CELLS 63u
#define SLOT_QUEUES 64u
#define ARMED_COMMIT 1u
#define ARMED_QUEUE 2u
#define CELL_FREE 0u
#define CELL_ACQUIRING 1u
#define EPOCH_FIRST 2u

struct pin_cell {
	_Alignas(64) _Atomic uint64_t epoch;
};

/*
 * The reader's progress in one queue. The reader stores both words; the writer stores 0 before SUBSCRIBED.
 *
 * consumed      entries of the queue that the reader has finished. The writer takes it only when it grows and
 *               is at most the queue's head
 * acknowledged  a named consumer has finished all changes up to this seq. The writer takes it only when it
 *               grows and is at most the seq of a published root
 */
struct queue_cursor {
	_Alignas(64) _Atomic uint64_t consumed;
	_Atomic uint64_t acknowledged;
};

struct slot {
	_Alignas(64) _Atomic uint32_t armed;
	_Atomic uint32_t closed;
	_Atomic uint64_t touched;
	struct pin_cell cells[SLOT_CELLS];
	struct queue_cursor queues[SLOT_QUEUES];
};
_Static_assert(SLOT_CELLS < 64, "slot: a bit for each cell");
_Static_assert(offsetof(struct slot, closed) == 4, "slot: closed moved");
_Static_assert(offsetof(struct slot, touched) == 8, "slot: touched moved");
_Static_assert(offsetof(struct slot, cells) == 64, "slot: cells moved");
_Static_assert(offsetof(struct slot, queues) == 4096, "slot: queues moved");
_Static_assert(sizeof(struct slot) == SLOT_BYTES, "slot: two pages");

/* The full fence of W1 and D1. slot_claim() contains the fence of R1. */
void slot_fence(void);

/* R0. Relaxed: R1's fence comes before R2, and pins_horizon() loads the word after its own fence. */
static inline void
slot_touch(struct slot *slot, unsigned cell)
{
	if ((atomic_load_explicit(&slot->touched, memory_order_relaxed) >> cell & 1) == 0)
		atomic_fetch_or_explicit(&slot->touched, 1ull << cell, memory_order_relaxed);
}

/*
 * R0 and R1: claim a free cell. A full fence follows the claim.
 *
 * hint     any number; the search starts at cell hint % SLOT_CELLS. Threads with different hints do not share
 *          a cache line
 * Returns  the cell; NULL when all SLOT_CELLS are taken
 */
struct pin_cell *slot_claim_any(struct slot *slot, unsigned hint);
static inline struct pin_cell *
slot_claim(struct slot *slot, unsigned hint)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	unsigned at = hint % SLOT_CELLS;
	struct pin_cell *cell = &slot->cells[at];
	uint64_t expected = CELL_FREE;

	slot_touch(slot, at);
	/* R1, as in slot_claim_any(). The locked exchange is a full fence; the next binds the compiler. */
	if (atomic_compare_exchange_strong_explicit(&cell->epoch, &expected, CELL_ACQUIRING,
						    memory_order_seq_cst, memory_order_relaxed)) {
		atomic_signal_fence(memory_order_seq_cst);
		return cell;
	}
#endif
	return slot_claim_any(slot, hint);
}

/*
 * R2': the newest epoch; 0: not stored yet. Call it before slot_load_root(). If that root has a lower epoch,
 * the root word is damaged.
 */
static inline uint64_t
slot_load_newest(const struct header *h)
{
	/*
	 * Pairs with W1', the release store in arena_tell_epoch() (writer/arena/arena.c), after W1.
	 * Relaxed, or after R2, a good root could look too old.
	 */
	return atomic_load_explicit(&((struct header *)(uintptr_t)h)->epoch, memory_order_acquire);
}

/* R2: the newest root's offset. Between slot_claim() and slot_pin() the caller may read the root's block. */
static inline uint64_t
slot_load_root(const struct header *h)
{
	/*
	 * Pairs with W1, the release store in publish() (writer/store/commit.c). Relaxed, the reader could
	 * follow the new root to blocks whose bytes have not arrived.
	 */
	return atomic_load_explicit(&((struct header *)(uintptr_t)h)->root, memory_order_acquire);
}

/* R3: pin this epoch. */
static inline void
slot_pin(struct pin_cell *cell, uint64_t epoch)
{
	/*
	 * Pairs with the acquire load in pins_horizon(): the root's block was read while the cell said
	 * ACQUIRING. Relaxed, that read could come after the store, when only `epoch` is protected.
	 */
	atomic_store_explicit(&cell->epoch, epoch, memory_order_release);
}

/* R4: give the cell back. What the pin protected may not be read after this. */
static inline void
slot_unpin(struct pin_cell *cell)
{
	/*
	 * Pairs with the acquire load in pins_horizon(): all reads under the pin come first. Relaxed, a late
	 * read could find the next content of that memory.
	 */
	atomic_store_explicit(&cell->epoch, CELL_FREE, memory_order_release);
}

/* D1, without its fence: the writer calls slot_fence() next. */
static inline void
slot_close(struct slot *slot)
{
	/* Relaxed: the fences of D1, of R1 and of snapshot_validate() order it. */
	atomic_store_explicit(&slot->closed, 1, memory_order_relaxed);
}

/* R1', after slot_claim(): its fence pairs with D1's. True: give the cell back, and read nothing. */
static inline bool
slot_is_closed(const struct slot *slot)
{
	return atomic_load_explicit(&((struct slot *)(uintptr_t)slot)->closed, memory_order_relaxed) != 0;
}

#endif
