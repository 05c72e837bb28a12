/* SPDX-License-Identifier: Apache-2.0 */
/* The log: positions by RV, bounds, eras. */
#include "tests/room.h"
#include "tests/tools/informer-gateway/served_objects.h"

static int
set_up(void **state)
{
	static struct gw_change_log log;
	const struct gw_log_options options = logged_options(1u << 20);

	gw_change_log_init(&log, &options);
	*state = &log;
	return 0;
}

static void
end(struct gw_change_log *log)
{
	gw_change_log_done(log);
	assert_int_equal(logged_share.held, 0);
}

TEAR_DOWN(tear_down, end)

static uint64_t
put(struct gw_change_log *log, uint64_t rv)
{
	return gw_change_log_put(log, pod_change("default/a", "n1", "n1", rv));
}

/* The RV of the first change for a watch from this RV; 0: the end of the log; 410. */
static uint64_t
next_after(const struct gw_change_log *log, uint64_t rv)
{
	uint64_t position;

	if (gw_change_log_position(log, rv, &position) < 0)
		return 410;
	return position == log->next ? 0 : gw_change_log_at(log, position)->rv;
}

#define TEST(name) TEST_CASE_OF(struct gw_change_log *log, set_up, tear_down, name)

TEST(before_the_log_begins_it_has_no_position)
{
	assert_int_equal(next_after(log, 0), 410);
	assert_int_equal(next_after(log, 100), 410);
}

/* A watch goes on with the first change above its RV, also if the log lacks that RV. */
TEST(a_watch_begins_after_its_rv)
{
	gw_change_log_begin(log, 100);
	put(log, 1103);
	put(log, 1105);
	assert_int_equal(next_after(log, 99), 410);
	assert_int_equal(next_after(log, 100), 1103);
	assert_int_equal(next_after(log, 1102), 1103);
	assert_int_equal(next_after(log, 1103), 1105);
	assert_int_equal(next_after(log, 1105), 0);
	assert_int_equal(log->told, 1105);
	gw_change_log_tell(log, 1110);
	gw_change_log_tell(log, 1107);
	assert_int_equal(log->told, 1110);
}

/* A change without an RV is repeated to each watch from the RV before it. Once dropped, that RV is 410. */
TEST(a_change_without_an_rv_is_repeated)
{
	struct api_event change = pod_change("default/b", "n1", NULL, 1103);

	gw_change_log_begin(log, 1000);
	put(log, 1103);
	change.again = true;
	gw_change_log_put(log, change);
	put(log, 1104);
	assert_int_equal(gw_change_log_position(log, 1103, &(uint64_t){0}), 0);
	assert_int_equal(next_after(log, 1103), 1103);
	assert_int_equal(next_after(log, 1104), 0);
	gw_change_log_trim(log, 1);
	assert_int_equal(log->next - log->first, 1);
	assert_int_equal(next_after(log, 1103), 410);
	assert_int_equal(next_after(log, 1104), 0);
}

/* The oldest changes go when the log is too large. The newest stays whatever its size. */
TEST(the_oldest_go_first)
{
	size_t one;

	gw_change_log_begin(log, 1000);
	put(log, 1001);
	one = log->bytes;
	log->options.bytes = 3 * one + one / 2;
	for (uint64_t rv = 1002; rv <= 1200; rv++)
		put(log, rv);
	assert_int_equal(log->next - log->first, 3);
	assert_int_equal(log->floor, 1197);
	assert_int_equal(next_after(log, 1196), 410);
	assert_int_equal(next_after(log, 1197), 1198);
	log->options.bytes = 1;
	put(log, 1201);
	assert_int_equal(log->next - log->first, 1);
	assert_int_equal(log->floor, 1200);
}

TEST(changes_younger_than_75_s_stay)
{
	gw_change_log_begin(log, 1000);
	log->options.bytes = 1;
	logged_step_ms = GW_FRESH_MS / 10;
	for (uint64_t rv = 1001; rv <= 1200; rv++)
		put(log, rv);
	assert_int_equal(log->next - log->first, 10);
	assert_int_equal(next_after(log, 1190), 1191);
	gw_change_log_trim(log, log->bytes / 2); /* another log needs the room */
	assert_int_equal(log->next - log->first, 5);
}

/* The share counts what logs hold: their objects, and the frames made of them for watches. */
TEST(objects_and_frames_are_counted)
{
	struct api_event event;
	struct api_frame *frame = api_frame_new("frame", 5);
	size_t objects;

	gw_change_log_begin(log, 1000);
	put(log, 1001);
	put(log, 1002);
	objects = logged_share.held;
	assert_int_equal(objects, log->bytes);
	gw_change_log_event(log, log->first, &event);
	api_frames_keep(event.frames, frame, 1);
	api_frame_unref(frame);
	assert_int_equal(logged_share.held, objects + 5);
	gw_change_log_trim(log, 1);
	assert_int_equal(logged_share.held, objects / 2 + 5); /* the watch still holds it */
	api_events_done(&event, 1);
	assert_int_equal(logged_share.held, log->bytes);
}

TEST(a_new_era_drops_all_positions)
{
	uint64_t before, era;

	gw_change_log_begin(log, 1000);
	put(log, 1001);
	before = log->next;
	era = log->era;
	gw_change_log_begin(log, 500);
	assert_true(log->first > before);
	assert_int_not_equal(log->era, era);
	assert_int_equal(log->told, 500);
	assert_int_equal(next_after(log, 500), 0);
	gw_change_log_break(log);
	assert_int_equal(next_after(log, 500), 410);
}

/* Older changes can be put in front. Existing positions stay, and older RVs get one. */
TEST(older_changes_can_be_put_in_front)
{
	uint64_t position = 0;

	gw_change_log_begin(log, 1000);
	put(log, 1001);
	assert_int_equal(gw_change_log_position(log, 1000, &position), 0);
	gw_change_log_forget_before(log);
	for (unsigned i = 70; i-- > 0;)
		gw_change_log_prepend(log, pod_change("default/c", "n1", "n1", 900 + i));
	gw_change_log_lower(log, 890);
	assert_int_equal(gw_change_log_at(log, position)->rv, 1001);
	assert_int_equal(next_after(log, 889), 410);
	assert_int_equal(next_after(log, 890), 900);
	assert_int_equal(next_after(log, 969), 1001);
}

/* No watch begins within a gap. A watch from before the gap or from its end goes on. */
TEST(no_watch_begins_in_a_gap)
{
	gw_change_log_begin(log, 1000);
	put(log, 1010);
	put(log, 1020);
	gw_change_log_gap(log, 1000, 1020);
	assert_int_equal(next_after(log, 1000), 1010);
	assert_int_equal(next_after(log, 1001), 410);
	assert_int_equal(next_after(log, 1010), 410);
	assert_int_equal(next_after(log, 1020), 0);
}

/* An event holds its own references. Its frames are shared by all who ask. */
TEST(events_share_their_frames)
{
	struct api_event a, b;
	uint64_t at;

	gw_change_log_begin(log, 1000);
	at = put(log, 1001);
	gw_change_log_event(log, at, &a);
	gw_change_log_event(log, at, &b);
	assert_ptr_equal(a.frames, b.frames);
	assert_int_equal(a.rv, 1001);
	gw_change_log_break(log);
	assert_int_equal(a.object->rv, 1001);
	api_events_done(&a, 1);
	api_events_done(&b, 1);
}
