/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store, against a plain model. Objects are found by key and by every index; a version's changes come
 * together. Memory is freed. A change that does not fit changes nothing.
 */
#include "tests/room.h"
#include "tests/support/dice.h"
#include "tests/support/short_hash.h"
#include "tests/support/store_fixture.h"
#include "writer/decode/value_encode.h"

/* Hashes of few bits: the linker puts this function in place of libsodium's. */
int __real_crypto_shorthash(unsigned char *out, const unsigned char *in, unsigned long long length,
			    const unsigned char *key);
int __wrap_crypto_shorthash(unsigned char *out, const unsigned char *in, unsigned long long length,
			    const unsigned char *key);

int
__wrap_crypto_shorthash(unsigned char *out, const unsigned char *in, unsigned long long length,
			const unsigned char *key)
{
	uint64_t hash;
	int r = __real_crypto_shorthash((unsigned char *)&hash, in, length, key);

	/* a block's tag hashes 24 bytes; shapes are known by their tags (value.h), so these stay whole */
	if (length != 24)
		hash &= short_hash_mask;
	memcpy(out, &hash, sizeof(hash));
	return r;
}

#define PODS 400
#define NODES 7
#define USERS 5

struct model_pod {
	int present, uid, version, node, user, team, has_ip;
};

static unsigned filler_bytes; /* makes the pods larger */

static int
put(struct store_fixture *fx, unsigned i, const struct model_pod *p)
{
	char ip[64] = "";

	if (p->has_ip)
		snprintf(ip, sizeof(ip), ",\"podIPs\":[{\"ip\":\"10.0.%u.%u\"},{\"ip\":\"fd00::%x\"}]",
			 i / 256, i % 256, i);
	return store_fixture_putf(
		fx,
		"{\"metadata\":{\"name\":\"pod-%u\",\"namespace\":\"ns-%u\",\"uid\":\"uid-%d\","
		"\"resourceVersion\":\"%d\",\"labels\":{\"team\":\"t%d\",\"app\":\"a%u\"},"
		"\"annotations\":{\"users\":\"u%d, u%d,u0\",\"filler\":\"%0*d\"}},"
		"\"spec\":{\"nodeName\":\"node-%d\"},\"status\":{\"phase\":\"Running\"%s}}",
		i, i % 3, p->uid, p->version, p->team, i % 50, p->user, p->user, (int)filler_bytes,
		p->version, p->node, ip);
}

static const char *
namespace_of(unsigned i)
{
	static const char *const names[3] = {"ns-0", "ns-1", "ns-2"};

	return names[i % 3];
}

static uint32_t
find(struct store_fixture *fx, unsigned i)
{
	char name[16];

	snprintf(name, sizeof(name), "pod-%u", i);
	return store_fixture_find(fx, namespace_of(i), name);
}

static void
delete_pod(struct store_fixture *fx, unsigned i)
{
	store_fixture_deletef(fx, namespace_of(i), "pod-%u", i);
}

static long
expected(const struct model_pod *pods, const char *index, int value)
{
	long n = 0;

	for (unsigned i = 0; i < PODS; i++) {
		const struct model_pod *p = &pods[i];

		if (!p->present)
			continue;
		if (strcmp(index, "nodeName") == 0)
			n += p->node == value;
		else if (strcmp(index, "team") == 0)
			n += p->team == value;
		else if (strcmp(index, "namespace") == 0)
			n += (int)(i % 3) == value;
		else if (strcmp(index, "byUser") == 0)
			n += p->user == value || value == 0;
		else if (strcmp(index, "uid") == 0)
			n += p->uid == value;
		else
			n += p->has_ip && (int)i == value;
	}
	return n;
}

static void
assert_agrees(struct store_fixture *fx, const struct model_pod *pods)
{
	char value[64];
	long present = 0;

	for (unsigned i = 0; i < PODS; i++) {
		uint32_t ref = find(fx, i);
		const struct object *o;

		assert_int_equal(ref != 0, pods[i].present);
		present += pods[i].present;
		store_fixture_assert_count(fx, expected(pods, "podIP", (int)i), "podIP", "10.0.%u.%u",
					   i / 256, i % 256);
		if (!ref)
			continue;
		o = object_at(&fx->arena->view, ref);
		snprintf(value, sizeof(value), "%d", pods[i].version);
		assert_int_equal(o->version_length, strlen(value));
		assert_memory_equal(object_version(o), value, o->version_length);
		store_fixture_assert_count(fx, 1, "uid", "uid-%d", pods[i].uid);
	}
	assert_int_equal(store_resource(fx->store, fx->pods)->object_count, present);
	for (int v = 0; v < NODES; v++) {
		store_fixture_assert_count(fx, expected(pods, "nodeName", v), "nodeName", "node-%d", v);
		store_fixture_assert_count(fx, expected(pods, "team", v), "labels", "team=t%d", v);
	}
	for (int v = 0; v < 3; v++)
		store_fixture_assert_count(fx, expected(pods, "namespace", v), "namespace", "ns-%d", v);
	for (int v = 0; v < USERS; v++)
		store_fixture_assert_count(fx, expected(pods, "byUser", v), "byUser", "u%d", v);
}

