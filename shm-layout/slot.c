/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims a pin cell (PROTOCOLS.md, Pin), and has the full fence that both sides of each protocol need.
 */
#include "shm-layout/slot.h"

/*
 * The full fence between a store and a later load of another word. Without it the load may be done first, and
 * both sides miss what the other stored. The two sides:
 *
 *	pin		slot_claim_any(); pins_horizon() (writer/arena/pins.c)
 *	sleep		arm() (reader-lib/events/wait.c), arm_for_handlers() (reader-lib/events/run.c);
 *			broker_wake() (writer/serve/broker_wake.c)
 *	queue		Q1's claim; ring_out_overflow() (writer/serve/ring_out.c)
 *	drop		R1's claim; pins_close() (writer/arena/pins.c)
 *	move		R1's claim; mapping_reap() (reader-lib/attach/mapping.c)
 *	binding		R1's claim; retire() (reader-lib/read/resource_open.c)
 *	handlers	handlers_wait() (reader-lib/events/handler_api.c); tell_watchers()
 *			(reader-lib/events/run.c)
 *
 * The thread sanitizer does not follow free fences. Under it, an exchange on a local word takes the fence's
 * place: on x86 that is a full fence, too.
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

		/* Load first: an exchange would take the cache line of a cell that is taken. */
		if (atomic_load_explicit(&cell->epoch, memory_order_relaxed) != CELL_FREE)
			continue;
		slot_touch(slot, at);
		/*
		 * R1. With the fence after it, it meets the fence in pins_horizon() (writer/arena/pins.c):
		 * either that scan sees the claim, or R2 sees the root that was stored before the scan.
		 * Without the fence R2 could be done first, and the old root's block be reused while it is
		 * read.
		 */
		if (atomic_compare_exchange_strong_explicit(&cell->epoch, &expected, CELL_ACQUIRING,
							    memory_order_seq_cst, memory_order_relaxed)) {
#if defined(__x86_64__)
			/* On x86 the locked exchange is a full fence; this is for the compiler. */
			atomic_signal_fence(memory_order_seq_cst);
#else
			slot_fence();
#endif
			return cell;
		}
	}
	return NULL;
}
