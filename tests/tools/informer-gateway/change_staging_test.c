/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging: commits go into the log as a whole, in order of RVs, or are told to be out of order.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "tests/tools/informer-gateway/served_objects.h"
#include "tools/informer-gateway/change_staging.h"

struct world {
	struct gw_staging staging;
	struct gw_change_log log;
	struct gw_interests interests;
	uint64_t seq;
	char text[500];
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	gw_change_log_init(&w->log, 1u << 20);
	gw_interests_init(&w->interests, &w->log);
	gw_change_log_begin(&w->log, 100);
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	gw_staging_done(&w->staging);
	gw_interests_done(&w->interests);
	gw_change_log_done(&w->log);
	free(w);
	return 0;
}

static void
update(struct world *w, const char *name, uint64_t rv)
{
	gw_staging_put(&w->staging, pod_change(name, "n1", "n1", rv), ++w->seq, false);
}

static void
lose(struct world *w, const char *name, uint64_t last_rv)
{
	gw_staging_put(&w->staging, pod_change(name, "n1", NULL, last_rv), ++w->seq, true);
}

static int
release(struct world *w, uint64_t seq, uint64_t rv)
{
	return gw_staging_release(&w->staging, seq, rv, &w->log, &w->interests);
}

/* What is in the log: "a104 -b105 @110". */
static const char *
logged(struct world *w)
{
	size_t length = 0;

	for (uint64_t at = w->log.first; at < w->log.next; at++) {
		const struct gw_change *change = gw_change_log_at(&w->log, at);

		length += (size_t)snprintf(w->text + length, sizeof(w->text) - length, "%s%s%u%s ",
					   change->change == API_DELETED ? "-" : "", change->object->key + 2,
					   (unsigned)change->rv, change->again ? "!" : "");
	}
	snprintf(w->text + length, sizeof(w->text) - length, "@%u", (unsigned)w->log.told);
	return w->text;
}

/* What was told is released up to a seq, and what came later waits. */
static void
released_up_to_a_seq(void **state)
{
	struct world *w = *state;

	update(w, "d/a", 104);
	update(w, "d/b", 105);
	update(w, "d/a", 106);
	assert_int_equal(release(w, 2, 105), 0);
	assert_string_equal(logged(w), "a104 b105 @105");
	assert_int_equal(w->staging.count, 1);
	assert_int_equal(release(w, UINT64_MAX, 110), 0);
	assert_string_equal(logged(w), "a104 b105 a106 @110");
	assert_int_equal(w->staging.count, 0);
	assert_int_equal(w->staging.bytes, 0);
}

/* As long as the RV has not reached one of them, all wait. */
static void
all_wait_for_the_rv(void **state)
{
	struct world *w = *state;

	update(w, "d/a", 104);
	update(w, "d/b", 108);
	assert_int_equal(release(w, UINT64_MAX, 107), -EAGAIN);
	assert_string_equal(logged(w), "@100");
	assert_int_equal(w->staging.count, 2);
	assert_int_equal(release(w, UINT64_MAX, 108), 0);
	assert_string_equal(logged(w), "a104 b108 @108");
}

/* Deletions without an RV come last, at the commit's; those whose name is taken anew right before that. */
static void
deletions_without_an_rv_find_their_places(void **state)
{
	struct world *w = *state;

	lose(w, "d/a", 90);
	lose(w, "d/b", 91);
	lose(w, "d/c", 92);
	update(w, "d/x", 120);
	update(w, "d/b", 110);
	update(w, "d/c", 105);
	update(w, "d/b", 130);
	assert_int_equal(release(w, UINT64_MAX, 140), 0);
	assert_string_equal(logged(w), "-c100! c105 -b105! b110 x120 b130 -a140! @140");
}

/* What does not go on from what was told, and an RV that falls, are said so, and dropped. */
static void
what_is_out_of_order_is_said_so(void **state)
{
	struct world *w = *state;

	gw_change_log_tell(&w->log, 110);
	update(w, "d/a", 110);
	assert_int_equal(release(w, UINT64_MAX, 120), -ESTALE);
	assert_int_equal(w->staging.count, 0);
	lose(w, "d/a", 90);
	update(w, "d/a", 105);
	assert_int_equal(release(w, UINT64_MAX, 120), -ESTALE);
	assert_int_equal(release(w, UINT64_MAX, 109), -ESTALE);
	lose(w, "d/a", 90);
	assert_int_equal(release(w, UINT64_MAX, 110), 0);
	assert_string_equal(logged(w), "-a110! @110");
}

/* With nothing staged an RV moves on what was told. */
static void
nothing_but_an_rv(void **state)
{
	struct world *w = *state;

	assert_int_equal(release(w, UINT64_MAX, 150), 0);
	assert_string_equal(logged(w), "@150");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	TEST(released_up_to_a_seq),
	TEST(all_wait_for_the_rv),
	TEST(deletions_without_an_rv_find_their_places),
	TEST(what_is_out_of_order_is_said_so),
	TEST(nothing_but_an_rv),
};
TEST_GROUP(tests, NULL, NULL);