static void
change_at_random(struct store_fixture *fx, struct model_pod *pods, int *next_uid, int *next_version,
		 unsigned present_of_8)
{
	unsigned i = pick(PODS);
	struct model_pod *p = &pods[i], now = *p;

	if (pick(8) >= present_of_8) {
		delete_pod(fx, i);
		assert_int_equal(fx->change, p->present ? FX_DELETED : FX_NOTHING);
		p->present = 0;
		return;
	}
	if (!p->present || pick(16) == 0)
		now.uid = ++*next_uid;
	now.version = ++*next_version;
	if (pick(4) == 0) {
		now.node = (int)pick(NODES);
		now.team = (int)pick(NODES);
		now.user = (int)pick(USERS);
		now.has_ip = (int)pick(2);
	}
	assert_int_equal(put(fx, i, &now), 0);
	assert_int_equal(fx->change, p->present && now.uid == p->uid ? FX_UPDATED : FX_ADDED);
	now.present = 1;
	*p = now;
}

/* Random changes; twice, each time until the store is empty: no block, count or ordinal leaks. */
static void
agree_with_a_plain_table(uint64_t hash_mask, unsigned rounds)
{
	struct store_fixture *fx;
	struct model_pod pods[PODS] = {0};
	struct store_stats once = {0}, again;
	int uid = 0, version = 0;

	short_hash_mask = hash_mask;
	fx = store_fixture_new(0);
	store_set_tombstone_limits(fx->store, fx->pods, (struct tombstone_limits){0});
	for (unsigned time = 0; time < 2; time++) {
		for (unsigned round = 0; round < rounds; round++) {
			for (unsigned n = 1 + pick(300); n > 0; n--)
				change_at_random(fx, pods, &uid, &version, 2 + round % 6);
			store_fixture_commit(fx);
			assert_agrees(fx, pods);
		}
		for (unsigned i = 0; i < PODS; i++)
			delete_pod(fx, i);
		memset(pods, 0, sizeof(pods));
		assert_int_equal(store_commit(fx->store), 0);
		store_fixture_drain(fx);
		store_stats(fx->store, &again);
		if (time == 0)
			once = again;
		assert_int_equal(again.used_bytes, once.used_bytes);
		assert_int_equal(again.shared_blocks, once.shared_blocks);
		assert_int_equal(store_resource(fx->store, fx->pods)->identity, 0);
		assert_int_equal(store_resource(fx->store, fx->pods)->by_seq, 0);
		store_fixture_renew_decoder(fx);
	}
	store_fixture_free(fx);
}

/*
 * Keys and all indexes agree with a plain table, however hashes collide: in three low bits (the tries' last
 * level and below), in three high bits (the level of 16 digits), or all.
 */
TEST_CASE(random_changes_agree_with_a_plain_table)
{
	agree_with_a_plain_table(~0ull, 60);
	agree_with_a_plain_table(7, 20);
	agree_with_a_plain_table(7ull << 61, 20);
	agree_with_a_plain_table(0, 20);
}

