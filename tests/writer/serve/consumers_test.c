/* SPDX-License-Identifier: Apache-2.0 */
/* Named consumers: whose acknowledgement counts, which name is evicted, and what survives a daemon. */
#include <cjson/cJSON.h>
#include <time.h>

#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "tests/support/generations.h"
#include "tests/support/store_fixture.h"
#include "writer/serve/consumers.h"

#define DAY (24ull * 3600 * 1000000000u)

struct world {
	struct generations g;
	struct store_fixture *fx;
	struct consumers *consumers;
	struct queue_cursor *cursors;	/* 16 of them; readers have theirs in slots */
	uint8_t lineage[16];
	uint64_t seq;			/* the result of the last sit */
	struct consumers_limits limits;
	uint64_t wall_ns, lived_ns;	/* offsets of the clocks */
};

static uint64_t
now(void)
{
	return time_ns(CLOCK_REALTIME);
}

static bool
poll_now(struct world *w)
{
	return consumers_poll(w->consumers, now() + w->wall_ns, time_ns(CLOCK_MONOTONIC) + w->lived_ns);
}

/* Let time pass; the daemon polls twice a minute. */
static void
live(struct world *w, uint64_t ns)
{
	const uint64_t step = 30ull * 1000000000u;

	for (uint64_t lived = 0; lived < ns; lived += step) {
		w->wall_ns += step;
		w->lived_ns += step;
		poll_now(w);
	}
}

static void
begin(struct world *w)
{
	w->fx = generations_store(&w->g, NULL);
	assert_int_equal(consumers_new(w->fx->store, w->limits, &w->consumers), 0);
}

static void
end(struct world *w)
{
	consumers_free(w->consumers);
	store_fixture_free(w->fx);
	memset(w->cursors, 0, 16 * sizeof(*w->cursors));
}

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->cursors = aligned_alloc(64, 16 * sizeof(*w->cursors));
	memset(w->cursors, 0, 16 * sizeof(*w->cursors));
	w->limits = CONSUMERS_LIMITS;
	generations_begin(&w->g);
	begin(w);
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	end(w);
	generations_end(&w->g);
	free(w->cursors);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

static void
limit(struct world *w, struct consumers_limits limits)
{
	w->limits = limits;
	consumers_free(w->consumers);
	assert_int_equal(consumers_new(w->fx->store, limits, &w->consumers), 0);
}

/* Publish changes: seq rises by so many. */
static void
changes(struct world *w, unsigned count)
{
	static unsigned long version;

	for (unsigned i = 0; i < count; i++) {
		version++;
		assert_int_equal(store_fixture_putf(w->fx,
						    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\","
						    "\"uid\":\"u\",\"resourceVersion\":"
						    "\"%lu\"}}",
						    version),
				 0);
	}
	assert_int_equal(store_commit(w->fx->store), 0);
}

static int
sit(struct world *w, uid_t uid, const char *name, unsigned cursor, struct consumer_seat **ret)
{
	return consumers_sit(w->consumers, uid, name, strlen(name), &w->cursors[cursor], ret, w->lineage,
			     &w->seq);
}

static void
acknowledge(struct world *w, unsigned cursor, uint64_t seq)
{
	atomic_store(&w->cursors[cursor].acknowledged, seq);
}

/* Sit, acknowledge, leave. */
static void
visit(struct world *w, uid_t uid, const char *name, uint64_t seq)
{
	struct consumer_seat *seat;

	assert_true(sit(w, uid, name, 15, &seat) >= 0);
	acknowledge(w, 15, seq);
	consumers_leave(seat);
	acknowledge(w, 15, 0);
}

static bool
is_known(struct world *w, uid_t uid, const char *name)
{
	struct consumer_seat *seat;
	int r = sit(w, uid, name, 14, &seat);

	if (r >= 0)
		consumers_leave(seat);
	return r == 1;
}

/* The only published consumer; its acknowledgement is seq. */
static const struct consumer *
assert_shown(struct world *w, uint64_t seq)
{
	size_t count;
	const struct consumer *shown = store_consumers(w->fx->store, &count);

	assert_int_equal(count, 1);
	assert_int_equal(shown->seq, seq);
	return shown;
}

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* A new name has no cursor. A name with an acknowledgement resumes there, for the same user alone. */
TEST(a_consumer_resumes_at_its_acknowledgement)
{
	struct consumer_seat *seat, *other;
	uint8_t lineage[16];

	changes(w, 5);
	assert_int_equal(sit(w, 1000, "agent", 0, &seat), 0);
	acknowledge(w, 0, 3);
	consumers_leave(seat);
	assert_int_equal(sit(w, 1001, "agent", 1, &other), 0);
	assert_int_equal(sit(w, 1000, "agent", 1, &seat), 1);
	store_lineage(w->fx->store, lineage);
	assert_memory_equal(w->lineage, lineage, 16);
	assert_int_equal(w->seq, 3);
	consumers_leave(seat);
	consumers_leave(other);
	/* a name without acknowledgement leaves nothing; a name with the same beginning is another name */
	assert_false(is_known(w, 1001, "agent"));
	assert_false(is_known(w, 1000, "agen"));
	assert_false(is_known(w, 1000, "agents"));
	consumers_leave(NULL);
}

