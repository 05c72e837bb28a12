/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource gets another definition and keeps its content. Its objects are in the new indexes under the new
 * values, whatever changes follow, and however often. A refused definition changes nothing.
 */
#include "tests/room.h"
#include "tests/support/allocations.h"
#include "tests/support/short_hash.h"
#include "tests/support/store_fixture.h"

enum { PODS = 20 };

static const uint8_t other_fingerprint[32] = "other pods of the test fixture";

/* As pods_descriptor, with fewer indexes in another order, and a new one that shares their paths. */
static const char other_descriptor[] =
	"{\"resource\":\"pods\",\"kind\":\"Pod\",\"namespaced\":true,\"indexes\":["
	"{\"name\":\"version\",\"rules\":[{\"path\":\"metadata.resourceVersion\",\"as\":\"string\"}]},"
	"{\"name\":\"nodeName\",\"rules\":[{\"path\":\"spec.nodeName\",\"as\":\"string\"}]},"
	"{\"name\":\"uid\",\"rules\":[{\"path\":\"metadata.uid\",\"as\":\"string\"}]}]}";

static void
put(struct store_fixture *fx, unsigned i, unsigned version)
{
	assert_int_equal(
		store_fixture_putf(fx,
				   "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"d\",\"uid\":\"u%u\","
				   "\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"web\"}},"
				   "\"spec\":{\"nodeName\":\"n%u\"}}",
				   i, i, version, (i + version) % 2),
		0);
}

/* The published root has so many of PODS pods, all of them in these two indexes. */
static void
assert_shown(struct store_fixture *fx, unsigned version)
{
	store_fixture_commit(fx);
	for (unsigned i = 0; i < PODS; i++)
		store_fixture_assert_count(fx, 1, "uid", "u%u", i);
	store_fixture_assert_count(fx, PODS / 2, "nodeName", "n%u", version % 2);
}

static void
put_all(struct store_fixture *fx, unsigned version)
{
	for (unsigned i = 0; i < PODS; i++)
		put(fx, i, version);
	assert_shown(fx, version);
}

static int
become_other(struct store_fixture *fx)
{
	return store_redefine(fx->store, fx->pods, other_descriptor, other_fingerprint);
}

#define TEST(name) TEST_CASE_OF(struct store_fixture *fx, store_fixture_set_up, store_fixture_tear_down, name)

/* Changes before and after the next commit are in all new indexes. */
TEST(objects_stand_where_the_new_definition_says)
{
	for (unsigned version = 1; version < 10; version += 3) {
		put_all(fx, version);
		store_fixture_assert_count(fx, PODS, "labels", "app=web");
		store_fixture_assert_count(fx, -1, "version", "1");
		assert_int_equal(become_other(fx), 0);
		put(fx, 0, version + 2);
		assert_shown(fx, version);
		assert_memory_equal(store_fixture_published(fx)->fingerprint, other_fingerprint, 24);
		store_fixture_assert_count(fx, -1, "labels", "app=web");
		store_fixture_assert_count(fx, PODS - 1, "version", "%u", version);
		store_fixture_assert_count(fx, 1, "version", "%u", version + 2);
		put_all(fx, version + 1);
		store_fixture_assert_count(fx, PODS, "version", "%u", version + 1);
		assert_int_equal(store_redefine(fx->store, fx->pods, pods_descriptor, pods_fingerprint), 0);
	}
}

/* No object changes, so no event is published. The memory of old indexes is free. */
TEST(a_redefinition_takes_no_seq_and_leaks_nothing)
{
	struct store_stats before, after;
	uint64_t seq;

	put_all(fx, 1);
	seq = store_seq(fx->store);
	store_fixture_drain(fx);
	store_stats(fx->store, &before);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(become_other(fx), 0);
		store_fixture_drain(fx);
		assert_int_equal(store_fixture_verify(fx), 0);
		assert_int_equal(store_redefine(fx->store, fx->pods, pods_descriptor, pods_fingerprint), 0);
		store_fixture_drain(fx);
		assert_int_equal(store_fixture_verify(fx), 0);
	}
	assert_int_equal(store_seq(fx->store), seq);
	store_stats(fx->store, &after);
	assert_int_equal(after.used_bytes, before.used_bytes);
	assert_int_equal(after.shared_blocks, before.shared_blocks);
}