/* One commit or many, with deletions in between or not, give the same store. */
static void
assert_commits_do_not_matter(unsigned one_in, unsigned batch, bool deletes)
{
	static const char *const values[][3] = {{"nodeName", "node-", ""}, {"labels", "team=t", ""},
						{"labels", "app=a", ""},   {"byUser", "u", ""},
						{"namespace", "ns-", ""},  {"podIP", "10.0.", ".7"}};
	long sum = 0;
	struct store_fixture *fx[2] = {store_fixture_new(0), store_fixture_new(0)};

	for (unsigned w = 0; w < 2; w++) {
		dice = 77 + batch;
		store_set_tombstone_limits(fx[w]->store, fx[w]->pods, (struct tombstone_limits){0});
		for (unsigned i = 0; i < batch; i++) {
			struct model_pod p = {
				1,         (int)i, 1 + (int)i, (int)pick(60), (int)pick(200), (int)pick(9),
				i % 3 != 0};
			unsigned gone = i < 8 ? 0 : pick(i);

			assert_int_equal(put(fx[w], i, &p), 0);
			if (deletes && i % 5 == 0)
				delete_pod(fx[w], gone);
			if (w == 0 && i % one_in == 0)
				assert_int_equal(store_commit(fx[w]->store), 0);
		}
		store_fixture_commit(fx[w]);
	}
	for (unsigned v = 0; v < sizeof(values) / sizeof(values[0]); v++)
		for (unsigned n = 0; n < 200; n++) {
			char value[32];
			long found;

			snprintf(value, sizeof(value), "%s%u%s", values[v][1], n, values[v][2]);
			found = store_fixture_count_by_index(fx[0], values[v][0], value);
			assert_int_equal(store_fixture_count_by_index(fx[1], values[v][0], value), found);
			sum += found;
		}
	assert_true(sum > batch);
	assert_int_equal(store_resource(fx[0]->store, fx[0]->pods)->object_count,
			 store_resource(fx[1]->store, fx[1]->pods)->object_count);
	for (unsigned w = 0; w < 2; w++)
		store_fixture_free(fx[w]);
}

TEST_CASE(one_commit_or_many_give_the_same_store)
{
	assert_commits_do_not_matter(1, 600, false);
	assert_commits_do_not_matter(1, 600, true);
	/* so many that a change prefetches (WARM_MIN) */
	assert_commits_do_not_matter(700, 10000, false);
	assert_commits_do_not_matter(700, 12000, true);
}

#define TEST(name) TEST_CASE_OF(struct store_fixture *fx, store_fixture_set_up, store_fixture_tear_down, name)

/* A pinned epoch stays, whatever is committed later. Unpinned, its memory is reused. */
TEST(a_pinned_version_stays_as_it_was)
{
	struct model_pod pods[PODS] = {0}, pinned[PODS];
	struct store_stats before, held, after;
	int uid = 0, version = 0, fd;
	struct pin_cell *cell;
	struct slot *slot;
	uint64_t root, live;
	unsigned id;

	for (unsigned n = 0; n < 2000; n++)
		change_at_random(fx, pods, &uid, &version, 7);
	assert_int_equal(store_commit(fx->store), 0);
	assert_int_equal(pins_add(fx->pins, store_epoch(fx->store), &id, &fd), 0);
	slot = test_map_slot(fd);
	cell = slot_claim(slot, 0);
	assert_non_null(cell);
	root = slot_load_root(fx->arena->header);
	slot_pin(cell, root_at(&fx->arena->view, root)->epoch);
	memcpy(pinned, pods, sizeof(pods));
	store_stats(fx->store, &before);

	for (unsigned round = 0; round < 50; round++) {
		for (unsigned n = 0; n < 200; n++)
			change_at_random(fx, pods, &uid, &version, 7);
		assert_int_equal(store_commit(fx->store), 0);
		store_reclaim(fx->store);
	}
	store_stats(fx->store, &held);
	assert_true(held.retired_bytes > before.retired_bytes);
	assert_agrees(fx, pods);

	/* read the old state through the old root, published for a moment */
	live = atomic_exchange(&fx->arena->header->root, root);
	assert_int_equal(store_fixture_verify(fx), 0);
	for (int v = 0; v < NODES; v++)
		store_fixture_assert_count(fx, expected(pinned, "nodeName", v), "nodeName", "node-%d", v);
	atomic_store(&fx->arena->header->root, live);

	slot_unpin(cell);
	store_reclaim(fx->store);
	store_stats(fx->store, &after);
	assert_int_equal(after.retired_bytes, 0);
	test_unmap_slot(slot);
}

/* Change a large object and commit, up to `times` times. Returns 0, or the error of a refusal. */
static int
change_often(struct store_fixture *fx, unsigned times)
{
	int r = 0;

	for (unsigned i = 0; i < times && r == 0; i++) {
		r = store_fixture_putf(fx,
				       "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\"},"
				       "\"x\":\"%030000u\"}",
				       (unsigned)store_epoch(fx->store));
		if (r == 0)
			r = store_commit(fx->store);
	}
	return r;
}

