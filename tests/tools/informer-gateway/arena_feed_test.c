/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The feed: from commits of informerd's to a log of upstream's RVs.
 */
#include <stdio.h>
#include <string.h>

#include "tests/room.h"
#include "tests/tools/informer-gateway/arena_world.h"

static int
set_up(void **state)
{
	struct arena_world *w = arena_world_new("a101 b102 @103", false);

	arena_world_open(w);
	*state = w;
	return 0;
}

static int
set_up_generations(void **state)
{
	struct arena_world *w = arena_world_new("a101 b102 @103", true);

	arena_world_open(w);
	*state = w;
	return 0;
}

static void
expect(struct arena_world *w, const char *heard)
{
	assert_string_equal(arena_world_heard(w, &w->store, &w->position), heard);
}

static void
expect_from(struct arena_world *w, uint64_t rv, const char *heard)
{
	uint64_t position, floor;

	if (w->store.api.position(&w->store, w->pods->resource, rv, &position, &floor) < 0)
		assert_string_equal("410", heard);
	else
		assert_string_equal(arena_world_heard(w, &w->store, &position), heard);
}

/* What is there when the gateway comes is no change; from then on each change is told at its own RV. */
static void
changes_are_told_at_their_own_rv(void **state)
{
	struct arena_world *w = *state;

	expect(w, "@103");
	arena_world_say(w, "a104 c105 @105");
	arena_world_reach(w, 105);
	expect(w, "a104 +c105 @105");
	arena_world_say(w, "-b106 @106");
	arena_world_reach(w, 106);
	expect(w, "-b106 @106");
}

/* A resource in which nothing happens gets on by its bookmarks. */
static void
a_bookmark_moves_what_was_told(void **state)
{
	struct arena_world *w = *state;

	arena_world_say(w, "@140");
	arena_world_reach(w, 140);
	expect(w, "@140");
}

/* A commit is in the log as a whole or not at all: nothing is told that its RV has not reached. */
static void
what_the_rv_has_not_reached_waits(void **state)
{
	struct arena_world *w = *state;

	arena_world_say(w, "a104 b105");
	arena_world_say(w, "c106");
	arena_world_pump(w);
	expect(w, "@103");
	assert_string_equal(arena_world_view(w, 0, NULL), "again");
	arena_world_say(w, "@106");
	arena_world_reach(w, 106);
	expect(w, "a104 b105 +c106 @106");
}

/* What a list brings by its names is told by its RVs. */
static void
a_list_is_told_in_order_of_rvs(void **state)
{
	struct arena_world *w = *state;

	arena_world_say(w, "a120 b110 c130");
	arena_world_say(w, "d107 @140");
	arena_world_reach(w, 140);
	expect(w, "+d107 b110 a120 +c130 @140");
}

/* A deletion that nobody saw has no RV: it is told at that of its commit, and again to who returns with it.
 */
static void
an_unseen_deletion_is_told_at_its_commits_rv(void **state)
{
	struct arena_world *w = *state;

	arena_world_say(w, "-a? c120 @130");
	arena_world_reach(w, 130);
	expect(w, "+c120 -a130 @130");
	expect_from(w, 130, "-a130 @130");
	expect_from(w, 120, "-a130 @130");
}

/* Where another object took the name unseen, the old one's end comes right before it, at an RV below its own.
 */
static void
a_name_taken_anew_is_a_deletion_and_an_addition(void **state)
{
	struct arena_world *w = *state;

	arena_world_say(w, "b110 a120#2 @130");
	arena_world_reach(w, 130);
	expect(w, "b110 -a110 +a120 @130");
	expect_from(w, 110, "-a110 +a120 @130");
	expect_from(w, 120, "@130");
	arena_world_say(w, "a140#3 @140");
	arena_world_reach(w, 140);
	expect_from(w, 130, "-a130 +a140 @140");
}

/* An object that is deleted and created under one name within a commit is told as both. */
static void
deleted_and_created_within_a_commit(void **state)
{
	struct arena_world *w = *state;

	arena_world_say(w, "-a104 a105#2 a106#2 -b107 @107");
	arena_world_reach(w, 107);
	expect(w, "-a104 +a105 a106 -b107 @107");
}

/* RVs that fall (a server was restored from a backup) are another history: watches have lost their place. */
static void
rvs_that_fall_begin_the_log_anew(void **state)
{
	struct arena_world *w = *state;

	arena_world_say(w, "a104 @105");
	arena_world_reach(w, 105);
	arena_world_say(w, "a90 @95");
	arena_world_reach(w, 95);
	expect(w, "410");
	expect_from(w, 95, "@95");
	assert_string_equal(arena_world_view(w, 0, NULL), "a90 b102 @95");
}

