/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader whose informerd was replaced by one of another layout reads on from the arena that it has, and its
 * log says once an hour which side to upgrade to which release.
 */
#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/dispatch.h"
#include "tests/support/test_clock.h"

#define HOUR_MS 3600000u

static unsigned refusals;
static char refusal[512];

static void
note(void *context, enum informer_log_level level, const char *message)
{
	(void)context;
	if (level > INFORMER_LOG_WARNING || !strstr(message, "layout"))
		return;
	refusals++;
	snprintf(refusal, sizeof(refusal), "%s", message);
}

static void
write_major(struct broker_fixture *fx, void *context)
{
	fx->store->arena->header->layout_major = *(uint16_t *)context;
}

/* Begin a new arena, of this layout. */
static void
replace_informerd(struct broker_fixture *fx, uint16_t major)
{
	broker_fixture_adopt(fx);
	broker_fixture_do(fx, write_major, &major);
}

/* Let the time pass, with the reader's attempts in it. */
static void
pass(struct broker_fixture *fx, struct informer *inf, unsigned attempts)
{
	for (unsigned i = 0; i < attempts; i++) {
		uint64_t refused = broker_fixture_stats(fx).refused;

		while (broker_fixture_stats(fx).refused == refused) {
			test_clock_move(1000);
			dispatch_turn(inf);
		}
	}
}

static bool
reads(struct informer *inf, const char *name)
{
	struct informer_resource *pods;
	struct informer_snapshot snap;
	struct informer_object pod;
	bool found;

	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	if (informer_begin(inf, &snap) == INFORMER_E_NOT_READY)
		return false;
	found = informer_get_z(&snap, pods, "default", name, &pod) == 0;
	informer_end(&snap);
	return found;
}

TEST_CASE_IN(broker_fixture_set_up, broker_fixture_tear_down,
	     a_reader_reads_on_and_says_once_an_hour_what_to_upgrade)
{
	struct informer_options options = {.size = sizeof(options), .log = note};
	struct informer_status status = {.size = sizeof(status)};
	struct broker_fixture *fx = *state;
	struct informer *inf;

	broker_fixture_keep_generations(fx);
	broker_fixture_start(fx);
	broker_fixture_pod(fx, "before");
	options.socket_path = fx->socket;
	assert_int_equal(informer_attach(&options, &inf), 0);
	broker_fixture_wait_answer(inf);
	assert_true(reads(inf, "before"));

	replace_informerd(fx, LAYOUT_MAJOR + 1);
	broker_fixture_pod(fx, "after");
	pass(fx, inf, 5);
	assert_int_equal(refusals, 1);
	assert_non_null(strstr(refusal, "it has layout 2.0, this program knows 1.0: upgrade the program "
					"(its libinformer); informerd is release " INFORMER_VERSION));
	assert_true(reads(inf, "before"));
	assert_false(reads(inf, "after"));
	assert_int_equal(informer_status(inf, &status), 0);
	assert_true(status.attached && status.stale && !status.connected);
	assert_int_equal(status.failure, INFORMER_E_LAYOUT);

	test_clock_move(HOUR_MS);
	pass(fx, inf, 5);
	assert_int_equal(refusals, 2);

	/* the old release is back, which frees what was set aside; then the new one again: that is news */
	replace_informerd(fx, LAYOUT_MAJOR);
	broker_fixture_pod(fx, "again");
	while (!reads(inf, "again")) {
		test_clock_move(1000);
		dispatch_turn(inf);
	}
	replace_informerd(fx, LAYOUT_MAJOR + 1);
	pass(fx, inf, 5);
	assert_int_equal(refusals, 3);
	informer_detach(inf);
}
