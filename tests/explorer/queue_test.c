/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler has an event loop, and a writer's commits push into its queue, overflow it and reopen it
 * (PROTOCOLS.md, Queue). The handler is told states in order, and the last one. No thread sleeps through an
 * event. What an entry refers to is not reused while it is read.
 */
#include "reader-lib/attach/mapping.h"
#include "tests/explorer/explorer.h"
#include "tests/explorer/steps.h"
#include "tests/room.h"

static unsigned told, commits;

/* The pod's version is the number of its commit. */
static void
on_state(const struct informer_object *o)
{
	unsigned version = steps_version(o);

	explorer_note("told %u", version);
	explorer_claim(version > told, "version %u is told after %u", version, told);
	told = version;
}

static void
change(void)
{
	for (unsigned i = 2; i < commits; i++)
		steps_replace("first", i);
	/* the last commit finds room, and no later commit would tell of it */
	fan_out_set_limits(pair.writer->fan_out, FAN_OUT_LIMITS);
	steps_replace("first", commits);
}

static void
hear_all(void)
{
	steps_hear(&told, commits);
}

/* The reader was woken before, so its slot is not armed; one more commit follows. */
static void
one_commit(void)
{
	commits = 2;
	pair.inf->current->slot->armed = 0;
}

static void
overflow_at_each(void)
{
	commits = 3;
	fan_out_set_limits(pair.writer->fan_out, (struct fan_out_limits){64, 64, 1, UINT64_MAX});
}

static const struct explorer_program keeping_up = {
	.name = "queue: room enough",
	.begin = one_commit,
	.threads = {{"reader", hear_all}, {"writer", change}},
	.preemptions = 2,
	.old_values = 2,
};

static const struct explorer_program overflowing = {
	.name = "queue: overflow and reopening",
	.begin = overflow_at_each,
	.threads = {{"reader", hear_all}, {"writer", change}},
	.preemptions = 2,
	.old_values = 1,
};

static int
set_up(void **state)
{
	struct informer_handler_options options = {.queue_entries = 64};

	(void)state;
	steps_listen(&options, on_state);
	pair_begin();
	steps_replace("first", 1);
	if (informer_add_handler(pair.inf, &options, NULL) < 0)
		return -1;
	pair_drain();
	return told == 1 ? 0 : -1;
}

#define TEST(name) TEST_CASE_IN(set_up, pair_tear_down, name)

TEST_GOOD(each_change_is_told, keeping_up)
TEST_GOOD(overflows_lose_nothing, overflowing)

TEST_FOUND(weaker_orders_are_found_with_room, keeping_up,
	   {"P4: the reader's fence dropped", "slot_fence", "arm_for_handlers", EXPLORER_FENCE, 0,
	    EXPLORER_DROP})

TEST_FOUND(weaker_orders_are_found_at_overflows, overflowing,
	   {"P2: head relaxed", "ring_out_publish", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
	   {"P4: the writer's fence dropped", "slot_fence", "broker_wake", EXPLORER_FENCE, 0, EXPLORER_DROP})
