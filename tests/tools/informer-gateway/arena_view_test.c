/* SPDX-License-Identifier: Apache-2.0 */
/* Views: one RV, in order, whole or as a hint leaves it; kept for continue tokens, and taken away. */
#include <inttypes.h>
#include <malloc.h>

#include "tests/tools/informer-gateway/arena_world.h"
#include "tests/tools/informer-gateway/served_objects.h"
#include "tools/informer-gateway/views/view_items.h"

SET_UP(set_up, arena_world_opened("b/x101 a/y102 a/x103:n2 ab/a104 a.b/a105:n2 zz106 aa107 @110", false))

/* A view of all, whose items are still to be put in order. */
static struct api_view *
chosen(struct arena_world *w, uint64_t rv)
{
	uint64_t shown, position;
	struct api_view *view;

	assert_int_equal(gw_view_open(w->pods, rv, &view, &shown, &position), 0);
	assert_int_equal(arena_world_choose(view, &(struct gw_hint){0}), 0);
	return view;
}

static struct api_view *
open_at(struct arena_world *w, uint64_t rv)
{
	struct api_view *view = chosen(w, rv);

	arena_world_seek(view, "");
	return view;
}

#define TEST(name) TEST_CASE_OF(struct arena_world *w, set_up, arena_world_tear_down, name)

/* A view stays what it was, whatever changes; a watch goes on right behind it. */
TEST(a_view_stays_what_it_was)
{
	uint64_t shown, position;
	struct api_object *object;
	struct api_view *view;

	assert_int_equal(gw_view_open(w->pods, 0, &view, &shown, &position), 0);
	assert_int_equal(arena_world_choose(view, &(struct gw_hint){0}), 0);
	arena_world_tell(w, "-a.b/a111 a/new112 @112");
	assert_int_equal(shown, 110);
	arena_world_seek(view, "");
	object = gw_view_next(view);
	assert_string_equal(object->key, "a.b/a");
	api_object_unref(object);
	object = gw_view_next(view);
	assert_string_equal(object->key, "a/x");
	api_object_unref(object);
	assert_string_equal(arena_world_heard(w, w->store, &position), "-a.b/a111 +a/new112 @112");
	gw_view_close(view);
}

/* A view can be begun amid its keys, and says how many of a namespace are left. */
TEST(seeking_and_counting)
{
	struct api_view *view = open_at(w, 0);
	struct api_object *object;

	gw_view_seek(view, "a/");
	assert_int_equal(gw_view_count(view, "a/"), 2);
	assert_int_equal(gw_view_count(view, ""), 6);
	object = gw_view_next(view);
	assert_string_equal(object->key, "a/x");
	api_object_unref(object);
	assert_int_equal(gw_view_count(view, "a/"), 1);
	gw_view_seek(view, "zzz");
	assert_null(gw_view_next(view));
	assert_int_equal(gw_view_error(view), 0);
	gw_view_close(view);
}

/* Hints leave what they name, by namespace, name, node and labels, and together. */
TEST(hints_leave_what_they_name)
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
	/* what libinformer does not understand is no hint */
	assert_string_equal(arena_world_view(w, 0, &odd), "a/x103 a/y102 @110");
}

/* An RV that nobody holds a token for is gone when the next one is in; 410. */
TEST(an_rv_that_nobody_holds_is_gone)
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

/* What a continue token was given out for is kept for a minute, whatever it is narrowed to then. */
TEST(a_held_rv_is_kept_for_a_minute)
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

/* No more than so many are held: the oldest goes first. Objects come in the order of keys, byte by byte. */
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

/* Who asks for the same within a second gets the same moment, and its sorted keys. */
TEST(those_of_one_second_share_a_moment)
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

/* Read one object by a name of its own, and hold the moment for who would go on. */
static void
ask_for(struct arena_world *w, unsigned number)
{
	uint64_t shown, position;
	struct api_view *view;
	char name[16];

	assert_int_equal(gw_view_open(w->pods, 0, &view, &shown, &position), 0);
	snprintf(name, sizeof(name), "n%u", number);
	arena_world_choose(view, &(struct gw_hint){.namespace_ = "a", .name = name});
	arena_world_seek(view, "");
	assert_null(gw_view_next(view));
	gw_view_hold(view);
	gw_view_close(view);
}

/*
 * Who asks for something else each time leaves no more than a few orders of items behind, however long the
 * moment is held; what is being read stays, and what everybody asks for is sorted once.
 */
TEST(orders_that_nobody_reads_do_not_pile_up)
{
	struct api_view *reading = open_at(w, 0);
	struct api_object *object;
	size_t some;

	gw_view_seek(reading, "a/y");
	for (unsigned i = 0; i < 8; i++)
		ask_for(w, i);
	some = mallinfo2().uordblks;
	for (unsigned i = 8; i < 1000; i++)
		ask_for(w, i);
	assert_int_equal(gw_moments_count(w->arena), 1);
	assert_in_range(mallinfo2().uordblks, 0, some + 16384); /* 992 of them are more */
	object = gw_view_next(reading);
	assert_string_equal(object->key, "a/y");
	api_object_unref(object);
	gw_view_close(reading);
}

/*
 * informerd takes a held view's memory back: the view ends and says so, its RV is gone, the log and its
 * watches go on, and the next view is one of now.
 */
TEST(a_view_that_was_taken_away_says_so)
{
	struct api_view *view = open_at(w, 0);
	struct api_object *object = gw_view_next(view);

	assert_non_null(object);
	api_object_unref(object);
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

/* Beside the seven that are there so many come, in "m" and in "n" by turns. */
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

/* How many objects a view shows, in order. */
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
 * No call of gw_view_ready() looks at more than GW_SLICE objects, also where few of them are wanted. What is
 * read, said and left between two of them changes nothing of the view; who asks for the same goes on with it.
 */
TEST(items_are_put_in_order_in_slices)
{
	struct gw_hint rare = {.labels = "app!=q"};
	struct api_view *all, *other, *selected;
	uint64_t shown, position;
	struct api_object *object;
	unsigned calls = 0;

	say_many(w);
	all = chosen(w, 0);
	other = chosen(w, 0);
	assert_int_equal(gw_view_open(w->pods, 0, &selected, &shown, &position), 0);
	arena_world_choose(selected, &rare);
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

/* A view that is left, or whose memory is taken back, while it is filled ends there. */
TEST(a_view_may_end_while_it_is_filled)
{
	struct api_view *left, *taken;

	say_many(w);
	left = chosen(w, 0);
	assert_int_equal(gw_view_ready(left), -EAGAIN);
	gw_view_close(left);
	taken = chosen(w, 0);
	assert_int_equal(gw_view_ready(taken), -EAGAIN);
	arena_world_tell(w, "zz20001 @20001");
	broker_fixture_revoke_oldest(w->fx);
	assert_int_equal(gw_view_ready(taken), -ESTALE);
	assert_int_equal(gw_view_error(taken), -ESTALE);
	assert_null(gw_view_next(taken));
	gw_view_close(taken);
}

/* One more view in which so many objects may be. */
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
 * Views share a budget. Who asks for more than there is room for is told so before his view has begun; who
 * asks for what another has is not, and what nobody reads gives way.
 */
TEST(views_share_a_budget)
{
	struct api_view *view[3];

	w->views.most = 2000; /* two of seven objects */
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

/* A single object is the newest there is. */
TEST(one_object_by_its_key)
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
