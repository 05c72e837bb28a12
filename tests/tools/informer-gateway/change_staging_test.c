/* SPDX-License-Identifier: Apache-2.0 */
/* Staging: commits enter the log as a whole, in order of RVs, or are reported as out of order. */
#include "tests/room.h"
#include "tests/tools/informer-gateway/served_objects.h"
#include "tools/informer-gateway/history/change_staging.h"

static struct gw_staging staging;
static uint64_t seq;

static int
tear_down(void **state)
{
	gw_staging_done(&staging);
	return logged_tear_down(state);
}

static void
update(const char *name, uint64_t rv)
{
	gw_staging_put(&staging, pod_change(name, "n1", "n1", rv), ++seq, false);
}

static void
lose(const char *name, uint64_t last_rv)
{
	gw_staging_put(&staging, pod_change(name, "n1", NULL, last_rv), ++seq, true);
}

static int
release(struct logged *w, uint64_t up_to, uint64_t rv)
{
	return gw_staging_release(&staging, up_to, rv, &w->log, &w->interests);
}

/* The log's changes, as "a104 -b105 @110". */
static const char *
logged(struct logged *w)
{
	static char text[500];
	size_t length = 0;

	for (uint64_t at = w->log.first; at < w->log.next; at++) {
		const struct api_event *change = gw_change_log_at(&w->log, at);

		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s%u%s ",
					   change->change == API_DELETED ? "-" : "", change->object->key + 2,
					   (unsigned)change->rv, change->again ? "!" : "");
	}
	snprintf(text + length, sizeof(text) - length, "@%u", (unsigned)w->log.told);
	return text;
}

#define TEST(name) TEST_CASE_OF(struct logged *w, logged_set_up, tear_down, name)

/* Changes up to the released seq enter the log. Later ones wait. */
TEST(changes_are_released_up_to_a_seq)
{
	update("d/a", 104);
	update("d/b", 105);
	update("d/a", 106);
	assert_int_equal(release(w, 2, 105), 0);
	assert_string_equal(logged(w), "a104 b105 @105");
	assert_int_equal(staging.count, 1);
	assert_int_equal(release(w, UINT64_MAX, 110), 0);
	assert_string_equal(logged(w), "a104 b105 a106 @110");
	assert_int_equal(staging.count, 0);
	assert_int_equal(staging.bytes, 0);
}

TEST(all_changes_wait_while_the_rv_is_below_one_of_them)
{
	update("d/a", 104);
	update("d/b", 108);
	assert_int_equal(release(w, UINT64_MAX, 107), -EAGAIN);
	assert_string_equal(logged(w), "@100");
	assert_int_equal(staging.count, 2);
	assert_int_equal(release(w, UINT64_MAX, 108), 0);
	assert_string_equal(logged(w), "a104 b108 @108");
}

/* A deletion without an RV takes the RV of the change before it. */
TEST(a_deletion_without_an_rv_takes_the_previous_rv)
{
	lose("d/a", 90);
	lose("d/b", 91);
	update("d/x", 120);
	update("d/b", 110);
	lose("d/x", 120);
	update("d/b", 130);
	assert_int_equal(release(w, UINT64_MAX, 140), 0);
	assert_string_equal(logged(w), "-a100! -b100! b110 x120 -x120! b130 @140");
}

/* A change that does not follow the log, and an RV that falls, are reported and dropped. */
TEST(changes_out_of_order_are_reported)
{
	gw_change_log_tell(&w->log, 110);
	update("d/a", 110);
	assert_int_equal(release(w, UINT64_MAX, 120), -ESTALE);
	assert_int_equal(staging.count, 0);
	lose("d/a", 90);
	update("d/a", 105);
	assert_int_equal(release(w, UINT64_MAX, 120), -ESTALE);
	assert_int_equal(release(w, UINT64_MAX, 109), -ESTALE);
	update("d/b", 130);
	lose("d/a", 90);
	update("d/a", 125);
	assert_int_equal(release(w, UINT64_MAX, 140), -ESTALE);
	lose("d/a", 90);
	assert_int_equal(release(w, UINT64_MAX, 110), 0);
	assert_string_equal(logged(w), "-a110! @110");
}

/* With nothing staged, an RV moves the log's end. */
TEST(an_rv_alone_moves_the_end)
{
	assert_int_equal(release(w, UINT64_MAX, 150), 0);
	assert_string_equal(logged(w), "@150");
}
