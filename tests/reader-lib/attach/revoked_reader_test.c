/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader that is revoked for what it holds gets the reason, and its calls say EXPIRED. informerd keeps
 * track of what the reader may still read. The reader attaches again by itself once it has let go.
 */
#include "tests/room.h"
#include "tests/support/dispatch.h"
#include "tests/support/reader_world.h"
#include "tests/support/test_clock.h"
#include "writer/serve/broker_internal.h"

static char said[8][256];
static unsigned lines;

static void
note(void *context, enum informer_log_level level, const char *message)
{
	(void)context;
	if (level == INFORMER_LOG_WARNING && lines < 8)
		snprintf(said[lines++], sizeof(said[0]), "%s", message);
}

static void
buried(struct broker_fixture *fx, void *context)
{
	struct store_stats stats;

	store_reclaim(fx->store->store);
	store_stats(fx->store->store, &stats);
	*(uint64_t *)context = stats.buried_bytes;
}

static uint64_t
buried_bytes(struct broker_fixture *fx)
{
	uint64_t bytes = 0;

	broker_fixture_do(fx, buried, &bytes);
	return bytes;
}

/* Turn the reader until it was refused once more. */
static void
try_once_more(struct broker_fixture *fx, struct informer *inf)
{
	uint64_t refused = broker_fixture_stats(fx).refused;

	while (broker_fixture_stats(fx).refused == refused) {
		test_clock_move(1);
		dispatch_turn(inf);
	}
}

TEST_CASE_IN(broker_fixture_set_up, broker_fixture_tear_down, a_revoked_reader_returns_when_it_has_let_go)
{
	struct informer_options options = {.size = sizeof(options), .log = note, .reader_name = "held"};
	struct broker_fixture *fx = *state;
	struct informer_snapshot held, next;
	struct informer_resource *pods;
	struct informer_object pod;
	struct informer *inf;
	const char *uid;
	char copy[64];
	size_t length;

	fx->options.barred_ms = 50;
	broker_fixture_start(fx);
	for (unsigned i = 0; i < 200; i++)
		broker_fixture_pod(fx, i ? "b" : "a");
	options.socket_path = fx->socket;
	assert_int_equal(informer_attach(&options, &inf), 0);
	broker_fixture_wait_answer(inf);
	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_begin(inf, &held), 0);
	assert_int_equal(informer_get_z(&held, pods, "default", "a", &pod), 0);
	assert_int_equal(informer_object_uid(&pod, &uid, &length), 0);
	assert_in_range(length, 1, sizeof(copy));
	memcpy(copy, uid, length);

	broker_fixture_revoke_oldest(fx);
	assert_int_equal(informer_get_z(&held, pods, "default", "a", &pod), INFORMER_E_EXPIRED);
	for (unsigned i = 0; i < 200; i++)
		broker_fixture_pod(fx, i % 2 ? "a" : "b");
	/* the reader asks to be let in; its slot stays, because the reader may still read there */
	for (unsigned i = 0; i < 5; i++)
		try_once_more(fx, inf);
	assert_int_equal(lines, 1);
	assert_non_null(strstr(said[0], "revoked: it held a snapshot for 61 s"));
	assert_int_equal(informer_begin(inf, &next), INFORMER_E_NOT_READY);
	assert_int_equal(broker_fixture_stats(fx).readers, 1);
	assert_true(buried_bytes(fx) > 0);
	for (size_t i = 0; i < length; i++)
		assert_true(uid[i] == copy[i] || uid[i] == '\0');

	informer_end(&held);
	while (informer_begin(inf, &next) == INFORMER_E_NOT_READY)
		test_clock_move(1);
	assert_int_equal(informer_get_z(&next, pods, "default", "a", &pod), 0);
	assert_int_equal(informer_object_uid(&pod, &uid, &length), 0);
	assert_int_equal(buried_bytes(fx), 0);
	informer_end(&next);
	informer_detach(inf);
}

static void
refuse_wakes(struct broker_fixture *fx, void *context)
{
	(void)context;
	broker_refuse_wakes(fx->broker->clients, 1000, "it is slow to wake");
}

/* A reader whose wake-ups take too long is told so once, and is refused while its user is barred. */
TEST_CASE_IN(broker_fixture_set_up, broker_fixture_tear_down, a_reader_that_is_slow_to_wake_is_told_why)
{
	struct informer_options options = {.size = sizeof(options), .log = note, .reader_name = "slow"};
	struct broker_fixture *fx = *state;
	struct informer *inf;

	fx->options.barred_ms = 60000;
	broker_fixture_start(fx);
	broker_fixture_pod(fx, "a");
	options.socket_path = fx->socket;
	assert_int_equal(informer_attach(&options, &inf), 0);
	broker_fixture_wait_answer(inf);
	broker_fixture_do(fx, refuse_wakes, NULL);
	for (unsigned i = 0; i < 3; i++)
		try_once_more(fx, inf);
	assert_int_equal(lines, 1);
	assert_non_null(strstr(said[0], "woken no more: it is slow to wake"));
	informer_detach(inf);
}
