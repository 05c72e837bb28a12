/* SPDX-License-Identifier: Apache-2.0 */
/* Views: one RV, in order, whole or narrowed by a hint; kept for continue tokens, and taken away. */
#include <inttypes.h>
#include <malloc.h>

#include "tests/tools/informer-gateway/arena_world.h"
#include "tests/tools/informer-gateway/served_objects.h"
#include "tools/informer-gateway/views/view_items.h"

SET_UP(set_up, arena_world_opened("b/x101 a/y102 a/x103:n2 ab/a104 a.b/a105:n2 zz106 aa107 @110", false))

/* A view narrowed by the hint that is not sorted yet. */
static struct api_view *
chosen(struct arena_world *w, uint64_t rv, struct gw_hint hint)
{
	uint64_t shown, position;
	struct api_view *view;

	assert_int_equal(gw_view_open(w->pods, rv, &view, &shown, &position), 0);
	assert_int_equal(arena_world_choose(view, &hint), 0);
	return view;
}

static struct api_view *
open_at(struct arena_world *w, uint64_t rv)
{
	struct api_view *view = chosen(w, rv, (struct gw_hint){0});

	arena_world_seek(view, "");
	return view;
}

static void
expect_next(struct api_view *view, const char *key)
{
	struct api_object *object = gw_view_next(view);

	assert_non_null(object);
	assert_string_equal(object->key, key);
	api_object_unref(object);
}

#define TEST(name) TEST_CASE_OF(struct arena_world *w, set_up, arena_world_tear_down, name)

/* A view does not change. A watch can begin right after its RV. */
TEST(a_view_does_not_change)
{
	uint64_t shown, position;
	struct api_view *view;

	assert_int_equal(gw_view_open(w->pods, 0, &view, &shown, &position), 0);
	assert_int_equal(arena_world_choose(view, &(struct gw_hint){0}), 0);
	arena_world_tell(w, "-a.b/a111 a/new112 @112");
	assert_int_equal(shown, 110);
	arena_world_seek(view, "");
	expect_next(view, "a.b/a");
	expect_next(view, "a/x");
	assert_string_equal(arena_world_heard(w, w->store, &position), "-a.b/a111 +a/new112 @112");
	gw_view_close(view);
}

/* A view can begin at any key and counts the objects left in a namespace. */
TEST(a_view_seeks_and_counts)
{
	struct api_view *view = open_at(w, 0);

	gw_view_seek(view, "a/");
	assert_int_equal(gw_view_count(view, "a/"), 2);
	assert_int_equal(gw_view_count(view, ""), 6);
	expect_next(view, "a/x");
	assert_int_equal(gw_view_count(view, "a/"), 1);
	gw_view_seek(view, "zzz");
	assert_null(gw_view_next(view));
	assert_int_equal(gw_view_error(view), 0);
	gw_view_close(view);
}

/* Hints narrow a view by namespace, name, node and labels, also combined. */
TEST(hints_narrow_a_view)
{
	struct gw_hint ns = {.namespace_ = "a"}, name = {.namespace_ = "a", .name = "y"},
		       nobody = {.namespace_ = "a", .name = "none"},
		       node = {.value = "n2", .field = POD_NODE},
		       both = {.namespace_ = "a", .value = "n2", .field = POD_NODE},
		       labels = {.labels = "app in (x,zz)"},
		       labels_in = {.namespace_ = "a", .labels = "app=x", .label = "app=x"},
		       odd = {.namespace_ = "a", .labels = "app in ("};

	assert_string_equal(arena_world_view(w, 0, &ns), "a/x103 a/y102 @110");
	assert_string_equal(arena_world_view(w, 0, &name), "a/y102 @110");
	assert_string_equal(arena_world_view(w, 0, &nobody), "@110");
	assert_string_equal(arena_world_view(w, 0, &node), "a.b/a105 a/x103 @110");
	assert_string_equal(arena_world_view(w, 0, &both), "a/x103 @110");
	assert_string_equal(arena_world_view(w, 0, &labels), "a/x103 b/x101 zz106 @110");
	assert_string_equal(arena_world_view(w, 0, &labels_in), "a/x103 @110");
	/* a selector that libinformer does not understand is no hint */
	assert_string_equal(arena_world_view(w, 0, &odd), "a/x103 a/y102 @110");
}

/* An RV without a continue token is dropped at the next commit and is then 410. */
TEST(an_rv_without_a_token_is_dropped)
{
	assert_int_not_equal(strcmp(arena_world_view(w, 110, NULL), "410"), 0);
	w->now_ms += 1001;
	arena_world_tell(w, "zz111 @111");
	assert_string_equal(arena_world_view(w, 110, NULL), "410");
	assert_string_equal(arena_world_view(w, 109, NULL), "410");
	assert_int_equal(gw_moments_count(w->arena), 0);
}

static void
hold_now(struct arena_world *w)
{
	struct api_view *view = open_at(w, 0);

	gw_view_hold(view);
	gw_view_close(view);
}

