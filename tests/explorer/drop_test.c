/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker hangs up on a reader that begins, reads and ends a snapshot, while the writer commits and reuses
 * memory (PROTOCOLS.md, Drop). A call is right, or says EXPIRED or NOT_READY. Memory that the reader reads is
 * not reused.
 */
#include "tests/explorer/explorer.h"
#include "tests/explorer/steps.h"
#include "tests/room.h"
#include "writer/serve/broker_internal.h"

static void
hang_up(void)
{
	steps_commit("201");
	client_hang_up(pair.writer->broker->clients);
	steps_commit("202");
	/* a reader that has let go by now loses the slot */
	explorer_ring();
	steps_commit("203");
}

static void
read_once(void)
{
	struct informer_snapshot snap;
	struct informer_moment moment;
	int r = informer_begin(pair.inf, &snap);

	if (r == INFORMER_E_NOT_READY)
		return;
	explorer_claim(r == 0, "begin says %s", informer_error_name(r));
	r = informer_snapshot_moment(&snap, &moment);
	explorer_claim(r == 0 || r == INFORMER_E_EXPIRED, "moment says %s", informer_error_name(r));
	explorer_claim(informer_resource_count(&snap) == 1, "no resource");
	informer_end(&snap);
}

static const struct explorer_program dropping = {
	.name = "read and hang up",
	.threads = {{"reader", read_once}, {"writer", hang_up}},
	.preemptions = 3,
	.old_values = 1,
};

#define TEST(name) TEST_CASE_IN(pair_set_up, pair_tear_down, name)

TEST_GOOD(nothing_is_read_through_a_slot_that_was_given_up, dropping)

TEST_FOUND(weaker_orders_are_found, dropping,
	   {"D1 dropped", "slot_close", NULL, EXPLORER_STORE, 0, EXPLORER_DROP},
	   {"R1' and R2'' dropped", "slot_is_closed", NULL, EXPLORER_LOAD, 0, EXPLORER_REPEAT},
	   {"R1 without its fence", "slot_claim", NULL, EXPLORER_EXCHANGE, 0, EXPLORER_RELAX})