/* A second reader of a name is refused until the first leaves. */
TEST(a_consumer_has_one_reader)
{
	struct consumer_seat *first, *second = NULL;

	assert_int_equal(sit(w, 0, "a", 0, &first), 0);
	assert_int_equal(sit(w, 0, "a", 1, &second), -EBUSY);
	assert_null(second);
	consumers_leave(first);
	assert_int_equal(sit(w, 0, "a", 1, &second), 0);
	consumers_leave(second);
	assert_int_equal(sit(w, 0, "", 1, &second), -EINVAL);
}

/* An acknowledgement counts if it is higher and published; otherwise it is ignored. */
TEST(only_sensible_acknowledgements_count)
{
	static const uint64_t nonsense[] = {UINT64_MAX, 1ull << 63, 11, 0, 4, 3};
	struct consumer_seat *seat;

	changes(w, 10);
	sit(w, 1000, "agent", 0, &seat);
	assert_false(poll_now(w));
	acknowledge(w, 0, 4);
	assert_true(poll_now(w));
	assert_shown(w, 4);
	for (unsigned i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		acknowledge(w, 0, nonsense[i]);
		assert_false(poll_now(w));
	}
	/* 11 was not published; now it is */
	acknowledge(w, 0, 11);
	changes(w, 1);
	assert_true(poll_now(w));
	assert_shown(w, 11);
	consumers_leave(seat);
}

/* A committed acknowledgement is there for the next daemon, which has the same lineage. */
TEST(consumers_outlive_the_daemon)
{
	struct consumer_seat *seat;
	uint8_t lineage[16];

	changes(w, 7);
	store_lineage(w->fx->store, lineage);
	visit(w, 1000, "gone", 5);
	assert_int_equal(sit(w, 1001, "there", 0, &seat), 0);
	acknowledge(w, 0, 6);
	assert_true(poll_now(w));
	assert_int_equal(store_commit(w->fx->store), 0);
	acknowledge(w, 0, 7);	/* after the last commit: lost */
	end(w);
	begin(w);
	assert_int_equal(sit(w, 1000, "gone", 0, &seat), 1);
	assert_int_equal(w->seq, 5);
	assert_memory_equal(w->lineage, lineage, 16);
	consumers_leave(seat);
	assert_int_equal(sit(w, 1001, "there", 0, &seat), 1);
	assert_int_equal(w->seq, 6);
	consumers_leave(seat);
}

/* A user has a limit of names. The name absent longest is evicted, never an attached or a foreign name. */
TEST(names_are_capped_a_user)
{
	struct consumer_seat *a, *d, *e, *f;

	limit(w, (struct consumers_limits){3, 100, 7 * DAY});
	changes(w, 3);
	visit(w, 2000, "other", 1);
	sit(w, 1000, "a", 0, &a);
	acknowledge(w, 0, 1);
	visit(w, 1000, "b", 1);
	live(w, 60ull * 1000000000u);
	visit(w, 1000, "c", 1);
	assert_int_equal(sit(w, 1000, "d", 1, &d), 0); /* evicts b */
	assert_true(is_known(w, 1000, "c"));
	assert_int_equal(sit(w, 1000, "e", 2, &e), 0); /* evicts c */
	assert_int_equal(sit(w, 1000, "f", 3, &f), -EUSERS);
	consumers_leave(e);
	assert_false(is_known(w, 1000, "b"));
	assert_false(is_known(w, 1000, "c"));
	assert_true(is_known(w, 2000, "other"));
	consumers_leave(a);
	assert_true(is_known(w, 1000, "a"));
	consumers_leave(d);
}

/* A consumer that never acknowledged evicts no name. */
TEST(a_name_without_acknowledgement_evicts_none)
{
	struct consumer_seat *seat;

	limit(w, (struct consumers_limits){2, 100, 7 * DAY});
	changes(w, 3);
	visit(w, 1000, "a", 1);
	for (unsigned i = 0; i < 3; i++) {
		char name[2] = {(char)('x' + i), '\0'};

		assert_int_equal(sit(w, 1000, name, 0, &seat), 0);
		consumers_leave(seat);
	}
	assert_true(is_known(w, 1000, "a"));
}

/* A cursor of another lineage does not count here: any acknowledgement is higher. */
TEST(a_new_lineage_counts_anew)
{
	struct consumer old = {
		.uid = 1000, .name = "agent", .name_length = 5, .seq = 90, .last_seen_wall_ns = now()};
	struct consumer_seat *seat;
	uint8_t lineage[16];

	memset(old.lineage, 7, sizeof(old.lineage));
	assert_int_equal(store_set_consumers(w->fx->store, &old, 1), 0);
	limit(w, w->limits);
	changes(w, 5);
	assert_int_equal(sit(w, 1000, "agent", 0, &seat), 1);
	assert_int_equal(w->seq, 90);
	assert_memory_equal(w->lineage, old.lineage, 16);
	acknowledge(w, 0, 2);
	assert_true(poll_now(w));
	store_lineage(w->fx->store, lineage);
	assert_memory_equal(assert_shown(w, 2)->lineage, lineage, 16);
	consumers_leave(seat);
}

