/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader pins a root and reads while the writer commits, scans and reuses memory (PROTOCOLS.md, Pin).
 * Nothing that a pin protects is written: the explorer reports a byte that is read and overwritten without an
 * order.
 */
#include "tests/explorer/explorer.h"
#include "tests/explorer/steps.h"
#include "tests/room.h"

#define COMMITS 2

static void
commit_and_reuse(void)
{
	char version[4] = "200";

	for (unsigned i = 0; i < COMMITS; i++) {
		version[2]++;
		steps_commit(version);
	}
}

static const struct explorer_program pinning = {
	.name = "pin and reuse",
	.threads = {{"reader", steps_read}, {"writer", commit_and_reuse}},
	.preemptions = 3,
	.old_values = 2,
};

#define TEST(name) TEST_CASE_IN(pair_set_up, pair_tear_down, name)

TEST_GOOD(nothing_that_is_pinned_is_reused, pinning)

TEST_FOUND(weaker_orders_are_found, pinning,
	   {"W1 relaxed", "publish", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
	   {"W1 without its fence", "slot_fence", NULL, EXPLORER_FENCE, 0, EXPLORER_DROP},
	   {"R1 without its fence", "slot_claim", NULL, EXPLORER_EXCHANGE, 0, EXPLORER_RELAX},
	   {"W1' relaxed", "arena_tell_epoch", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
	   {"R2' relaxed", "slot_load_newest", NULL, EXPLORER_LOAD, 0, EXPLORER_RELAX},
	   {"R2 relaxed", "slot_load_root", NULL, EXPLORER_LOAD, 0, EXPLORER_RELAX},
	   {"R4 relaxed", "slot_unpin", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX})
