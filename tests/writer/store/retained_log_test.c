/* SPDX-License-Identifier: Apache-2.0 */
/* Objects held for queues: the log, and the store that retires objects by it. */
#include "tests/room.h"
#include "tests/support/store_fixture.h"
#include "writer/store/retained_log.h"

/* Entries come out oldest first, up to the limit. */
TEST_CASE(the_log_lets_go_in_order_up_to_the_limit)
{
	struct retained_log h = {0};
	uint32_t ref;

	for (uint32_t i = 1; i <= 1000; i++)
		assert_true(retained_log_append(&h, i / 2, i, 16));
	for (uint32_t i = 1; i < 600; i++) {
		assert_int_equal(retained_log_take(&h, 300, &ref), 1);
		assert_int_equal(ref, i);
	}
	assert_int_equal(retained_log_take(&h, 300, &ref), 0);
	for (uint32_t i = 1001; i <= 6000; i++) /* round the ring's end */
		assert_true(retained_log_append(&h, i / 2, i, 16));
	for (uint32_t i = 600; i <= 6000; i++) {
		assert_int_equal(retained_log_take(&h, UINT64_MAX, &ref), 1);
		assert_int_equal(ref, i);
	}
	assert_int_equal(retained_log_take(&h, UINT64_MAX, &ref), 0);
	assert_int_equal(h.entries.capacity, 0); /* a large ring is freed when it is empty */
}

/* The bytes after any seq are those of the later entries, whatever was released before. */
TEST_CASE(bytes_after_a_seq_are_those_of_later_entries)
{
	struct retained_log h = {0};
	uint32_t ref;

	assert_int_equal(retained_log_bytes_after(&h, 0), 0);
	for (uint32_t i = 1; i <= 100; i++)
		assert_true(retained_log_append(&h, 10ull * i, i, i));
	assert_int_equal(retained_log_bytes_after(&h, 0), 5050);
	assert_int_equal(retained_log_bytes_after(&h, 10), 5049);
	assert_int_equal(retained_log_bytes_after(&h, 995), 100);
	assert_int_equal(retained_log_bytes_after(&h, 1000), 0);
	for (uint32_t i = 1; i <= 50; i++)
		assert_int_equal(retained_log_take(&h, UINT64_MAX, &ref), 1);
	assert_int_equal(retained_log_bytes_after(&h, 0), 5050 - 1275);
	assert_int_equal(retained_log_bytes_after(&h, 999), 100);
	retained_log_done(&h);
}

static uint64_t lowest_unread;

static uint64_t
lowest(void *context, unsigned resource)
{
	(void)context;
	(void)resource;
	return lowest_unread;
}

static int
put(struct store_fixture *fx, int version)
{
	return store_fixture_putf(
		fx,
		"{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"%d\"},"
		"\"note\":\"a text that stands in no other version, %d\"}",
		version, version);
}

static void
commit(struct store_fixture *fx, int version)
{
	assert_int_equal(put(fx, version), 0);
	assert_int_equal(store_commit(fx->store), 0);
}

static struct store_fixture *
new_held(void)
{
	struct store_fixture *fx = store_fixture_new(0);

	store_hold_for(fx->store, lowest, NULL);
	lowest_unread = UINT64_MAX;
	return fx;
}

static bool
is_version(struct store_fixture *fx, uint32_t ref, int version)
{
	char *json = store_fixture_json(fx, ref), text[64];
	bool is;

	snprintf(text, sizeof(text), "no other version, %d\"", version);
	is = json && strstr(json, text);
	free(json);
	return is;
}

/* With the lowest unread seq in the middle the older half is freed, and the later half stays. */
TEST_CASE(release_goes_up_to_the_lowest_unread)
{
	struct store_fixture *fx = new_held();
	uint32_t refs[10];
	uint64_t seqs[10];

	lowest_unread = 1;
	for (int v = 0; v < 10; v++) {
		commit(fx, v);
		refs[v] = store_fixture_find(fx, "n", "a");
		seqs[v] = store_seq(fx->store);
	}
	/* unread is the change that made 5, with 4 as its old state */
	lowest_unread = seqs[5];
	store_release_held(fx->store);
	store_fixture_drain(fx);
	for (int v = 4; v < 10; v++)
		assert_true(is_version(fx, refs[v], v));
	assert_true(store_held_bytes(fx->store, fx->pods, 0) ==
		    store_held_bytes(fx->store, fx->pods, seqs[4]));
	assert_int_equal(store_fixture_verify(fx), 0);
	store_fixture_free(fx);
}

static unsigned told;

static void
look_at_events(void *context, const struct store_event *events, size_t count, uint64_t base)
{
	struct store_fixture *fx = context;

	(void)base;
	store_reclaim(fx->store);
	for (size_t i = 0; i < count; i++) {
		if (events[i].old_ref) {
			char *json = store_fixture_json(fx, events[i].old_ref);

			assert_non_null(strstr(json, "no other version"));
			free(json);
		}
		told++;
	}
}

/* A state that came and went between two commits is whole when the commit reports it. */
TEST_CASE(states_between_commits_last_until_they_are_reported)
{
	struct store_fixture *fx = new_held();

	told = 0;
	store_on_events(fx->store, look_at_events, fx);
	for (int v = 0; v < 100; v++) {
		assert_int_equal(put(fx, v), 0);
		store_release_held(fx->store); /* as when a queue is closed */
	}
	assert_true(store_held_bytes(fx->store, fx->pods, 0) > 0);
	assert_int_equal(store_commit(fx->store), 0);
	assert_int_equal(told, 100);
	assert_int_equal(store_held_bytes(fx->store, fx->pods, 0), 0);
	store_fixture_free(fx);
}

TEST_CASE(an_old_status_is_held)
{
	struct store_fixture *fx = new_held();
	struct store_stats before, held, after;

	store_stats(fx->store, &before);
	lowest_unread = 0;
	assert_int_equal(
		store_set_status(fx->store, fx->pods,
				 "{\"recovered\":false,\"message\":\"the server says no for once\"}"),
		0);
	assert_int_equal(store_commit(fx->store), 0);
	assert_int_equal(store_set_status(fx->store, fx->pods,
					  "{\"recovered\":true,\"message\":\"it is well again, all of it\"}"),
			 0);
	assert_int_equal(store_commit(fx->store), 0);
	/* nothing has changed yet: the status left at seq 0 */
	assert_true(store_held_bytes(fx->store, fx->pods, 0) == 0);
	store_stats(fx->store, &held);
	lowest_unread = UINT64_MAX;
	store_release_held(fx->store);
	store_stats(fx->store, &after);
	assert_true(after.shared_blocks < held.shared_blocks);
	store_fixture_free(fx);
}