/* An RV with a continue token is kept for a minute, also for narrower views of it. */
TEST(an_rv_with_a_token_is_kept_for_a_minute)
{
	struct gw_hint ns = {.namespace_ = "a"};

	hold_now(w);
	arena_world_tell(w, "-a/x111 @111");
	w->now_ms += 59000;
	arena_world_pump(w);
	assert_string_equal(arena_world_view(w, 110, &ns), "a/x103 a/y102 @110");
	assert_int_equal(gw_moments_wait_until(w->arena), w->now_ms + 1000);
	w->now_ms += 2000;
	arena_world_pump(w);
	assert_int_equal(gw_moments_count(w->arena), 0);
	assert_int_equal(gw_moments_wait_until(w->arena), UINT64_MAX);
	assert_string_equal(arena_world_view(w, 110, &ns), "410");
}

/* The number of held RVs is limited: the oldest goes first. Objects come in byte order of their keys. */
TEST(the_oldest_held_goes_first)
{
	char said[64];

	for (int i = 0; i < 6; i++) {
		hold_now(w);
		snprintf(said, sizeof(said), "zz%d @%d", 111 + i, 111 + i);
		arena_world_say(w, said);
		arena_world_reach(w, 111 + (uint64_t)i);
	}
	assert_int_equal(gw_moments_count(w->arena), 4);
	assert_string_equal(arena_world_view(w, 111, NULL), "410");
	assert_string_equal(arena_world_view(w, 112, NULL),
			    "a.b/a105 a/x103 a/y102 ab/a104 b/x101 aa107 zz112 @112");
}

/* Equal requests within a second get one moment and one sorted order. */
TEST(requests_within_a_second_share_a_moment)
{
	struct api_view *a = open_at(w, 0), *b = open_at(w, 0);

	assert_int_equal(gw_moments_count(w->arena), 1);
	gw_view_close(a);
	gw_view_close(b);
	a = open_at(w, 0);
	assert_int_equal(gw_moments_count(w->arena), 1);
	gw_view_close(a);
	w->now_ms += 1001;
	arena_world_pump(w);
	assert_int_equal(gw_moments_count(w->arena), 0);
}

/* Read one object by name and hold the moment as a continue token does. */
static void
ask_for(struct arena_world *w, unsigned number)
{
	struct api_view *view;
	char name[16];

	snprintf(name, sizeof(name), "n%u", number);
	view = chosen(w, 0, (struct gw_hint){.namespace_ = "a", .name = name});
	arena_world_seek(view, "");
	assert_null(gw_view_next(view));
	gw_view_hold(view);
	gw_view_close(view);
}

/*
 * A held moment keeps few sorted orders, however many different ones are asked for. Orders in use stay, and a
 * shared one is sorted once.
 */
TEST(unused_orders_do_not_pile_up)
{
	struct api_view *reading = open_at(w, 0);
	size_t some;

	gw_view_seek(reading, "a/y");
	for (unsigned i = 0; i < 8; i++)
		ask_for(w, i);
	some = mallinfo2().uordblks;
	for (unsigned i = 8; i < 1000; i++)
		ask_for(w, i);
	assert_int_equal(gw_moments_count(w->arena), 1);
	assert_in_range(mallinfo2().uordblks, 0, some + 16384); /* 992 orders would take more */
	expect_next(reading, "a/y");
	gw_view_close(reading);
}

/*
 * When informerd takes a held view's memory back, the view ends with an error and its RV is dropped. The log,
 * its watches and new views go on.
 */
TEST(a_view_whose_memory_is_taken_back_ends)
{
	struct api_view *view = open_at(w, 0);

	expect_next(view, "a.b/a");
	gw_view_hold(view);
	arena_world_tell(w, "zz111 @111");
	broker_fixture_revoke_oldest(w->fx);
	assert_null(gw_view_next(view));
	assert_int_equal(gw_view_error(view), -ESTALE);
	assert_null(gw_view_next(view));
	gw_view_close(view);
	assert_string_equal(arena_world_view(w, 110, NULL), "410");
	arena_world_tell(w, "zz112 @112");
	assert_string_equal(arena_world_heard(w, w->store, &w->position), "zz111 zz112 @112");
	assert_string_equal(arena_world_view(w, 0, NULL),
			    "a.b/a105 a/x103 a/y102 ab/a104 b/x101 aa107 zz112 @112");
}

/* So many objects are added to the seven, in "m" and "n" by turns. */
#define COMING (2 * GW_SLICE + 500)
#define EVERY (COMING + 7)

static void
say_many(struct arena_world *w)
{
	struct api_buf said = {0};

	for (unsigned i = 0; i < COMING; i++)
		api_buf_printf(&said, "%c/%c%c%c%u=q ", i % 2 ? 'm' : 'n', 'a' + (int)(i % 26),
			       'a' + (int)(i / 26 % 26), 'a' + (int)(i / 676), 1000 + i);
	api_buf_printf(&said, "@20000");
	arena_world_tell(w, said.data);
	api_buf_done(&said);
}

