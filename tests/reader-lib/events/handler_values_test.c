/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler's own values: on_value gets the value before and the value now, whatever happens in between. Each
 * value is released once.
 */
#include "reader-lib/events/run.h"
#include "tests/room.h"
#include "tests/support/purse.h"
#include "tests/support/recorder_world.h"
#include "tests/support/test_clock.h"

/*
 * The log: "-=a1" created, "a1=a2" changed, "a2=-" gone, "a2=- !" gone with only the key known; each followed
 * by a blank. A value is the name and the version.
 */
struct values {
	struct recorder_world *w;
	struct informer_handler_options options;
	char log[4096];
	size_t made, released;
	bool added, done, released_before_done;
	bool lose_track; /* within the next call */
};

struct one {
	char text[32];
	bool released;
};

static struct one *all[4096];

static void *
make_value(void *context, const struct informer_object *object)
{
	struct values *v = context;
	const char *name, *version;
	size_t name_length, version_length;
	struct one *one = calloc(1, sizeof(*one));
	char json[2048];

	informer_object_name(object, &name, &name_length);
	informer_object_resource_version(object, &version, &version_length);
	assert_int_equal(informer_object_json(object, json, sizeof(json), &(size_t){0}), 0);
	if (strstr(json, "\"off\"")) {
		free(one);
		return NULL;
	}
	snprintf(one->text, sizeof(one->text), "%.*s%.*s", (int)name_length, name, (int)version_length,
		 version);
	all[v->made++] = one;
	return one;
}

static void
tell_value(void *context, const struct informer_object *object, void *old, void *value)
{
	struct values *v = context;
	const struct one *before = old, *now = value;
	char key[128];
	size_t length;

	assert_false(before && before->released);
	assert_false(now && now->released);
	assert_int_equal(informer_object_key(object, key, sizeof(key), &length), 0);
	assert_memory_equal(key, "default/", 8);
	snprintf(v->log + strlen(v->log), sizeof(v->log) - strlen(v->log), "%s=%s%s ",
		 before ? before->text : "-", now ? now->text : "-", before || now ? "" : key + 8);
	if (v->lose_track)
		feed_begin_anew(&v->w->inf->run->handlers->work->feed);
	v->lose_track = false;
}

static void
free_value(void *context, void *value)
{
	struct values *v = context;
	struct one *one = value;

	assert_false(one->released);
	one->released = true;
	v->released++;
}

static void
say_done(void *context)
{
	struct values *v = context;

	v->done = true;
	v->released_before_done = v->released == v->made;
}

static void
say_overflow(void *context, enum informer_overflow kind)
{
	struct values *v = context;

	strcat(v->log, kind == INFORMER_RESYNC ? "RESYNC " : "COALESCED ");
}

static void
say_end(void *context)
{
	struct values *v = context;

	strcat(v->log, "END ");
}

static int
set_up(void **state)
{
	struct values *v = calloc(1, sizeof(*v));

	v->w = recorder_world_new("", false);
	v->options = (struct informer_handler_options){
		.size = sizeof(v->options),
		.resource = "pods",
		.context = v,
		.transform = make_value,
		.on_value = tell_value,
		.release = free_value,
		.on_overflow = say_overflow,
		.on_resync_end = say_end,
		.on_done = say_done,
	};
	*state = v;
	return 0;
}

/* At the end of each test every value was released once, before on_done. */
static int
tear_down(void **state)
{
	struct values *v = *state;
	bool ok;

	recorder_world_free(v->w);
	ok = v->made == 0 || (v->done && v->released_before_done);
	for (size_t i = 0; i < v->made; i++)
		free(all[i]);
	free(v);
	return ok ? 0 : -1;
}

/* Dispatch until the log is `expected`, and clear it. */
static void
expect(struct values *v, const char *expected)
{
	dispatch_all(v->w->inf);
	for (unsigned idle = 0; strcmp(v->log, expected) != 0 && idle < DISPATCH_IDLE_MAX;)
		idle += !dispatch_turn(v->w->inf);
	assert_string_equal(v->log, expected);
	v->log[0] = '\0';
}

static void
add(struct values *v)
{
	assert_int_equal(informer_add_handler(v->w->inf, &v->options, NULL), 0);
	v->added = true;
}

/* Changes (recorder_world.h), their log, changes, ... The handler is added after the first changes. */
static void
play(struct values *v, const char *const *story)
{
	for (; *story; story += 2) {
		recorder_world_happen(v->w, story[0]);
		if (!v->added)
			add(v);
		expect(v, story[1]);
	}
}
#define PLAY_VALUES(...) play(v, (const char *const[]){__VA_ARGS__, NULL})

#define TEST(f) TEST_CASE_OF(struct values *v, set_up, tear_down, f)

TEST(a_value_comes_changes_and_goes)
{
	PLAY_VALUES("a1 b1", "-=a1 -=b1 ", "a2 c1;-a -b? c2", "a1=a2 -=c1 a2=- b1=- c1=c2 ");
	assert_int_equal(v->made, 5);
	assert_int_equal(v->released, 4);
}

/* An object that enters or leaves a selector gets or loses its value. */
TEST(values_cross_selectors)
{
	v->options.label_selector = "app=web";
	PLAY_VALUES("a1:web b1:db", "-=a1 ", "a2:db b2:web;-a -b", "a1=- -=b2 b2=- ");
}

/* Nothing is told of an object without a value. When transform() changes its answer, values come or go. */
TEST(an_object_without_a_value_is_not_told)
{
	PLAY_VALUES("a1:off b1:web", "-=b1 ", "a2:off b2:off;a3:web b3:off;-a -b", "b1=- -=a3 a3=- ");
}

