/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread reads while another takes the next generation in and unmaps the old arena (PROTOCOLS.md, Move):
 * nobody reads what is no longer mapped, and each read is of one arena.
 */
#include "tests/explorer/explorer.h"
#include "tests/explorer/steps.h"
#include "tests/room.h"

static void
read_once(void)
{
	steps_read(&pair);
}

/* WELCOME waits in the socket. */
static void
take_in(void)
{
	struct informer_status status = {.size = sizeof(status)};

	informer_dispatch(pair.inf);
	/* a reader holds the old one yet, or held it */
	informer_dispatch(pair.inf);
	explorer_claim(informer_status(pair.inf, &status) == 0 && status.attaches == 2, "not moved");
}

static const struct explorer_program moving = {
	.name = "read and move",
	.threads = {{"reader", read_once}, {"dispatch", take_in}},
	.preemptions = 2,
	.old_values = 2,
};

static const struct explorer_program two_reading = {
	.name = "two read, and move",
	.threads = {{"reader", read_once}, {"other", read_once}, {"dispatch", take_in}},
	.preemptions = 2,
	.old_values = 0,
};

static int
set_up(void **state)
{
	(void)state;
	pair_begin(&pair);
	pair_next_writer(&pair);
	return 0;
}

#define TEST(name) TEST_CASE_IN(set_up, pair_tear_down, name)

TEST(nobody_reads_what_is_unmapped)
{
	explorer_expect_good(&moving);
	explorer_expect_good(&two_reading);
}

TEST(weaker_orders_are_found)
{
	static const struct explorer_fault faults[] = {
		{"R0 relaxed", "claim", NULL, EXPLORER_LOAD, 1, EXPLORER_RELAX},
		{"R1' dropped", "claim", NULL, EXPLORER_LOAD, 2, EXPLORER_REPEAT},
		{"R1 without its fence", "slot_claim", NULL, EXPLORER_EXCHANGE, 0, EXPLORER_RELAX},
		{"C2 without its fence", "slot_fence", "mapping_reap", EXPLORER_FENCE, 0, EXPLORER_DROP},
		{"C2: cells loaded relaxed", "mapping_pins", NULL, EXPLORER_LOAD, 0, EXPLORER_RELAX},
		{"R4 relaxed", "slot_unpin", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
		{0},
	};

	explorer_expect_found(&moving, faults);
}