/* The number of objects that a view shows, in order. */
static unsigned
count_in_order(struct api_view *view)
{
	char last[64] = "";
	struct api_object *object;
	unsigned count = 0;

	for (; (object = gw_view_next(view)); count++) {
		assert_true(strcmp(last, object->key) < 0);
		snprintf(last, sizeof(last), "%s", object->key);
		api_object_unref(object);
	}
	assert_int_equal(gw_view_error(view), 0);
	return count;
}

/*
 * No call of gw_view_ready() looks at more than GW_SLICE objects, even if few are selected. Other calls
 * between do not change the view, and equal requests share the work.
 */
TEST(items_are_put_in_order_in_slices)
{
	struct api_view *all, *other, *selected;
	struct api_object *object;
	unsigned calls = 0;

	say_many(w);
	all = chosen(w, 0, (struct gw_hint){0});
	other = chosen(w, 0, (struct gw_hint){0});
	selected = chosen(w, 0, (struct gw_hint){.labels = "app!=q"});
	assert_int_equal(gw_view_ready(all), -EAGAIN);
	object = w->store->api.get(w->store, w->pods->resource, "a/x");
	assert_int_equal(object->rv, 103);
	api_object_unref(object);
	arena_world_tell(w, "-a/x20001 a/new20002 @20002");
	for (calls = 1; gw_view_ready(calls % 2 ? other : all) == -EAGAIN; calls++)
		;
	assert_in_range(calls * GW_SLICE, EVERY - GW_SLICE, EVERY);
	arena_world_seek(all, "");
	assert_int_equal(gw_view_count(all, "m/"), COMING / 2);
	gw_view_close(all);
	arena_world_seek(other, "");
	assert_int_equal(count_in_order(other), EVERY);
	gw_view_close(other);
	for (calls = 0; gw_view_ready(selected) == -EAGAIN; calls++)
		;
	assert_in_range(calls * GW_SLICE, EVERY - GW_SLICE, EVERY);
	arena_world_seek(selected, "");
	assert_int_equal(count_in_order(selected), 7);
	gw_view_close(selected);
}

/* A view that is closed, or whose memory is taken back, while it is filled ends without harm. */
TEST(a_view_may_end_while_it_is_filled)
{
	struct api_view *left, *taken;

	say_many(w);
	left = chosen(w, 0, (struct gw_hint){0});
	assert_int_equal(gw_view_ready(left), -EAGAIN);
	gw_view_close(left);
	taken = chosen(w, 0, (struct gw_hint){0});
	assert_int_equal(gw_view_ready(taken), -EAGAIN);
	arena_world_tell(w, "zz20001 @20001");
	broker_fixture_revoke_oldest(w->fx);
	assert_int_equal(gw_view_ready(taken), -ESTALE);
	assert_int_equal(gw_view_error(taken), -ESTALE);
	assert_null(gw_view_next(taken));
	gw_view_close(taken);
}

/* Open one more view of up to this many objects. */
static int
choose(struct arena_world *w, const char *labels, struct api_view **ret_view)
{
	char own[16];
	uint64_t shown, position;

	snprintf(own, sizeof(own), "%s", labels);
	assert_int_equal(gw_view_open(w->pods, 0, ret_view, &shown, &position), 0);
	return arena_world_choose(*ret_view, &(struct gw_hint){.labels = own});
}

/*
 * Views share a budget. A request beyond it is refused before its view begins. A shared view costs nothing
 * more, and unused ones are dropped.
 */
TEST(views_share_a_budget)
{
	struct api_view *view[3];

	w->views.most = 2000; /* room for two views of seven objects */
	assert_int_equal(choose(w, "app!=a", &view[0]), 0);
	assert_true(w->views.held > 0);
	assert_int_equal(choose(w, "app!=b", &view[1]), 0);
	assert_int_equal(choose(w, "app!=c", &view[2]), -ENOBUFS);
	gw_view_close(view[2]);
	assert_int_equal(choose(w, "app!=a", &view[2]), 0);
	gw_view_close(view[1]);
	gw_view_close(view[2]);
	assert_int_equal(choose(w, "app!=c", &view[1]), 0);
	arena_world_seek(view[1], "");
	assert_int_equal(count_in_order(view[1]), 7);
	assert_in_range(w->views.held, 1, 2000);
	gw_view_close(view[0]);
	gw_view_close(view[1]);
	w->now_ms += 1001;
	arena_world_pump(w);
	assert_int_equal(w->views.held, 0);
}

TEST(one_object_is_read_in_its_newest_state)
{
	struct api_object *object;

	arena_world_say(w, "a/x120 @120");
	object = w->store->api.get(w->store, w->pods->resource, "a/x");
	assert_non_null(object);
	assert_int_equal(object->rv, 120);
	api_object_unref(object);
	assert_null(w->store->api.get(w->store, w->pods->resource, "a/nobody"));
	assert_null(w->store->api.get(w->store, w->pods->resource, ""));
}
