/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a resource's content when the next writer, or the next configuration, claims it. */
#include "tests/room.h"
#include "tests/support/allocations.h"
#include "tests/support/store_fixture.h"

enum { PODS = 20 };

static const char other_indexes[] =
	"{\"resource\":\"pods\",\"kind\":\"Pod\",\"namespaced\":true,\"indexes\":["
	"{\"name\":\"node\",\"rules\":[{\"path\":\"spec.nodeName\",\"as\":\"string\"}]}]}";

/* As pods_fingerprint, but for one part: source, selection, CA. */
static const uint8_t other_source[24] = "...s of the test fixture";
static const uint8_t other_selection[24] = "pods of ... test fixture";

static int
set_up(void **state)
{
	struct store_fixture *fx = store_fixture_new(0);

	for (unsigned i = 0; i < PODS; i++)
		assert_int_equal(
			store_fixture_putf(fx,
					   "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"d\",\"uid\":"
					   "\"u%u\"},\"spec\":{\"nodeName\":\"n\"}}",
					   i, i),
			0);
	assert_int_equal(store_set_version(fx->store, fx->pods, "10", 2), 0);
	store_set_state(fx->store, fx->pods, RESOURCE_SYNCED);
	store_fixture_commit(fx);
	store_unclaim(fx->store, fx->pods);
	*state = fx;
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct store_fixture *fx, set_up, store_fixture_tear_down, name)

static void
ask(struct store_fixture *fx, const char *descriptor, const uint8_t fingerprint[24], int result)
{
	unsigned id;

	assert_int_equal(store_add_resource(fx->store, descriptor, fingerprint, &id), result);
	if (result >= 0)
		assert_int_equal(id, fx->pods);
	assert_int_equal(store_resource_count(fx->store), 1);
}

/* A commit shows so many pods, also in this index, at this RV; "": LISTING. */
static void
assert_shown(struct store_fixture *fx, const char *index, const uint8_t fingerprint[24], unsigned count,
	     const char *version)
{
	const struct resource *shown;

	store_fixture_commit(fx);
	shown = store_fixture_published(fx);
	assert_memory_equal(shown->fingerprint, fingerprint, 24);
	assert_int_equal(shown->object_count, count);
	assert_int_equal(shown->state, *version ? RESOURCE_SYNCED : RESOURCE_LISTING);
	assert_int_equal(shown->version_length, strlen(version));
	assert_memory_equal(shown->version, version, strlen(version));
	store_fixture_assert_count(fx, count, index, "n");
}

/* Nothing is published. */
TEST(the_same_configuration_changes_nothing)
{
	uint64_t epoch = store_epoch(fx->store);

	ask(fx, pods_descriptor, pods_fingerprint, 1);
	assert_shown(fx, "nodeName", pods_fingerprint, PODS, "10");
	assert_int_equal(store_epoch(fx->store), epoch);
}

TEST(new_indexes_are_filled)
{
	ask(fx, other_indexes, pods_fingerprint, 1);
	assert_shown(fx, "node", pods_fingerprint, PODS, "10");
}

/* Readers keep the content, LISTING, without an RV to resume from. */
TEST(another_selection_waits_for_a_list)
{
	ask(fx, pods_descriptor, other_selection, 2);
	assert_shown(fx, "nodeName", other_selection, PODS, "");
	store_unclaim(fx->store, fx->pods);
	ask(fx, other_indexes, pods_fingerprint, 2);
	assert_shown(fx, "node", pods_fingerprint, PODS, "");
}

TEST(another_source_is_emptied)
{
	ask(fx, other_indexes, other_source, 0);
	assert_shown(fx, "node", other_source, 0, "");
}

/* A resource that waits for a list still waits when it is claimed again with the same fingerprint. */
TEST(a_waiting_resource_goes_on_waiting)
{
	ask(fx, pods_descriptor, other_selection, 2);
	store_unclaim(fx->store, fx->pods);
	ask(fx, pods_descriptor, other_selection, 1);
	assert_shown(fx, "nodeName", other_selection, PODS, "");
}

/* Without room for the descriptor the content stays. Without room for the indexes it is emptied. */
TEST(without_room_for_indexes_content_is_emptied)
{
	int r = -ENOSPC;
	unsigned id;

	for (uint64_t n = 0; r == -ENOSPC; n++) {
		assert_shown(fx, "nodeName", pods_fingerprint, PODS, "10");
		arena_fail_after(fx->arena, n);
		r = store_add_resource(fx->store, other_indexes, pods_fingerprint, &id);
		arena_fail_after(fx->arena, UINT64_MAX);
	}
	assert_int_equal(r, 0);
	assert_int_equal(id, fx->pods);
	assert_shown(fx, "node", pods_fingerprint, 0, "");
}

/* Whichever allocation fails, another try finds all content. */
TEST(without_memory_nothing_is_lost)
{
	uint64_t n = 0;
	unsigned id;

	for (;; n++) {
		bool sufficed;
		int r;

		allocations_left = n;
		r = store_add_resource(fx->store, other_indexes, pods_fingerprint, &id);
		sufficed = allocations_left != UINT64_MAX;
		allocations_left = UINT64_MAX;
		if (sufficed)
			break;
		if (r == 1) { /* it needed no more */
			store_unclaim(fx->store, id);
			ask(fx, pods_descriptor, pods_fingerprint, 1);
			store_unclaim(fx->store, id);
		} else {
			assert_int_equal(r, -ENOMEM);
		}
		assert_int_equal(store_resource_count(fx->store), 1);
		assert_shown(fx, "nodeName", pods_fingerprint, PODS, "10");
	}
	assert_in_range(n, 3, 1000);
	assert_shown(fx, "node", pods_fingerprint, PODS, "10");
}
