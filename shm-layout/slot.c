/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claiming a pin cell (slot.h has the protocol) and the full fence that both sides of it need.
 */
#include "shm-layout/slot.h"

/*
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