/* An object that turns up with an RV of long ago (somebody repaired the store) does not fit: all list anew.
 */
static void
a_change_from_the_past_begins_the_log_anew(void **state)
{
	struct arena_world *w = *state;

	arena_world_say(w, "c99 @110");
	arena_world_reach(w, 110);
	expect(w, "410");
}

/* An update that changes no RV is none of upstream's. */
static void
the_same_rv_is_no_change(void **state)
{
	struct arena_world *w = *state;

	arena_world_say(w, "a101:n2 @104");
	arena_world_reach(w, 104);
	expect(w, "@104");
}

static void
change_much(struct broker_fixture *fx, void *context)
{
	char version[32];

	for (int i = 0; i < *(int *)context; i++)
		assert_int_equal(
			store_fixture_sayf(fx->store, "MODIFIED",
					   "{\"metadata\":{\"name\":\"%c\",\"namespace\":\"default\","
					   "\"uid\":\"uid-%c-1\",\"resourceVersion\":\"%d\",\"labels\":{"
					   "\"app\":\"x\"}}}",
					   i % 2 ? 'a' : 'b', i % 2 ? 'a' : 'b', 1000 + i),
			0);
	snprintf(version, sizeof(version), "%d", 1000 + *(int *)context);
	store_set_version(fx->store->store, fx->store->pods, version, strlen(version));
	store_set_state(fx->store->store, fx->store->pods, RESOURCE_SYNCED);
	assert_int_equal(store_commit(fx->store->store), 0);
}

/*
 * Who falls behind by more than its queue holds is told of the newest states: watches go on, and states
 * between are skipped, deletions are not. Whoever was told of some of these states by another server cannot
 * go on from them: what came and went meanwhile is told to nobody.
 */
static void
an_overflow_skips_states_but_no_deletion(void **state)
{
	struct arena_world *w = *state;
	int many = 70000;

	arena_world_say(w, "c104 @104");
	arena_world_reach(w, 104);
	expect(w, "+c104 @104");
	arena_world_say(w, "-c105 d106 e107 -e108 @108");
	broker_fixture_do(w->fx, change_much, &many);
	arena_world_reach(w, 71000);
	assert_int_equal(w->pods->feed.stats.coalesced, 1);
	expect(w, "?-c105 +d106 ?b70998 ?a70999 @71000");
	expect_from(w, 104, "?-c105 +d106 ?b70998 ?a70999 @71000");
	expect_from(w, 107, "410");
	expect_from(w, 71000, "@71000");
	arena_world_say(w, "a71001 @71001");
	arena_world_reach(w, 71001);
	expect(w, "a71001 @71001");
}

/* An informerd that takes over its predecessor's arena goes on with the log. */
static void
a_new_generation_goes_on(void **state)
{
	struct arena_world *w = *state;

	arena_world_say(w, "a104 @104");
	broker_fixture_adopt(w->fx);
	arena_world_say(w, "b105 @105");
	arena_world_reach(w, 105);
	expect(w, "a104 ?b105 @105");
}

/* One that lists anew has another history: everything is told anew, and watches have lost their place. */
static void
a_lost_lineage_begins_the_log_anew(void **state)
{
	struct arena_world *w = *state;

	broker_fixture_replace(w->fx, true);
	arena_world_say(w, "a110 c111 @115");
	arena_world_reach(w, 115);
	expect(w, "410");
	assert_string_equal(arena_world_view(w, 0, NULL), "a110 c111 @115");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, arena_world_tear_down)

static const struct CMUnitTest tests[] = {
	TEST(changes_are_told_at_their_own_rv),
	TEST(a_bookmark_moves_what_was_told),
	TEST(what_the_rv_has_not_reached_waits),
	TEST(a_list_is_told_in_order_of_rvs),
	TEST(an_unseen_deletion_is_told_at_its_commits_rv),
	TEST(a_name_taken_anew_is_a_deletion_and_an_addition),
	TEST(deleted_and_created_within_a_commit),
	TEST(rvs_that_fall_begin_the_log_anew),
	TEST(a_change_from_the_past_begins_the_log_anew),
	TEST(the_same_rv_is_no_change),
	TEST(an_overflow_skips_states_but_no_deletion),
	cmocka_unit_test_setup_teardown(a_new_generation_goes_on, set_up_generations, arena_world_tear_down),
	TEST(a_lost_lineage_begins_the_log_anew),
};
TEST_GROUP(tests, NULL, NULL);
