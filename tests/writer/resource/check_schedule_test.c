/* SPDX-License-Identifier: Apache-2.0 */
/* When a resource is compared with the server, and what is counted. */
#include "tests/room.h"
#include "tests/support/source_fixture.h"
#include "writer/resource/check_schedule.h"

struct scheduled {
	struct source_fixture *fx;
	struct check_schedule schedule;
	bool up_to_date;
	unsigned asked, differs;
};

static int
begin(void *context, consistency_done_fn *on_done, void *to, struct consistency_check **ret)
{
	struct scheduled *t = context;

	t->asked++;
	if (!t->up_to_date)
		return -EAGAIN;
	return consistency_check_start(&t->fx->lister_watcher, t->fx->store->store, &t->fx->store->pods,
				       on_done, to, ret);
}

static void
differs(void *context)
{
	struct scheduled *t = context;

	t->differs++;
	check_schedule_stop(&t->schedule);
}

/* One pod, a/x@5, at resourceVersion 10. Random numbers are the lowest. */
static int
set_up(void **state)
{
	struct scheduled *t = calloc(1, sizeof(*t));

	if (!t)
		return -1;
	t->fx = source_fixture_new(0);
	t->up_to_date = true;
	assert_int_equal(store_fixture_put(t->fx->store, pod("a/x", 5)), 0);
	store_set_version(t->fx->store->store, t->fx->store->pods, "10", 2);
	t->schedule.name = "pods";
	t->schedule.clock = &t->fx->clock.clock;
	t->schedule.owner = (struct check_schedule_owner){begin, differs, t};
	t->fx->clock.chance = 0;
	*state = t;
	return 0;
}

static void
end_world(struct scheduled *t)
{
	check_schedule_done(&t->schedule);
	source_fixture_free(t->fx);
	free(t);
}
TEAR_DOWN(tear_down, end_world)

/* After so many ms, so many checks have begun. */
static void
assert_asked_after(struct scheduled *t, uint64_t ms, unsigned asked)
{
	virtual_clock_advance(&t->fx->clock, ms);
	assert_int_equal(t->asked, asked);
}

#define TEST(name) TEST_CASE_OF(struct scheduled *t, set_up, tear_down, name)

/* Without a period no check runs. The first comes within a period, the next a period after its end. */
TEST(a_check_comes_once_a_period)
{
	assert_asked_after(t, 1000000, 0);
	t->fx->clock.chance = 30000;
	check_schedule_set(&t->schedule, 100000);
	assert_asked_after(t, 29999, 0);
	assert_asked_after(t, 1, 1);
	assert_asked_after(t, 500000, 1); /* the server takes its time */
	t->fx->clock.chance = 0;
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
	assert_int_equal(t->schedule.checks, 1);
	assert_int_equal(t->schedule.inconclusive, 0);
	assert_asked_after(t, 89999, 1); /* less a tenth */
	assert_asked_after(t, 1, 2);
	t->fx->clock.chance = UINT32_MAX;
	server_answer(t->fx, 410, "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}");
	assert_int_equal(t->schedule.inconclusive, 1);
	assert_asked_after(t, 109999, 2); /* and a tenth */
	assert_asked_after(t, 1, 3);
	assert_int_equal(t->differs, 0);
	check_schedule_set(&t->schedule, 0);
	assert_null(t->schedule.check);
	assert_asked_after(t, 1000000, 3);
}

/* Content that is not up to date is checked again soon, and counts nothing. */
TEST(a_check_waits_until_content_is_up_to_date)
{
	t->up_to_date = false;
	check_schedule_set(&t->schedule, 3600000);
	assert_asked_after(t, 0, 1);
	assert_asked_after(t, 5000, 6);
	assert_int_equal(t->schedule.checks, 0);
	t->up_to_date = true;
	virtual_clock_advance(&t->fx->clock, 1000);
	assert_non_null(t->schedule.check);
	assert_asked_after(t, 100000, 7);
}

/* Differences are counted, and reported once a check. */
TEST(differences_are_reported)
{
	check_schedule_set(&t->schedule, 1000);
	virtual_clock_advance(&t->fx->clock, 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/y", 5), pod("a/z", 6), NULL));
	assert_int_equal(t->differs, 1);
	assert_int_equal(t->schedule.missing, 2);
	assert_int_equal(t->schedule.extra, 1);
	assert_int_equal(t->schedule.different, 0);
	virtual_clock_advance(&t->fx->clock, 1000);
	assert_non_null(t->schedule.check);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 6), NULL));
	assert_int_equal(t->differs, 2);
	assert_int_equal(t->schedule.different, 1);
	assert_int_equal(t->schedule.checks, 2);
}

/* An abandoned check cancels its request. The next check comes a period later. */
TEST(an_abandoned_check_is_followed_by_another)
{
	check_schedule_set(&t->schedule, 10000);
	virtual_clock_advance(&t->fx->clock, 0);
	assert_non_null(t->schedule.check);
	diary(t->fx);
	check_schedule_stop(&t->schedule);
	assert_string_equal(diary(t->fx), "CANCEL; ");
	assert_int_equal(t->schedule.checks, 0);
	virtual_clock_advance(&t->fx->clock, 9000);
	assert_non_null(t->schedule.check);
}
