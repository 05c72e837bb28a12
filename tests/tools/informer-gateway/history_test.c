/* SPDX-License-Identifier: Apache-2.0 */
/* History: what a new gateway can prove about changes before its start. */
#include "tests/tools/informer-gateway/arena_world.h"

struct history {
	const char *listed; /* the first list; then one commit each, before the gateway starts */
	const char *said[2];
	const char *told; /* after the gateway has started */
	struct {
		uint64_t rv; /* where a watch begins */
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

#define HISTORY(name, ...)                                                                                   \
	TEST_CASE(name)                                                                                      \
	{                                                                                                    \
		expect_history(&(const struct history){__VA_ARGS__});                                        \
	}

#define DELETED "a101 b102 c103 d104 -c105 a106 a107 -b108 e109 @110"

/*
 * A watch may begin at the oldest remembered deletion or later. It hears newest states and deletions; old
 * states are unknown. Before that deletion nothing can be proved.
 */
HISTORY(a_watch_goes_on_from_before_the_gateway_came, DELETED,
	.from = {{110, "@110"}, {105, "?a107 ?-b108 ?e109 @110"}, {107, "?-b108 ?e109 @110"}, {104, "410"}})
HISTORY(a_later_change_follows_the_history, DELETED, .told = "a111 @111", .from = {{108, "?e109 ?a111 @111"}})

/* A change in the log is reported once. Its old state is unknown to a watch from before the log. */
HISTORY(changes_in_the_log_are_reported_once, "a101 b102 -b103 c104 d105 @110",
	.told = "c111 -d112 e113 -e114 @114", .from = {{103, "?c111 ?-d112 +e113 -e114 @114"}})

HISTORY(a_name_taken_anew_is_told_as_both, "a101 b102 -b103 -a104 a105#2 @110",
	.from = {{103, "?-a104 ?a105 @110"}})

/* Deletions before the first list are unknown. */
HISTORY(before_the_first_list_there_is_no_history, "a101 b102 @110", .from = {{105, "410"}, {110, "@110"}})

/* If no deletion was forgotten, history begins with the first list, even without any deletion. */
HISTORY(without_a_deletion_history_begins_with_the_first_list, "a101 b102 @110", {"a111 c113 @120"},
	.from = {{109, "410"}, {110, "?a111 ?c113 @120"}, {111, "?c113 @120"}})

HISTORY(with_deletions_history_begins_with_the_first_list, "a101 b102 @110", {"-a111 c113 -b115 @120"},
	.from = {{109, "410"}, {110, "?-a111 ?c113 ?-b115 @120"}})

/* An object that a later list lacks was deleted at an unknown RV. History begins after that list. */
HISTORY(a_later_list_that_lacks_an_object_ends_history, "a101 b102 c103 @110", {"a111 -b? @120"}, "c121 @130",
	{{110, "410"}, {119, "410"}})

/* After a deletion without an RV, history begins at the next deletion that was seen. */
HISTORY(an_unseen_deletion_hides_earlier_history, "a101 b102 c103 d104 -a105 -b? -c107 d108 @110",
	.from = {{106, "410"}, {107, "?d108 @110"}})

/* Commits that the log lacks at the start are applied, and history is still there. */
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

/* A restored server counts from an older RV: history from before is dropped. */
TEST_CASE(a_restored_server_ends_history)
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

/* History ends at a forgotten deletion. Without any remembered deletion there is none. */
TEST_CASE(a_forgotten_deletion_ends_history)
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

/* If the log has overrun its bytes, dropped changes are not brought back. */
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