TEST(a_name_created_anew_is_a_delete_and_an_add)
{
	PLAY_VALUES("a1", "-=a1 ", "a2:new", "a1=- -=a2 ");
}

/* After an overflow the value before is known, though the state before is not. */
TEST(values_are_exact_after_a_gap)
{
	v->options.queue_entries = 64;
	v->options.label_selector = "app=web";
	PLAY_VALUES("a1:web b1:web c1:db d1:db", "-=a1 -=b1 ",
		    "x*81:db;a2:web b2:db c2:web d2:db e1:web f1:db -d", "COALESCED a1=a2 b1=- -=c2 -=e1 ");
}

/* After a rebuilt store an absent object's value is gone; a present object's value before is known. */
TEST(values_are_exact_in_another_lineage)
{
	PLAY_VALUES("a1 b1 c1", "-=a1 -=b1 -=c1 ", "REPLACE;b2 c9:new d1", "COALESCED b1=b2 c1=c9 -=d1 a1=- ",
		    "-b e1", "b2=- -=e1 ");
	assert_int_equal(v->made - v->released, 3);
}

/* A resync tells the present value as both the old and the new one, and makes none. */
TEST(a_resync_tells_the_value_again)
{
	v->options.resync_ms = 1;
	PLAY_VALUES("a1:off b1:web", "-=b1 ");
	test_clock_move(1000);
	expect(v, "b1=b1 ");
	assert_int_equal(v->made, 1);
	assert_int_equal(v->released, 0);
}

/* A consumer that resumes has no earlier values; deletions while it was away are told all the same. */
TEST(a_consumer_is_told_deletions_while_it_was_away)
{
	v->options.consumer = "agent";
	PLAY_VALUES("", "RESYNC END ", "a1 b1 c1", "-=a1 -=b1 -=c1 ");
	informer_detach(v->w->inf);
	assert_int_equal(v->released, 3);
	recorder_change(v->w->fx, "a2 -b");
	v->w->inf = broker_fixture_attach(v->w->fx, 0);
	add(v);
	expect(v, "COALESCED -=a2 -=-b ");
}

/* When that catch-up becomes a RESYNC, every present object has a value in the end. */
TEST(a_consumer_has_all_values_after_a_resync)
{
	v->options.consumer = "agent";
	PLAY_VALUES("", "RESYNC END ", "a1 b1 c1", "-=a1 -=b1 -=c1 ");
	informer_detach(v->w->inf);
	recorder_change(v->w->fx, "a2");
	v->w->inf = broker_fixture_attach(v->w->fx, 0);
	v->lose_track = true;
	add(v);
	expect(v, "COALESCED -=a2 RESYNC -=b1 -=c1 a2=a2 END ");
}

/* ---- without memory ---- */

/* Attach anew with counted memory that can fail. */
static void
attach_with_purse(struct values *v, struct purse *purse)
{
	informer_detach(v->w->inf);
	v->w->inf = purse_attach(purse, v->w->fx->socket);
}

/* An object that is deleted or no longer wanted leaves no memory behind. */
TEST(values_that_are_gone_leave_no_memory)
{
	static struct purse purse = PURSE;
	char word[32];
	size_t before;

	attach_with_purse(v, &purse);
	PLAY_VALUES("a1 b1", "-=a1 -=b1 ");
	before = purse.out;
	for (int i = 0; i < 40; i++) {
		snprintf(word, sizeof(word), "x%d", i);
		recorder_change(v->w->fx, word);
		snprintf(word, sizeof(word), i % 2 ? "-x%d" : "x%d:off", i);
		recorder_change(v->w->fx, word);
	}
	recorder_change(v->w->fx, "b2");
	DISPATCH_UNTIL(v->w->inf, strstr(v->log, "b1=b2 "));
	v->log[0] = '\0';
	assert_int_equal(purse.out, before);
}

/* A value that could not be allocated is told once there is memory, and nothing is told of it before. */
TEST(a_value_comes_when_there_is_memory)
{
	static struct purse purse = PURSE;

	attach_with_purse(v, &purse);
	PLAY_VALUES("a1", "-=a1 ");
	purse.left = 0;
	recorder_change(v->w->fx, "b1 c1");
	DISPATCH_UNTIL(v->w->inf, purse.failed > 0);
	dispatch_all(v->w->inf);
	/* retried after a delay, not at once and for ever */
	assert_in_range(purse.failed, 1, 99);
	assert_string_equal(v->log, "");
	purse.left = SIZE_MAX;
	expect(v, "-=b1 -=c1 ");
	PLAY_VALUES("-a -b", "a1=- b1=- ");
}

/* Incomplete or contradictory functions are refused with a message. */
TEST(half_a_transform_is_refused)
{
	const struct informer_handler_options good = v->options;
	const struct recorder_world *w = v->w;

	v->options.on_value = NULL;
	assert_int_equal(informer_add_handler(v->w->inf, &v->options, NULL), -EINVAL);
	assert_error_text(-EINVAL, "on_value");
	for (unsigned i = 0; i < 4; i++) {
		struct informer_handler_options bad = good;

		bad.transform = i == 0 ? NULL : good.transform;
		bad.on_add = i == 1 ? w->r->options.on_add : NULL;
		bad.on_update = i == 2 ? w->r->options.on_update : NULL;
		bad.on_delete = i == 3 ? w->r->options.on_delete : NULL;
		assert_int_equal(informer_add_handler(v->w->inf, &bad, NULL), -EINVAL);
	}
}
