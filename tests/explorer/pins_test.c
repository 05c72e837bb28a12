/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader pins a root and reads while the writer commits, scans and reuses memory (PROTOCOLS.md, Pin):
 * nothing that a pin protects is written. That is what the explorer looks for by itself: a byte that is read
 * and overwritten in no order.
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
		steps_commit(&pair, version);
	}
}

static void
read_once(void)
{
	steps_read(&pair);
}

static const struct explorer_program pinning = {
	.name = "pin and reuse",
	.threads = {{"reader", read_once}, {"writer", commit_and_reuse}},
	.preemptions = 3,
	.old_values = 2,
};

#define TEST(name) TEST_CASE_IN(pair_set_up, pair_tear_down, name)

TEST(nothing_that_is_pinned_is_reused)
{
	explorer_expect_good(&pinning);
}

TEST(weaker_orders_are_found)
{
	static const struct explorer_fault faults[] = {
		{"W1 relaxed", "publish", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
		{"W1 without its fence", "slot_fence", NULL, EXPLORER_FENCE, 0, EXPLORER_DROP},
		{"R1 without its fence", "slot_claim", NULL, EXPLORER_EXCHANGE, 0, EXPLORER_RELAX},
		{"W1' relaxed", "arena_tell_epoch", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
		{"R2' relaxed", "slot_load_newest", NULL, EXPLORER_LOAD, 0, EXPLORER_RELAX},
		{"R2 relaxed", "slot_load_root", NULL, EXPLORER_LOAD, 0, EXPLORER_RELAX},
		{"R4 relaxed", "slot_unpin", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
		{0},
	};

	explorer_expect_found(&pinning, faults);
}