/* All users together have a limit of names. A user evicts its own names. */
TEST(names_are_capped_in_all)
{
	struct consumer_seat *seat;

	limit(w, (struct consumers_limits){3, 4, 7 * DAY});
	changes(w, 3);
	visit(w, 1000, "a", 1);
	visit(w, 1000, "b", 1);
	visit(w, 1000, "c", 1);
	visit(w, 2000, "d", 1);
	assert_int_equal(sit(w, 3000, "e", 0, &seat), -EUSERS);
	visit(w, 2000, "f", 1);
	assert_false(is_known(w, 2000, "d"));
	assert_true(is_known(w, 1000, "a"));
}

static size_t
known(struct world *w)
{
	size_t count;

	store_consumers(w->fx->store, &count);
	return count;
}

/* A name absent for too long is forgotten; an attached name is not. */
TEST(consumers_are_forgotten_by_age)
{
	struct consumer_seat *seat;
	const struct consumer *shown;

	changes(w, 3);
	visit(w, 1000, "old", 1);
	sit(w, 1000, "there", 0, &seat);
	acknowledge(w, 0, 1);
	assert_true(poll_now(w));
	live(w, 6 * DAY);
	assert_int_equal(known(w), 2);
	live(w, DAY + DAY / 8);
	shown = assert_shown(w, 1);
	assert_memory_equal(shown->name, "there", 5);
	/* and the attached name was seen then */
	assert_true(shown->last_seen_wall_ns > now() + 7 * DAY);
	consumers_leave(seat);
}

/* Only time in which a daemon ran counts: a clock that is set, or a machine that sleeps, ages no name. */
TEST(a_clock_that_jumps_ages_no_name)
{
	changes(w, 3);
	visit(w, 1000, "a", 1);
	poll_now(w);
	live(w, 6 * DAY);
	w->wall_ns += 1000 * DAY;
	assert_true(poll_now(w)); /* and it is published at once */
	w->wall_ns -= 2000 * DAY;
	assert_true(poll_now(w));
	/* of a daemon that is stopped and resumed, a minute counts */
	w->wall_ns += 8 * DAY;
	w->lived_ns += 8 * DAY;
	assert_true(poll_now(w));
	assert_int_equal(known(w), 1);
	live(w, DAY - DAY / 8);
	assert_int_equal(known(w), 1);
	live(w, DAY / 4);
	assert_int_equal(known(w), 0);
}

/* Roots have the real clock's time: correct what is shown by the difference of the clocks. */
static void
commit_in_its_time(struct world *w)
{
	struct consumer shown = *assert_shown(w, 1);

	shown.last_seen_wall_ns -= w->wall_ns;
	assert_int_equal(store_set_consumers(w->fx->store, &shown, 1), 0);
	assert_true(store_commit(w->fx->store) >= 0);
}

/* Time in which earlier daemons ran counts, except at most an hour of each. */
TEST(the_age_is_kept_over_a_restart)
{
	changes(w, 3);
	visit(w, 1000, "a", 1);
	poll_now(w);
	for (int i = 0; i < 7; i++) {
		live(w, DAY - DAY / 16);
		changes(w, 1);
		assert_int_equal(known(w), 1);
		commit_in_its_time(w);
		end(w);	/* killed: nothing more is published */
		begin(w);
		w->wall_ns = w->lived_ns = 0;
	}
	live(w, DAY / 2 + DAY / 8);
	assert_int_equal(known(w), 0);
}

/* Without room in the arena nothing is lost: the commit is tried again. */
TEST(without_room_the_commit_is_tried_again)
{
	struct consumer_seat *seat;

	changes(w, 3);
	sit(w, 1000, "a", 0, &seat);
	acknowledge(w, 0, 2);
	arena_fail_after(w->fx->arena, 0);
	assert_false(poll_now(w));
	arena_fail_after(w->fx->arena, UINT64_MAX);
	assert_true(poll_now(w));
	assert_false(poll_now(w));
	assert_shown(w, 2);
	consumers_leave(seat);
}

/* The report has name, user, acknowledgement and lag. */
TEST(the_report_lists_consumers)
{
	static const char *const fields[] = {"\"name\":\"agent\"", "\"uid\":1000,",     "\"seq\":7,",
					     "\"lag\":3,",         "\"attached\":true", "\"lastSeen\":\"20"};
	struct consumer_seat *seat;
	cJSON *report;
	char *text;

	changes(w, 10);
	sit(w, 1000, "agent", 0, &seat);
	acknowledge(w, 0, 7);
	poll_now(w);
	report = consumers_json(w->consumers);
	text = cJSON_PrintUnformatted(report);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strstr(text, fields[i]))
			fail_msg("%s is not in %s", fields[i], text);
	cJSON_free(text);
	cJSON_Delete(report);
	consumers_leave(seat);
}