/* The old indexes are complete, later changes go there, and nothing of the attempt is left. */
static void
assert_unchanged(struct store_fixture *fx, unsigned version, const struct store_stats *before)
{
	struct store_stats after;

	assert_memory_equal(store_resource(fx->store, fx->pods)->fingerprint, pods_fingerprint, 24);
	assert_shown(fx, version - 1);
	store_fixture_drain(fx);
	store_stats(fx->store, &after);
	assert_int_equal(after.used_bytes, before->used_bytes);
	assert_int_equal(after.shared_blocks, before->shared_blocks);
	store_fixture_renew_decoder(fx);
	put_all(fx, version);
	store_fixture_assert_count(fx, PODS, "labels", "app=web");
	store_fixture_assert_count(fx, -1, "version", "%u", version);
	store_fixture_drain(fx);
	store_fixture_renew_decoder(fx);
}

/* Fail each allocation in turn, of arena blocks or of private memory. */
static void
refuse_each(struct store_fixture *fx, bool private, int error)
{
	struct store_stats before;
	unsigned version = 1;
	bool sufficed;
	int r;

	put_all(fx, version);
	store_fixture_drain(fx);
	for (uint64_t n = 0;; n++) {
		store_stats(fx->store, &before);
		if (private)
			allocations_left = n;
		else
			arena_fail_after(fx->arena, n);
		r = become_other(fx);
		sufficed = !private || allocations_left != UINT64_MAX;
		allocations_left = UINT64_MAX;
		arena_fail_after(fx->arena, UINT64_MAX);
		if (r == 0 && sufficed)
			break;
		if (r == 0) /* it needed no more */
			assert_int_equal(
				store_redefine(fx->store, fx->pods, pods_descriptor, pods_fingerprint), 0);
		else
			assert_int_equal(r, error);
		assert_unchanged(fx, ++version, &before);
	}
	assert_in_range(version, 5, 1000);
	assert_shown(fx, version);
	store_fixture_assert_count(fx, PODS, "version", "%u", version);
}

TEST(without_room_nothing_has_changed)
{
	refuse_each(fx, false, -ENOSPC);
}

TEST(without_memory_nothing_has_changed)
{
	refuse_each(fx, true, -ENOMEM);
}

TEST(a_descriptor_that_cannot_be_is_refused)
{
	struct store_stats before;

	put_all(fx, 1);
	store_fixture_drain(fx);
	store_stats(fx->store, &before);
	assert_int_equal(store_redefine(fx->store, fx->pods, "{\"resource\":\"pods\",\"indexes\":[{}]}",
					other_fingerprint),
			 -EINVAL);
	assert_unchanged(fx, 2, &before);
}

/* Tombstones stay if they are found by the same values. Otherwise all go. */
TEST(tombstones_under_other_values_go)
{
	static const char as_before[] =
		"{\"resource\":\"pods\",\"indexes\":["
		"{\"name\":\"podIP\",\"rules\":[{\"path\":\"status.podIPs[*].ip\",\"as\":\"string\"}]},"
		"{\"name\":\"uid\",\"rules\":[{\"path\":\"metadata.uid\",\"as\":\"string\"}]}]}";
	struct tombstone_stats stats;

	put_all(fx, 1);
	for (unsigned i = 0; i < 3; i++)
		store_fixture_deletef(fx, "d", "p%u", i);
	store_fixture_commit(fx);
	assert_int_equal(store_redefine(fx->store, fx->pods, as_before, other_fingerprint), 0);
	store_tombstone_stats(fx->store, fx->pods, &stats);
	assert_int_equal(stats.count, 3);
	store_fixture_commit(fx);
	assert_int_equal(become_other(fx), 0);
	store_tombstone_stats(fx->store, fx->pods, &stats);
	assert_int_equal(stats.count + stats.bytes, 0);
	assert_int_equal(store_resource(fx->store, fx->pods)->tombstone_floor, store_seq(fx->store));
	store_fixture_commit(fx);
	store_fixture_assert_count(fx, PODS - 3, "version", "1");
}

