/* SPDX-License-Identifier: Apache-2.0 */
/*
 * History: what a gateway that just came can tell of what was before it, and what it must not claim.
 */
#include "tests/room.h"
#include "tests/tools/informer-gateway/arena_world.h"

static struct arena_world *
after(const char *said)
{
	struct arena_world *w = arena_world_new(said, false);

	arena_world_open(w);
	return w;
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

/*
 * From the oldest deletion on that is remembered everything is told: newest states and deletions, the states
 * before which nobody knows. Before it there is no proof.
 */
static void
a_watch_goes_on_from_before_the_gateway_came(void **state)
{
	struct arena_world *w = after("a101 b102 c103 d104 -c105 a106 a107 -b108 e109 @110");

	(void)state;
	expect_from(w, 110, "@110");
	expect_from(w, 105, "?a107 ?-b108 ?e109 @110");
	expect_from(w, 107, "?-b108 ?e109 @110");
	expect_from(w, 104, "410");
	arena_world_say(w, "a111 @111");
	arena_world_reach(w, 111);
	expect_from(w, 108, "?e109 a111 @111");
	arena_world_free(w);
}

/* What informerd has committed and the log does not have yet is taken in, and hides no history. */
static void
history_is_there_amid_changes(void **state)
{
	struct arena_world *w = after("a101 b102 c103 d104 -c105 a106 a107 -b108 e109 @110");
	uint64_t position, floor;
	int r;

	(void)state;
	arena_world_say(w, "a111 @111");
	arena_world_until(w, (r = w->store.api.position(&w->store, w->pods->resource, 107, &position,
							 &floor)) != -EAGAIN);
	assert_int_equal(r, 0);
	assert_string_equal(arena_world_heard(w, &w->store, &position), "?-b108 ?e109 a111 @111");
	arena_world_free(w);
}

/* What changed since is told as it was, and not twice. */
static void
what_the_log_has_is_not_told_twice(void **state)
{
	struct arena_world *w = after("a101 b102 -b103 c104 d105 @110");

	(void)state;
	arena_world_say(w, "c111 -d112 e113 -e114 @114");
	arena_world_reach(w, 114);
	expect_from(w, 103, "c111 -d112 +e113 -e114 @114");
	arena_world_free(w);
}

/* One name that was deleted and taken anew is told as both, in order. */
static void
a_name_taken_anew_is_told_as_both(void **state)
{
	struct arena_world *w = after("a101 b102 -b103 -a104 a105#2 @110");

	(void)state;
	expect_from(w, 103, "?-a104 ?a105 @110");
	arena_world_free(w);
}

/* Of what was before the first list nobody knows what was deleted. */
static void
before_the_first_list_there_is_no_history(void **state)
{
	struct arena_world *w = after("a101 b102 @110");

	(void)state;
	expect_from(w, 105, "410");
	expect_from(w, 110, "@110");
	arena_world_free(w);
}

/* The first list, what was said behind it, and then the gateway. */
static struct arena_world *
listed_and_after(const char *listed, const char *said)
{
	struct arena_world *w = arena_world_new(listed, false);

	arena_world_say(w, said);
	arena_world_open(w);
	return w;
}

/* Where nothing was forgotten history begins with the first list, though nothing was ever deleted. */
static void
without_a_deletion_history_begins_with_the_first_list(void **state)
{
	struct arena_world *w = listed_and_after("a101 b102 @110", "a111 c113 @120");

	(void)state;
	expect_from(w, 109, "410");
	expect_from(w, 110, "?a111 ?c113 @120");
	expect_from(w, 111, "?c113 @120");
	arena_world_free(w);
}

/* And the first deletion behind it is told as any other. */
static void
with_deletions_history_begins_with_the_first_list(void **state)
{
	struct arena_world *w = listed_and_after("a101 b102 @110", "-a111 c113 -b115 @120");

	(void)state;
	expect_from(w, 109, "410");
	expect_from(w, 110, "?-a111 ?c113 ?-b115 @120");
	arena_world_free(w);
}

/* What a later list shows to be gone went at an RV that nobody knows: before that list there is no proof. */
static void
what_went_unseen_ends_the_first_lists_proof(void **state)
{
	struct arena_world *w = listed_and_after("a101 b102 c103 @110", "a111 -b? @120");

	(void)state;
	arena_world_say(w, "c121 @130");
	arena_world_reach(w, 130);
	expect_from(w, 110, "410");
	expect_from(w, 119, "410");
	arena_world_free(w);
}

/* A server that was restored goes on from before: its RVs are others. */
static void
a_restored_server_ends_the_first_lists_proof(void **state)
{
	struct arena_world *w = listed_and_after("a101 b102 @110", "a111 @120");

	(void)state;
	arena_world_close(w);
	arena_world_say(w, "a104 @105");
	arena_world_say(w, "b112 @130");
	arena_world_open(w);
	expect_from(w, 110, "410");
	arena_world_free(w);
}

/* A deletion that nobody saw has no RV: only what is behind the next one that was seen is known. */
static void
an_unseen_deletion_hides_what_was_before_it(void **state)
{
	struct arena_world *w = after("a101 b102 c103 d104 -a105 -b? -c107 d108 @110");

	(void)state;
	expect_from(w, 106, "410");
	expect_from(w, 107, "?d108 @110");
	arena_world_free(w);
}

static void
remember_one(struct broker_fixture *fx, void *context)
{
	struct tombstone_limits limits = STORE_TOMBSTONES;

	(void)context;
	limits.count = 1;
	store_set_tombstone_limits(fx->store->store, fx->store->pods, limits);
}

/* What was forgotten cannot be gone on from. */
static void
a_forgotten_deletion_is_no_proof(void **state)
{
	struct arena_world *w = arena_world_new("a101 b102 c103 @103", false);

	(void)state;
	broker_fixture_do(w->fx, remember_one, NULL);
	arena_world_say(w, "-a104 b105 -c106 b107 @110");
	arena_world_open(w);
	expect_from(w, 105, "410");
	expect_from(w, 106, "?b107 @110");
	arena_world_free(w);
}

static void
remember_none(struct broker_fixture *fx, void *context)
{
	struct tombstone_limits limits = STORE_TOMBSTONES;

	(void)context;
	limits.count = 0;
	store_set_tombstone_limits(fx->store->store, fx->store->pods, limits);
}

/* A log that overran its bytes stays as it is: what it dropped is not brought back. */
static void
history_takes_half_of_the_bytes_at_most(void **state)
{
	struct arena_world *w = arena_world_new(
		"a101 b102 -b103 c104 d105 e106 f107 g108 h109 i110 j111 @120", false);

	(void)state;
	w->options.history_bytes = 4096;
	arena_world_open(w);
	expect_from(w, 103, "410");
	assert_true(w->pods->feed.log.floor > 103);
	assert_true(w->pods->feed.log.floor < 111);
	assert_true(w->pods->feed.log.bytes <= 2048);
	expect_from(w, 111, "@120");
	expect_from(w, 110, "?j111 @120");
	arena_world_free(w);
}

/* Where no deletion is remembered there is no history. */
static void
without_tombstones_there_is_no_history(void **state)
{
	struct arena_world *w = arena_world_new("a101 b102 c103 @103", false);

	(void)state;
	broker_fixture_do(w->fx, remember_none, NULL);
	arena_world_say(w, "-a104 b105 @110");
	arena_world_open(w);
	expect_from(w, 104, "410");
	arena_world_free(w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_watch_goes_on_from_before_the_gateway_came),
	cmocka_unit_test(history_is_there_amid_changes),
	cmocka_unit_test(what_the_log_has_is_not_told_twice),
	cmocka_unit_test(a_name_taken_anew_is_told_as_both),
	cmocka_unit_test(before_the_first_list_there_is_no_history),
	cmocka_unit_test(without_a_deletion_history_begins_with_the_first_list),
	cmocka_unit_test(with_deletions_history_begins_with_the_first_list),
	cmocka_unit_test(what_went_unseen_ends_the_first_lists_proof),
	cmocka_unit_test(a_restored_server_ends_the_first_lists_proof),
	cmocka_unit_test(an_unseen_deletion_hides_what_was_before_it),
	cmocka_unit_test(a_forgotten_deletion_is_no_proof),
	cmocka_unit_test(history_takes_half_of_the_bytes_at_most),
	cmocka_unit_test(without_tombstones_there_is_no_history),
};
TEST_GROUP(tests, NULL, NULL);