static bool
let_go(void *cell)
{
	if (atomic_load(&((struct pin_cell *)cell)->epoch) == CELL_FREE)
		return false;
	slot_unpin(cell);
	return true;
}

/*
 * Memory that a reader let go is available at once, without another event. Before a change is refused, the
 * store asks for a revocation.
 */
TEST_CASE(memory_let_go_is_available_at_once)
{
	struct store_fixture *fx = store_fixture_new(4u << 20);
	struct pin_cell *cell;
	struct slot *slot;
	unsigned id;
	int fd;

	assert_int_equal(store_commit(fx->store), 0);
	assert_int_equal(pins_add(fx->pins, store_epoch(fx->store), &id, &fd), 0);
	slot = test_map_slot(fd);
	cell = slot_claim(slot, 0);
	slot_pin(cell, store_epoch(fx->store));
	assert_int_equal(change_often(fx, 1000), -ENOSPC);
	slot_unpin(cell);
	assert_int_equal(change_often(fx, 1), 0);

	cell = slot_claim(slot, 0);
	slot_pin(cell, store_epoch(fx->store));
	store_on_full(fx->store, let_go, cell);
	assert_int_equal(change_often(fx, 1000), 0);
	assert_int_equal(atomic_load(&cell->epoch), CELL_FREE);
	assert_int_equal(store_fixture_verify(fx), 0);
	test_unmap_slot(slot);
	store_fixture_free(fx);
}

/* A sweep frees blocks shared by a failed list's drafts, though there is nothing to commit. */
TEST(a_sweep_frees_blocks_of_a_failed_list)
{
	uint8_t payload[1024] = {0};
	uint32_t ref, refs[1000];
	struct store_stats before, after;
	size_t length;
	bool known;

	store_stats(fx->store, &before);
	assert_int_equal(store_sweep(fx->store), 0);
	assert_int_equal(store_epoch(fx->store), before.epoch); /* nothing to sweep */
	length = encode_string_head(payload, 1000) + 1000;
	for (unsigned i = 0; i < 1000; i++) {
		memcpy(payload + length - sizeof(i), &i, sizeof(i));
		assert_int_equal(intern_get(store_intern(fx->store), BLOCK_VALUE, payload, (uint32_t)length,
					    &ref, &known),
				 0);
		assert_false(known);
		refs[i] = ref;
	}
	for (unsigned i = 0; i < 1000; i++)
		intern_unref(store_intern(fx->store), refs[i]);
	store_stats(fx->store, &after);
	assert_true(after.retired_bytes > 1000000);
	assert_int_equal(store_commit(fx->store), 0);
	assert_int_equal(store_sweep(fx->store), 0);
	store_stats(fx->store, &after);
	assert_int_equal(after.epoch, before.epoch + 1);
	assert_true(after.retired_bytes < 4096);
	assert_true(after.used_bytes < before.used_bytes + 4096);
}

/* An update without changed index values keeps all index links in the root. */
TEST(an_update_that_moves_no_value_touches_no_index)
{
	struct model_pod p = {1, 1, 1, 1, 1, 1, 1};
	uint32_t before[6], identity, count;
	const struct resource *res;

	for (unsigned i = 0; i < 100; i++) {
		p.uid = (int)i + 1;
		assert_int_equal(put(fx, i, &p), 0);
	}
	assert_int_equal(store_commit(fx->store), 0);
	res = store_fixture_published(fx);
	count = res->index_count;
	assert_in_range(count, 1, 6);
	for (uint32_t i = 0; i < count; i++)
		before[i] = res->indexes[i];
	identity = res->identity;
	p.uid = 51;
	p.version = 2;
	assert_int_equal(put(fx, 50, &p), 0);
	assert_int_equal(fx->change, FX_UPDATED);
	assert_int_equal(store_commit(fx->store), 0);
	res = store_fixture_published(fx);
	assert_memory_equal(before, res->indexes, count * sizeof(before[0]));
	assert_int_equal(identity, res->identity);
}