/* As nodeName of pods_descriptor, filed under 4 bytes, and a second value. */
static const char cut_descriptor[] =
	"{\"resource\":\"pods\",\"indexes\":[{\"name\":\"nodeName\",\"prefix\":4,\"rules\":["
	"{\"path\":\"spec.nodeName\",\"as\":\"string\"},{\"path\":\"spec.second\",\"as\":\"string\"}]}]}";
static const char *const node_names[] = {"n", "nod", "node", "node-1", "node-2", "other", "othe", "x-1"};
static const char *const filed_names[] = {"n", "nod", "node", "othe", "x-1"};
enum { NAMES = sizeof(node_names) / sizeof(node_names[0]) };

/* Whether this is what a name is filed under. */
static bool
is_filed_under(int name, const char *filed)
{
	return name >= 0 && strncmp(node_names[name], filed, 4) == 0;
}

/* Each filed value has the pods with at least one name of it. names: two of each pod; -1: no such pod */
static void
assert_filed(struct store_fixture *fx, int (*names)[2])
{
	store_fixture_commit(fx);
	for (size_t f = 0; f < sizeof(filed_names) / sizeof(filed_names[0]); f++) {
		long count = 0;

		for (int i = 0; i < PODS; i++)
			count += is_filed_under(names[i][0], filed_names[f]) ||
				 is_filed_under(names[i][1], filed_names[f]);
		store_fixture_assert_count(fx, count, "nodeName", "%s", filed_names[f]);
	}
}

/* Pods come, go and change names. */
static void
change_names(struct store_fixture *fx, uint64_t hash_mask)
{
	int names[PODS][2];
	uint64_t seed = 7;

	memset(names, 0xff, sizeof(names));
	short_hash_mask = hash_mask;
	put(fx, 0, 1);
	assert_int_equal(store_redefine(fx->store, fx->pods, cut_descriptor, other_fingerprint), 0);
	store_fixture_delete(fx, "d", "p0");
	for (unsigned step = 0; step < 2000; step++) {
		unsigned i;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		i = (unsigned)(seed >> 33) % PODS;
		names[i][0] = (int)(seed >> 40) % (NAMES + 1) - 1;
		names[i][1] = (int)(seed >> 50) % NAMES;
		if (names[i][0] < 0) {
			names[i][1] = -1;
			store_fixture_deletef(fx, "d", "p%u", i);
		} else {
			store_fixture_putf(fx,
					   "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"d\"},\"spec\":{"
					   "\"nodeName\":\"%s\",\"second\":\"%s\"}}",
					   i, node_names[names[i][0]], node_names[names[i][1]]);
		}
		assert_filed(fx, names);
	}
	assert_int_equal(store_fixture_verify(fx), 0);
}

TEST(values_that_begin_alike_are_filed_together)
{
	change_names(fx, ~0ull);
}

TEST(values_that_begin_alike_and_share_hashes_are_filed_together)
{
	change_names(fx, 1);
	short_hash_mask = ~0ull;
}

TEST(an_index_of_whole_values_becomes_one_of_cut_values)
{
	put_all(fx, 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(store_redefine(fx->store, fx->pods, cut_descriptor, other_fingerprint), 0);
		store_fixture_putf(fx, "{\"metadata\":{\"name\":\"long\",\"namespace\":\"d\",\"uid\":\"ul\"},"
				       "\"spec\":{\"nodeName\":\"n100000\"}}");
		store_fixture_commit(fx);
		store_fixture_assert_count(fx, PODS / 2, "nodeName", "n1");
		store_fixture_assert_count(fx, 1, "nodeName", "n100");
		assert_int_equal(store_redefine(fx->store, fx->pods, pods_descriptor, pods_fingerprint), 0);
		assert_shown(fx, 1);
		store_fixture_assert_count(fx, 0, "nodeName", "n100");
		store_fixture_assert_count(fx, 1, "nodeName", "n100000");
	}
}
