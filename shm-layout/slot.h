/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slot: what one attached reader process writes and the writer reads. Two pages, a memfd of the reader's
 * own, sealed against shrinking and growing; to the writer everything in it is hostile input: read once,
 * clamped, never an index.
 *
 *   offset  bytes  field
 *        0      4  armed      bits: the reader sleeps and wants its eventfd signalled, ARMED_COMMIT at the
 *                             next commit, ARMED_QUEUE when one of its queues has something for it. With
 *                             the signal the writer takes back the bits that it answers, no others: who
 *                             waits for something else is still armed
 *        4      4  closed     1: no snapshot is begun through this slot any more, and those that are open
 *                             have expired. Set by the writer when it drops the reader, by the reader itself
 *                             where it knows that the writer looks here no more; never cleared
 *        8      8  touched    bit n: cell n was claimed some time; set by its reader before the claim, never
 *                             cleared. The writer looks at no others: with many readers most cells are
 *                             never used, and looking costs a cache line each
 *       64  63*64  cells      pins: FREE, ACQUIRING, or the epoch that one snapshot reads
 *     4096  64*64  queues     how far the reader has got in each of its queues (queue.h), by their numbers
 *
 * The steps R0 to R4 of a reader and W1 to W3 of the writer, their orders and why: PROTOCOLS.md, Pin.
 * Invariant: never do both miss, so nothing that a pinned root reaches is reused; ACQUIRING counts as the
 * horizon at which the writer first saw it. Pairs with: pins_horizon() in writer/arena/pins.c.
 * D1 to D4, by which the writer drops a reader: the same page, Drop. Invariant: through a slot that was given
 * up nothing is read. Pairs with: pins_close() and pins_are_free() there.
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
 * consumed      entries of the queue that the reader has done with; between what it was and the queue's head
 * acknowledged  a named consumer's cursor: everything up to this seq need not be told again. Counts only when
 *               it grows and is not beyond the seq of a published root
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

/* A full fence: the one of W1, and of D1. R1's is inside slot_claim(). */
void slot_fence(void);

/* R0. Relaxed: R1's fence stands between this and R2, pins_horizon() loads it behind its own. */
static inline void
slot_touch(struct slot *slot, unsigned cell)
{
	if ((atomic_load_explicit(&slot->touched, memory_order_relaxed) >> cell & 1) == 0)
		atomic_fetch_or_explicit(&slot->touched, 1ull << cell, memory_order_relaxed);
}

/*
 * R0 and R1: take a free cell, starting the search at `hint` (any number; threads that pass different ones do
 * not meet).
 * Returns the cell, or NULL when all SLOT_CELLS are taken. A full fence follows the claim.
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
	/* R1, as in slot_claim_any(). A locked exchange is a full fence; only the compiler must be told. */
	if (atomic_compare_exchange_strong_explicit(&cell->epoch, &expected, CELL_ACQUIRING,
						    memory_order_seq_cst, memory_order_relaxed)) {
		atomic_signal_fence(memory_order_seq_cst);
		return cell;
	}
#endif
	return slot_claim_any(slot, hint);
}

/*
 * R2', before R2: no root that is loaded then has a lower epoch, or the offset that was loaded is not the one
 * that was stored. 0: not told yet.
 */
static inline uint64_t
slot_load_newest(const struct header *h)
{
	/*
	 * Meets W1', the release store in arena_tell_epoch() (writer/arena/arena.c), behind W1. Without it,
	 * or after R2, a root that is good could be called too old.
	 */
	return atomic_load_explicit(&((struct header *)(uintptr_t)h)->epoch, memory_order_acquire);
}

/*
 * R2: the current root's offset. Between slot_claim() and slot_pin() the caller may look at the root's block.
 */
static inline uint64_t
slot_load_root(const struct header *h)
{
	/*
	 * Meets W1's release store in publish() (writer/store/commit.c). Without it one could follow the
	 * new root to blocks whose bytes are not there yet.
	 */
	return atomic_load_explicit(&((struct header *)(uintptr_t)h)->root, memory_order_acquire);
}

/* R3: the cell now protects this epoch. */
static inline void
slot_pin(struct pin_cell *cell, uint64_t epoch)
{
	/*
	 * Meets the acquire load in pins_horizon(). What was read while the cell said ACQUIRING, the root's
	 * block, was read before; without it that could still be under way when only `epoch` is protected.
	 */
	atomic_store_explicit(&cell->epoch, epoch, memory_order_release);
}

static inline void
slot_unpin(struct pin_cell *cell)
{
	/*
	 * Meets the acquire load in pins_horizon(): what was read under the pin was read before. Without it
	 * a late read could find what the writer puts there next.
	 */
	atomic_store_explicit(&cell->epoch, CELL_FREE, memory_order_release);
}

/* D1, without its fence. */
static inline void
slot_close(struct slot *slot)
{
	/* Relaxed: what orders it are the fences of D1 and R1, and that of snapshot_settle(). */
	atomic_store_explicit(&slot->closed, 1, memory_order_relaxed);
}

/* R1', behind slot_claim(), whose fence meets D1's. True: give the cell back, and look at nothing. */
static inline bool
slot_is_closed(const struct slot *slot)
{
	return atomic_load_explicit(&((struct slot *)(uintptr_t)slot)->closed, memory_order_relaxed) != 0;
}

#endif