/* A commit writes only the resources that it changes. */
TEST(a_commit_leaves_other_resources_as_they_are)
{
	static const char descriptor[] = "{\"resource\":\"widgets\",\"kind\":\"Widget\",\"indexes\":[]}";
	static const uint8_t fingerprint[32] = {7};
	struct model_pod p = {1, 1, 1, 1, 1, 1, 1};
	const struct root *before, *after;
	unsigned widgets;

	assert_int_equal(store_add_resource(fx->store, descriptor, fingerprint, &widgets), 0);
	assert_int_equal(store_commit(fx->store), 0);
	before = store_fixture_root(fx);
	assert_int_equal(put(fx, 1, &p), 0);
	assert_int_equal(store_commit(fx->store), 0);
	after = store_fixture_root(fx);
	assert_int_equal(after->epoch, before->epoch + 1);
	assert_int_equal(after->resources[widgets], before->resources[widgets]);
	assert_int_not_equal(after->resources[fx->pods], before->resources[fx->pods]);
}

/* An empty value is a value, also as the first of its index; an absent value is none. */
TEST(an_empty_value_is_found)
{
	assert_int_equal(
		store_fixture_put(fx, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"nodeName\":\"\"}}"), 0);
	assert_int_equal(store_fixture_put(fx, "{\"metadata\":{\"name\":\"b\"},\"spec\":{}}"), 0);
	assert_int_equal(store_commit(fx->store), 0);
	assert_int_equal(store_fixture_count_by_index(fx, "nodeName", ""), 1);
}

/* From store_keep() on, replaced blocks stay, whatever is committed or unpinned. */
TEST(kept_blocks_are_not_written_over)
{
	struct model_pod p = {1, 1, 1, 1, 1, 1, 1};
	char *before, *after;
	uint32_t ref;

	filler_bytes = 20000;
	assert_int_equal(put(fx, 1, &p), 0);
	assert_int_equal(store_commit(fx->store), 0);
	ref = find(fx, 1);
	before = store_fixture_json(fx, ref);
	assert_non_null(before);
	store_keep(fx->store);
	for (int i = 2; i < 200; i++) {
		p.version = i;
		assert_int_equal(put(fx, 1, &p), 0);
		assert_int_equal(store_commit(fx->store), 0);
		store_reclaim(fx->store);
	}
	after = store_fixture_json(fx, ref);
	assert_non_null(after);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

/* Put a pod, and say whether it gained a value by which it can be found. */
static bool
gains(struct store_fixture *fx, const char *uid, const char *label, const char *user, const char *phase)
{
	uint64_t before = store_fixture_published(fx)->valued_seq;

	assert_int_equal(
		store_fixture_putf(fx,
				   "{\"metadata\":{\"name\":\"p\",\"namespace\":\"d\",\"uid\":\"%s\","
				   "\"labels\":{\"app\":\"%s\"},\"annotations\":{\"users\":\"%s\"}},"
				   "\"status\":{\"phase\":\"%s\"}}",
				   uid, label, user, phase),
		0);
	store_fixture_commit(fx);
	assert_in_set(store_fixture_published(fx)->valued_seq,
		      ((const uintmax_t[]){before, store_seq(fx->store)}), 2);
	return store_fixture_published(fx)->valued_seq != before;
}

/* The store says when an object last gained a value in some index; a value that goes is none. */
TEST(a_change_that_brings_a_value_is_marked)
{
	store_fixture_commit(fx);
	assert_true(gains(fx, "u1", "web", "ernie,bert", "Pending"));
	assert_false(gains(fx, "u1", "web", "ernie,bert", "Running"));
	assert_false(gains(fx, "u1", "web", "bert", "Running"));
	assert_true(gains(fx, "u1", "shop", "bert", "Running"));
	assert_true(gains(fx, "u2", "shop", "bert", "Running"));
	assert_int_equal(store_fixture_delete(fx, "d", "p"), 0);
	store_fixture_commit(fx);
	assert_true(store_fixture_published(fx)->valued_seq < store_seq(fx->store));
	assert_true(gains(fx, "u2", "shop", "bert", "Running"));
}

/* Values with one filed value are one to the index: any change of such a value counts. */
TEST(a_change_beyond_the_prefix_is_marked)
{
	assert_int_equal(
		store_redefine(fx->store, fx->pods,
			       "{\"resource\":\"pods\",\"kind\":\"Pod\",\"namespaced\":true,\"indexes\":["
			       "{\"name\":\"app\",\"prefix\":2,\"rules\":["
			       "{\"path\":\"metadata.labels.app\",\"as\":\"string\"}]}]}",
			       pods_fingerprint),
		0);
	store_fixture_commit(fx);
	assert_true(gains(fx, "u1", "web", "x", "Pending"));
	assert_false(gains(fx, "u1", "web", "y", "Running"));
	assert_true(gains(fx, "u1", "wet", "y", "Running"));
}
