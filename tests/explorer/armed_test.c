/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader goes to sleep while the writer commits (PROTOCOLS.md, Armed). The reader never sleeps through a
 * commit: the explorer reports a history in which all threads sleep.
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
	pair_begin();
	if (informer_begin(pair.inf, &snap) < 0)
		return -1;
	informer_snapshot_moment(&snap, &before);
	informer_end(&snap);
	return 0;
}

#define TEST(name) TEST_CASE_IN(set_up, pair_tear_down, name)

TEST_GOOD(a_waiting_reader_wakes_for_a_commit, waiting)
TEST_GOOD(two_waiting_readers_both_wake, two_waiting)

TEST_FOUND(weaker_orders_are_found, waiting,
	   {"the writer's fence dropped", "slot_fence", "broker_wake", EXPLORER_FENCE, 0, EXPLORER_DROP},
	   {"armed is not set", "arm", NULL, EXPLORER_EXCHANGE, 0, EXPLORER_DROP})
