/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claiming a pin cell (PROTOCOLS.md, Pin) and the full fence that both sides of it need.
 */
#include "shm-layout/slot.h"

/*
 * Between a store and a load of something else, on both sides: of a pin (slot_claim_any(); pins_horizon() in
 * writer/arena/pins.c), of going to sleep (arm() in reader-lib/events/wait.c, arm_for_handlers() beside
 * it; broker_wake() in writer/serve/broker_wake.c), of a queue that overflows (ring_out_overflow() in
 * writer/serve/ring_out.c; Q1's claim), and of a mapping that goes (mapping_reap() in
 * reader-lib/attach/mapping.c; R1's claim). Without it the load may be done first, and both sides miss what
 * the other stored.
 *
 * The thread sanitizer does not follow free fences, so under it the fence is an exchange on a word of its
 * own: the same instruction where it runs (x86), and no false report.
 */
void
slot_fence(void)
{
#ifdef __SANITIZE_THREAD__
	_Atomic int word = 0;

	atomic_exchange_explicit(&word, 1, memory_order_seq_cst);
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

struct pin_cell *
slot_claim_any(struct slot *slot, unsigned hint)
{
	unsigned at = hint % SLOT_CELLS;

	for (unsigned i = 0; i < SLOT_CELLS; i++, at = at + 1 == SLOT_CELLS ? 0 : at + 1) {
		struct pin_cell *cell = &slot->cells[at];
		uint64_t expected = CELL_FREE;

		/* Look before the exchange: a taken cell's line is left where it is. */
		if (atomic_load_explicit(&cell->epoch, memory_order_relaxed) != CELL_FREE)
			continue;
		slot_touch(slot, at);
		/*
		 * R1. With the fence behind it, it meets the one in pins_horizon() (writer/arena/pins.c):
		 * either that scan sees the claim, or R2 sees the root that was stored before the scan.
		 * Without the fence R2 could be done first, and the old root's block be reused while it is
		 * read.
		 */
		if (atomic_compare_exchange_strong_explicit(&cell->epoch, &expected, CELL_ACQUIRING,
							    memory_order_seq_cst, memory_order_relaxed)) {
#if defined(__x86_64__)
			/* A locked exchange is a full fence there; only the compiler has to be told. */
			atomic_signal_fence(memory_order_seq_cst);
#else
			slot_fence();
#endif
			return cell;
		}
	}
	return NULL;
}
