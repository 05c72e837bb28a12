/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader goes to sleep while the writer commits (PROTOCOLS.md, Armed): it never sleeps over what came. The
 * explorer ends a history in which all sleep.
 */
#include "tests/explorer/explorer.h"
#include "tests/explorer/pair.h"
#include "tests/room.h"

static struct informer_moment before;

static void
commit(void)
{
	store_set_version(pair.store, pair.pods, "201", 3);
	explorer_claim(store_commit(pair.store) == 0, "no commit");
}

static void
wait_for_commit(void)
{
	explorer_claim(informer_wait_commit(pair.inf, &before, -1) == 0, "the wait fails");
}

static const struct explorer_program waiting = {
	.name = "wait and commit",
	.threads = {{"reader", wait_for_commit}, {"writer", commit}},
	.preemptions = 4,
	.old_values = 3,
};

static const struct explorer_program two_waiting = {
	.name = "two wait and commit",
	.threads = {{"reader", wait_for_commit}, {"other", wait_for_commit}, {"writer", commit}},
	.preemptions = 2,
	.old_values = 1,
};

static int
set_up(void **state)
{
	struct informer_snapshot snap;

	(void)state;
	pair_begin(&pair);
	if (informer_begin(pair.inf, &snap) < 0)
		return -1;
	informer_snapshot_moment(&snap, &before);
	informer_end(&snap);
	return 0;
}

#define TEST(name) TEST_CASE_IN(set_up, pair_tear_down, name)

TEST(nobody_sleeps_over_a_commit)
{
	explorer_expect_good(&waiting);
}

TEST(two_waiters_both_hear)
{
	explorer_expect_good(&two_waiting);
}

TEST(weaker_orders_are_found)
{
	static const struct explorer_fault faults[] = {
		{"the writer's fence dropped", "slot_fence", "broker_wake", EXPLORER_FENCE, 0, EXPLORER_DROP},
		{"armed is not set", "arm", NULL, EXPLORER_EXCHANGE, 0, EXPLORER_DROP},
		{0},
	};

	explorer_expect_found(&waiting, faults);
}
