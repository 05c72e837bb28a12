/* SPDX-License-Identifier: Apache-2.0 */
/* History: what a gateway that just came can tell of what was before it, and what it must not claim. */
#include "tests/tools/informer-gateway/arena_world.h"

struct history {
	const char *listed; /* the first list; said behind it, one commit each, before the gateway comes */
	const char *said[2];
	const char *told; /* when the gateway is there */
	struct {
		uint64_t rv; /* a watch from here on */
		const char *heard;
	} from[5];
};

static void
expect_history(const struct history *h)
{
	struct arena_world *w = arena_world_new(h->listed, false);

	for (size_t i = 0; i < 2 && h->said[i]; i++)
		arena_world_say(w, h->said[i]);
	arena_world_open(w);
	if (h->told)
		arena_world_tell(w, h->told);
	for (size_t i = 0; i < 5 && h->from[i].heard; i++)
		arena_world_expect_from(w, h->from[i].rv, h->from[i].heard);
	arena_world_free(w);
}

/* A history, as a test. */
#define HISTORY(name, ...)                                                                                   \
	TEST_CASE(name)                                                                                      \
	{                                                                                                    \
		expect_history(&(const struct history){__VA_ARGS__});                                        \
	}

#define DELETED "a101 b102 c103 d104 -c105 a106 a107 -b108 e109 @110"

/*
 * From the oldest deletion on that is remembered everything is told: newest states and deletions, the states
 * before which nobody knows. Before it there is no proof.
 */
HISTORY(a_watch_goes_on_from_before_the_gateway_came, DELETED,
	.from = {{110, "@110"}, {105, "?a107 ?-b108 ?e109 @110"}, {107, "?-b108 ?e109 @110"}, {104, "410"}})
HISTORY(and_what_comes_then_is_told_behind_it, DELETED, .told = "a111 @111",
	.from = {{108, "?e109 ?a111 @111"}})

/* What changed since is told once; what it was before, the log does not know of who comes from before the
 * log. */
HISTORY(what_the_log_has_is_not_told_twice, "a101 b102 -b103 c104 d105 @110",
	.told = "c111 -d112 e113 -e114 @114", .from = {{103, "?c111 ?-d112 +e113 -e114 @114"}})

/* One name that was deleted and taken anew is told as both, in order. */
HISTORY(a_name_taken_anew_is_told_as_both, "a101 b102 -b103 -a104 a105#2 @110",
	.from = {{103, "?-a104 ?a105 @110"}})

/* Of what was before the first list nobody knows what was deleted. */
HISTORY(before_the_first_list_there_is_no_history, "a101 b102 @110", .from = {{105, "410"}, {110, "@110"}})

/* Where nothing was forgotten history begins with the first list, though nothing was ever deleted. */
HISTORY(without_a_deletion_history_begins_with_the_first_list, "a101 b102 @110", {"a111 c113 @120"},
	.from = {{109, "410"}, {110, "?a111 ?c113 @120"}, {111, "?c113 @120"}})

/* And the first deletion behind it is told as any other. */
HISTORY(with_deletions_history_begins_with_the_first_list, "a101 b102 @110", {"-a111 c113 -b115 @120"},
	.from = {{109, "410"}, {110, "?-a111 ?c113 ?-b115 @120"}})

/* What a later list shows to be gone went at an RV that nobody knows: before that list there is no proof. */
HISTORY(what_went_unseen_ends_the_first_lists_proof, "a101 b102 c103 @110", {"a111 -b? @120"}, "c121 @130",
	{{110, "410"}, {119, "410"}})

/* A deletion that nobody saw has no RV: only what is behind the next one that was seen is known. */
HISTORY(an_unseen_deletion_hides_what_was_before_it, "a101 b102 c103 d104 -a105 -b? -c107 d108 @110",
	.from = {{106, "410"}, {107, "?d108 @110"}})

/* What informerd has committed and the log does not have yet is taken in, and hides no history. */
TEST_CASE(history_is_there_amid_changes)
{
	struct arena_world *w = arena_world_new(DELETED, false);
	uint64_t position, floor;
	int r;

	arena_world_open(w);
	arena_world_say(w, "a111 @111");
	arena_world_until(w, (r = w->store->api.position(w->store, w->pods->resource, 107, &position,
							 &floor)) != -EAGAIN);
	assert_int_equal(r, 0);
	assert_string_equal(arena_world_heard(w, w->store, &position), "?-b108 ?e109 ?a111 @111");
	arena_world_free(w);
}

/* A server that was restored goes on from before: its RVs are others. */
TEST_CASE(a_restored_server_ends_the_first_lists_proof)
{
	struct arena_world *w = arena_world_new("a101 b102 @110", false);

	arena_world_say(w, "a111 @120");
	arena_world_open(w);
	arena_world_close(w);
	arena_world_say(w, "a104 @105");
	arena_world_say(w, "b112 @130");
	arena_world_open(w);
	arena_world_expect_from(w, 110, "410");
	arena_world_free(w);
}

static void
remember(struct broker_fixture *fx, void *count)
{
	struct tombstone_limits limits = STORE_TOMBSTONES;

	limits.count = *(unsigned *)count;
	store_set_tombstone_limits(fx->store->store, fx->store->pods, limits);
}

/* What was forgotten cannot be gone on from; where no deletion is remembered there is no history. */
TEST_CASE(a_forgotten_deletion_is_no_proof)
{
	for (unsigned count = 0; count < 2; count++) {
		struct arena_world *w = arena_world_new("a101 b102 c103 @103", false);

		broker_fixture_do(w->fx, remember, &count);
		arena_world_say(w, "-a104 b105 -c106 b107 @110");
		arena_world_open(w);
		arena_world_expect_from(w, 105, "410");
		arena_world_expect_from(w, 106, count ? "?b107 @110" : "410");
		arena_world_free(w);
	}
}

/* A log that overran its bytes stays as it is: what it dropped is not brought back. */
TEST_CASE(history_takes_half_of_the_bytes_at_most)
{
	struct arena_world *w = arena_world_new(
		"a101 b102 -b103 c104 d105 e106 f107 g108 h109 i110 j111 @120", false);

	w->options.history_bytes = 4096;
	arena_world_open(w);
	arena_world_expect_from(w, 103, "410");
	assert_in_range(w->pods->feed.log.floor, 104, 110);
	assert_true(w->pods->feed.log.bytes <= 2048);
	arena_world_expect_from(w, 111, "@120");
	arena_world_expect_from(w, 110, "?j111 @120");
	arena_world_free(w);
}
