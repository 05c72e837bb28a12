/* SPDX-License-Identifier: Apache-2.0 */
/* The feed turns informerd's commits into a log in the order of the API server's RVs. */
#include "tests/tools/informer-gateway/arena_world.h"

SET_UP(set_up, arena_world_opened("a101 b102 @103", false))
SET_UP(set_up_generations, arena_world_opened("a101 b102 @103", true))

#define TEST(name) TEST_CASE_OF(struct arena_world *w, set_up, arena_world_tear_down, name)

struct feed {
	struct {
		const char *told, *heard;
	} steps[3];
	struct {
		uint64_t rv; /* where a watch begins after all steps */
		const char *heard;
	} from[3];
	const char *view; /* or NULL */
	uint64_t resets;  /* how often the log began anew */
};

static void
expect_feed(struct arena_world *w, const struct feed *f)
{
	for (size_t i = 0; i < 3 && f->steps[i].heard; i++) {
		if (f->steps[i].told)
			arena_world_tell(w, f->steps[i].told);
		arena_world_expect(w, f->steps[i].heard);
	}
	for (size_t i = 0; i < 3 && f->from[i].heard; i++)
		arena_world_expect_from(w, f->from[i].rv, f->from[i].heard);
	if (f->view)
		assert_string_equal(arena_world_view(w, 0, NULL), f->view);
	assert_int_equal(w->pods->feed.stats.resets, f->resets);
}

/* A test: the gateway starts with "a101 b102 @103"; a step says a commit and what a watcher hears of it. */
#define FEED(name, ...)                                                                                      \
	TEST(name)                                                                                           \
	{                                                                                                    \
		expect_feed(w, &(const struct feed){__VA_ARGS__});                                           \
	}

/* Objects present at the start are no changes. Each later change is reported at its own RV. */
FEED(changes_are_told_at_their_own_rv,
     .steps = {{NULL, "@103"}, {"a104 c105 @105", "a104 +c105 @105"}, {"-b106 @106", "-b106 @106"}})

/* A deletion that was not seen is reported at the previous RV, and again to a watch resumed from that RV. */
FEED(an_unseen_deletion_is_told_at_the_rv_before_it, .steps = {{"-a? c120 @130", "-a103 +c120 @130"}},
     .from = {{103, "-a103 +c120 @130"}, {120, "@130"}, {102, "410"}})

/* If another object took the name unseen, the old object's deletion comes first. */
FEED(a_name_taken_anew_is_a_deletion_and_an_addition,
     .steps = {{"b110 a120#2 @130", "b110 -a110 +a120 @130"}, {"a140#3 @140", "-a130 +a140 @140"}},
     .from = {{110, "-a110 +a120 -a130 +a140 @140"}, {120, "-a130 +a140 @140"}, {130, "-a130 +a140 @140"}})

/* An object deleted and created again under one name within a commit is reported as both. */
FEED(deleted_and_created_within_a_commit,
     .steps = {{"-a104 a105#2 a106#2 -b107 @107", "-a104 +a105 a106 -b107 @107"}})

/* When RVs fall (the server was restored from a backup), the log begins anew and watches get 410. */
FEED(rvs_that_fall_begin_the_log_anew, .steps = {{"a104 @105", "a104 @105"}, {"a90 @95", "410"}},
     .from = {{95, "@95"}}, .view = "a90 b102 @95", .resets = 1)

/* When an object appears with an old RV (its store was repaired), the log begins anew and watches get 410. */
FEED(a_change_from_the_past_begins_the_log_anew, .steps = {{"c99 @110", "410"}}, .resets = 1)

/* An update with an unchanged RV is not reported. */
FEED(the_same_rv_is_no_change, .steps = {{"a101:n2 @104", "@104"}})

/* A commit enters the log as a whole. Nothing of it is reported before its RV is reached. */
TEST(changes_wait_for_their_commits_rv)
{
	arena_world_say(w, "a104 b105");
	arena_world_say(w, "c106");
	arena_world_pump(w);
	arena_world_expect(w, "@103");
	assert_string_equal(arena_world_view(w, 0, NULL), "again");
	arena_world_tell(w, "@106");
	arena_world_expect(w, "a104 b105 +c106 @106");
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
 * After a queue overflow watches go on: they get the newest states and every deletion, but skip states
 * between. A watch resumed from a skipped RV gets 410.
 */
TEST(an_overflow_skips_states_but_no_deletion)
{
	int many = 70000;

	arena_world_tell(w, "c104 @104");
	arena_world_expect(w, "+c104 @104");
	arena_world_say(w, "-c105 d106 e107 -e108 @108");
	broker_fixture_do(w->fx, change_much, &many);
	arena_world_reach(w, 71000);
	arena_world_expect(w, "?-c105 +d106 ?b70998 ?a70999 @71000");
	arena_world_expect_from(w, 104, "?-c105 +d106 ?b70998 ?a70999 @71000");
	arena_world_expect_from(w, 107, "410");
	arena_world_expect_from(w, 71000, "@71000");
	arena_world_tell(w, "a71001 @71001");
	arena_world_expect(w, "a71001 @71001");
}

/* The log goes on when another informerd takes over the arena. */
TEST_CASE_IN(set_up_generations, arena_world_tear_down, the_log_goes_on_over_a_takeover)
{
	struct arena_world *w = *state;

	arena_world_say(w, "a104 @104");
	broker_fixture_adopt(w->fx);
	arena_world_tell(w, "b105 @105");
	arena_world_expect(w, "a104 ?b105 @105");
}

/* When the next informerd lists anew, the log begins anew and watches get 410. */
TEST(a_lost_lineage_begins_the_log_anew)
{
	broker_fixture_replace(w->fx, true);
	arena_world_tell(w, "a110 c111 @115");
	arena_world_expect(w, "410");
	assert_string_equal(arena_world_view(w, 0, NULL), "a110 c111 @115");
}
