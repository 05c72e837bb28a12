/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tombstones: deleted objects are found by seq, key, uid, address and container, within the limits. The floor
 * is the seq from which all deletions are there. Whatever allocation fails, a change happens whole or not at
 * all.
 */
#include <inttypes.h>
#include <sodium.h>
#include <time.h>

#include "shm-layout/collision.h"
#include "shm-layout/object.h"
#include "shm-layout/time_ns.h"
#include "shm-layout/tombstone.h"
#include "tests/room.h"
#include "tests/support/allocations.h"
#include "tests/support/arena_fixture.h"
#include "tests/support/dice.h"
#include "tests/support/generations.h"
#include "tests/support/steps.h"
#include "tests/support/store_fixture.h"

#define SECOND 1000000000ull
#define LARGEST_BLOCK 1024ull

static const char descriptor[] =
	"{\"resource\":\"pods\",\"kind\":\"Pod\",\"namespaced\":true,\"indexes\":["
	"{\"name\":\"who\",\"rules\":[{\"path\":\"metadata.uid\",\"as\":\"string\"}]},"
	"{\"name\":\"podIP\",\"rules\":[{\"path\":\"status.podIPs[*].ip\",\"as\":\"string\"}]},"
	"{\"name\":\"containerID\",\"rules\":[{\"path\":\"status.containerStatuses[*].containerID\",\"as\":"
	"\"scheme\"}]}]}";

static struct store_fixture *
new_store(uint64_t max_bytes)
{
	struct arena *arena = calloc(1, sizeof(*arena));
	struct store_fixture *fx;

	assert_non_null(arena);
	assert_true(sodium_init() >= 0);
	assert_int_equal(arena_fixture_make(arena, max_bytes), 0);
	fx = store_fixture_of(arena, NULL, descriptor);
	fx->owns_arena = 1;
	return fx;
}

/* Put pod `name`, with all its search values made of n. */
static int
put(struct store_fixture *fx, unsigned name, unsigned uid, unsigned version)
{
	return store_fixture_putf(
		fx,
		"{\"metadata\":{\"name\":\"pod-%u\",\"namespace\":\"n\",\"uid\":\"uid-%u\","
		"\"resourceVersion\":\"%u\"},"
		"\"status\":{\"podIPs\":[{\"ip\":\"10.0.0.%u\"},{\"ip\":\"fd00::%x\"}],\"containerStatuses\":"
		"["
		"{\"containerID\":\"containerd://a%u\"},{\"containerID\":\"containerd://b%u\"}]}}",
		name, uid, version, name, name, uid, uid);
}

/* Put a pod with so many bytes that no other pod has. */
static int
put_large(struct store_fixture *fx, unsigned n, int bytes)
{
	return store_fixture_putf(
		fx,
		"{\"metadata\":{\"name\":\"pod-%u\",\"namespace\":\"n\",\"uid\":\"uid-%u\"},"
		"\"x\":\"%0*u\"}",
		n, n, bytes, n);
}

static int
delete(struct store_fixture *fx, unsigned name)
{
	char text[32];

	snprintf(text, sizeof(text), "pod-%u", name);
	return store_fixture_delete(fx, "n", text);
}

/* Search by "pod" (its name), "uid", "ip4", "ip6", "a" and "b" (its containers). */
static enum tombstone_by
value_of(const char *what, unsigned n, char text[64])
{
	static const struct {
		const char *what, *prefix;
		enum tombstone_by by;
	} rows[] = {{"pod", "pod-", TOMBSTONE_BY_KEY},        {"uid", "uid-", TOMBSTONE_BY_UID},
		    {"ip4", "10.0.0.", TOMBSTONE_BY_ADDRESS}, {"ip6", "fd00::", TOMBSTONE_BY_ADDRESS},
		    {"a", "a", TOMBSTONE_BY_CONTAINER},       {"b", "b", TOMBSTONE_BY_CONTAINER}};
	size_t i = 0;

	while (strcmp(rows[i].what, what) != 0)
		i++;
	snprintf(text, 64, strcmp(what, "ip6") == 0 ? "%s%x" : "%s%u", rows[i].prefix, n);
	return rows[i].by;
}

static uint64_t
hash_of(struct store_fixture *fx, const char *what, unsigned n)
{
	const uint8_t *key = fx->arena->header->hash_key;
	char text[64];
	enum tombstone_by by = value_of(what, n, text);

	return tombstone_hash(by == TOMBSTONE_BY_KEY ? object_key_hash(key, "n", 1, text, strlen(text))
						     : index_value_hash(key, text, strlen(text)),
			      by);
}

/* The uids of the tombstones found, in order: "7 9 ". */
static const char *
found_by(struct store_fixture *fx, const char *what, unsigned n)
{
	static char text[4096];
	const struct arena_view *view = &fx->arena->view;
	uint32_t leaf, link;
	size_t length = 0;
	char value[64];

	text[0] = '\0';
	value_of(what, n, value);
	strcat(value, "\"");
	if (trie_get(view, store_fixture_published(fx)->deleted, hash_of(fx, what, n), &leaf) <= 0)
		return text;
	for (uint32_t i = 0; (link = leaf_link(view, leaf, i)) != 0; i++) {
		const struct tombstone *t = tombstone_at(view, link);
		const struct object *o;
		char *json;

		assert_non_null(t);
		json = store_fixture_json(fx, t->object);
		o = strstr(json, value) ? object_at(view, t->object) : NULL;
		free(json);
		if (!o) /* another object in the same leaf */
			continue;
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%.*s ", o->uid_length - 4,
					   object_uid(o) + 4);
		assert_true(length < sizeof(text));
	}
	return text;
}

/* by-seq, oldest first: "3+7 " is a live object's last change (its uid), "4-9 " a deletion. */
static const char *
by_seq(struct store_fixture *fx)
{
	static char text[1 << 20];
	const struct arena_view *view = &fx->arena->view;
	struct trie_iter it;
	size_t length = 0;

	text[0] = '\0';
	for (int r = trie_first(&it, view, store_fixture_published(fx)->by_seq); r > 0; r = trie_next(&it)) {
		const struct tombstone *t = link_is_immediate(it.leaf) ? NULL : tombstone_at(view, it.leaf);
		uint32_t ref = t ? t->object : store_by_ordinal(fx->store, fx->pods, link_value(it.leaf));
		const struct object *o = object_at(view, ref);

		assert_non_null(o);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%" PRIu64 "%c%.*s ",
					   t ? t->seq : o->seq, t ? '-' : '+', o->uid_length - 4,
					   object_uid(o) + 4);
		assert_true(length < sizeof(text));
	}
	return text;
}

static size_t
count_filed(struct store_fixture *fx)
{
	struct trie_iter it;
	size_t count = 0;

	for (int r = trie_first(&it, &fx->arena->view, store_fixture_published(fx)->deleted); r > 0;
	     r = trie_next(&it))
		for (uint32_t i = 0; leaf_link(&fx->arena->view, it.leaf, i) != 0; i++)
			count++;
	return count;
}

static struct tombstone_stats
stats(struct store_fixture *fx)
{
	struct tombstone_stats now;

	store_tombstone_stats(fx->store, fx->pods, &now);
	return now;
}

static void
limit(struct store_fixture *fx, uint64_t count, uint64_t bytes, uint64_t seconds)
{
	store_set_tombstone_limits(fx->store, fx->pods,
				   (struct tombstone_limits){count, bytes, seconds * SECOND});
}

/*
 * "put 1 11 2" is pod 1 with UID 11, version 2; "delete 1"; "limit 3" keeps 3 deletions for 300 s. "list 90"
 * begins a list of version 90, "synced 90" ends it; "commit".
 */
static void
act(void *context, const char *step)
{
	struct store_fixture *fx = context;
	char verb[16] = "", version[16] = "";
	unsigned a = 0, b = 0, c = 0;

	sscanf(step, "%15s %u %u %u", verb, &a, &b, &c);
	sscanf(step, "%*s %15s", version);
	if (strcmp(verb, "put") == 0) {
		assert_int_equal(put(fx, a, b, c), 0);
	} else if (strcmp(verb, "delete") == 0) {
		assert_int_equal(delete (fx, a), 0);
	} else if (strcmp(verb, "limit") == 0) {
		limit(fx, a, UINT64_MAX, 300);
	} else if (strcmp(verb, "list") == 0 || strcmp(verb, "synced") == 0) {
		assert_int_equal(store_set_version(fx->store, fx->pods, version, strlen(version)), 0);
		store_set_state(fx->store, fx->pods, verb[0] == 'l' ? RESOURCE_LISTING : RESOURCE_SYNCED);
	} else {
		assert_string_equal(verb, "commit");
		store_fixture_commit(fx);
	}
}

static void
play(struct store_fixture *fx, const char *steps)
{
	each_step(fx, steps, act);
}

static int
set_up(void **state)
{
	*state = new_store(1u << 30);
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct store_fixture *fx, set_up, store_fixture_tear_down, name)

/* Tombstones with one value stand together, the newest last. The removal of one leaves the others. */
TEST(the_newest_stands_last)
{
	play(fx, "put 1 1 1, delete 1, commit, put 1 2 2, delete 1, put 1 3 3, delete 1, commit, "
		 "put 1 4 4, delete 1, put 1 5 5, delete 1, commit");
	assert_string_equal(found_by(fx, "pod", 1), "1 2 3 4 5 ");
	assert_string_equal(found_by(fx, "ip4", 1), "1 2 3 4 5 ");
	play(fx, "limit 2, commit");
	assert_string_equal(found_by(fx, "pod", 1), "4 5 ");
	assert_string_equal(found_by(fx, "uid", 3), "");
	assert_string_equal(by_seq(fx), "8-4 10-5 ");
}

static void
assert_complete_from(struct store_fixture *fx, const char *steps, uint64_t version)
{
	play(fx, steps);
	assert_int_equal(store_resource(fx->store, fx->pods)->complete_from, version);
}

/*
 * All deletions are there from the first list on, until one is forgotten or was not seen, or the content is
 * dropped. The next list begins anew. A later version changes nothing; a lower one is of another history.
 */
TEST(deletions_are_complete_from_the_list_on)
{
	assert_complete_from(fx, "limit 1, put 1 11 1, put 2 12 1, put 3 13 1, list 90", 0);
	assert_complete_from(fx, "synced 100, delete 1, synced 110, commit", 100);
	assert_complete_from(fx, "delete 2, commit", 0); /* and the first is forgotten */
	assert_complete_from(fx, "list 120, synced 120", 120);
	assert_complete_from(fx, "synced 119", 0);
	assert_complete_from(fx, "list 130, synced 130", 130);
	assert_complete_from(fx, "list", 0);
	assert_complete_from(fx, "synced another-kind", 0);
	store_fixture_commit(fx);
	assert_true(store_fixture_published(fx)->complete_from == 0);
}

/* ---- limits ---- */

/* Beyond the count the oldest go. The floor is the seq of the last that went. */
TEST(the_oldest_go_beyond_the_count)
{
	play(fx, "limit 3, put 1 11 1, delete 1, put 2 12 1, delete 2, put 3 13 1, delete 3, "
		 "put 4 14 1, delete 4, put 5 15 1, delete 5, commit");
	assert_string_equal(by_seq(fx), "6-13 8-14 10-15 ");
	assert_int_equal(store_fixture_published(fx)->tombstone_floor, 4);
	assert_int_equal(stats(fx).count, 3);

	play(fx, "limit 0, commit");
	assert_string_equal(by_seq(fx), "");
	assert_int_equal(store_fixture_published(fx)->tombstone_floor, 10);
	assert_int_equal(store_fixture_published(fx)->deleted, 0);
	play(fx, "put 1 21 1, delete 1, commit");
	assert_string_equal(by_seq(fx), "");
	assert_int_equal(store_fixture_published(fx)->tombstone_floor, 12);
}

/* Beyond the bytes the oldest go. Bytes that only they share count. */
TEST(the_oldest_go_beyond_the_bytes)
{
	limit(fx, 1000, 100000, 300);
	for (unsigned i = 1; i <= 100; i++) {
		assert_int_equal(put_large(fx, i, 9000), 0);
		assert_int_equal(delete(fx, i), 0);
		assert_true(stats(fx).bytes <= 100000);
		assert_true(i < 10 ? stats(fx).count == i : stats(fx).count == 10 || stats(fx).count == 11);
	}
	store_fixture_commit(fx);
	assert_int_equal(store_fixture_published(fx)->tombstone_floor, 200 - 2 * stats(fx).count);
}

/* Tombstones older than the limit go on request; younger ones stay. */
TEST(tombstones_go_when_their_time_is_over)
{
	uint64_t now, then;

	limit(fx, 100, UINT64_MAX, 60);
	play(fx, "put 1 11 1, delete 1, commit");
	now = time_ns(CLOCK_BOOTTIME);
	then = stats(fx).oldest_boot_ns;
	assert_true(then <= now && now - then < 60 * SECOND);
	store_expire_tombstones(fx->store, then + 60 * SECOND);
	store_expire_tombstones(fx->store, then - 1);
	store_fixture_commit(fx);
	assert_string_equal(by_seq(fx), "2-11 ");
	store_expire_tombstones(fx->store, then + 60 * SECOND + 1);
	assert_string_equal(by_seq(fx), "2-11 "); /* not published without a commit */
	store_fixture_commit(fx);
	assert_string_equal(by_seq(fx), "");
	assert_int_equal(store_fixture_published(fx)->tombstone_floor, 2);
}

/* A full arena takes deletes, and their tombstones give way to new objects. */
TEST_CASE(tombstones_give_way_in_a_full_arena)
{
	struct store_fixture *fx = new_store(4u << 20);
	unsigned filled = 0;
	uint64_t floor;
	int r = 0;

	while (r == 0 && filled < 1000) {
		r = put_large(fx, filled, 30000);
		filled += r == 0;
	}
	assert_int_equal(r, -ENOSPC);
	store_fixture_commit(fx);
	for (unsigned i = 0; i < filled; i++)
		assert_int_equal(delete(fx, i), 0);
	store_fixture_commit(fx);
	assert_int_equal(store_fixture_published(fx)->object_count, 0);
	assert_true(stats(fx).count > 0 && stats(fx).bytes <= (4u << 20) / 8);
	floor = store_fixture_published(fx)->tombstone_floor;

	arena_fail_after(fx->arena, 0);
	assert_int_equal(put(fx, 1, 1, 1), -ENOSPC);
	arena_fail_after(fx->arena, UINT64_MAX);
	store_fixture_commit(fx);
	assert_true(store_fixture_published(fx)->tombstone_floor > floor);
	for (unsigned i = 0; i < 10; i++) {
		arena_fail_after(fx->arena, 0);
		assert_int_equal(put(fx, 1, 1, 1), -ENOSPC);
		arena_fail_after(fx->arena, UINT64_MAX);
		assert_int_equal(store_sweep(fx->store), 0);
	}
	assert_string_equal(by_seq(fx), "");
	store_fixture_free(fx);
}

/* A delete without room for a tombstone happens. The floor rises: it cannot be found. */
TEST_CASE(a_delete_without_room_raises_the_floor)
{
	struct store_fixture *fx = new_store(4u << 20);
	uint32_t filler[1024];
	unsigned count = 0;
	int r;

	play(fx, "put 1 11 1, put 2 12 1, delete 2, commit");
	arena_open_reserve(fx->arena, true);
	while (count < 1024 &&
	       arena_new_block(fx->arena, BLOCK_VALUE, 4096 - sizeof(struct block), 0, &filler[count]) == 0)
		count++;
	arena_open_reserve(fx->arena, false);
	assert_in_range(count, 100, 1023);
	while ((r = delete(fx, 1)) == -ENOSPC && count > 0)
		arena_free(fx->arena, filler[--count]);
	assert_int_equal(r, 0);
	assert_int_equal(stats(fx).count, 1);
	assert_int_equal(store_resource(fx->store, fx->pods)->tombstone_floor, 4);
	while (count > 0)
		arena_free(fx->arena, filler[--count]);
	store_fixture_commit(fx); /* after a refusal the rest gives way */
	assert_string_equal(by_seq(fx), "");
	assert_int_equal(store_fixture_published(fx)->tombstone_floor, 4);
	store_fixture_free(fx);
}

/* A value that an object has twice is filed once, and removed once. */
TEST(a_repeated_value_is_filed_once)
{
	for (unsigned n = 0; n < 2; n++) {
		assert_int_equal(
			store_fixture_put(fx, "{\"metadata\":{\"name\":\"pod-1\",\"namespace\":\"n\",\"uid\":"
					      "\"uid-1\"},\"status\":"
					      "{\"podIPs\":[{\"ip\":\"10.0.0.1\"},{\"ip\":\"10.0.0.1\"}]}}"),
			0);
		assert_int_equal(delete(fx, 1), 0);
	}
	store_fixture_commit(fx);
	assert_int_equal(count_filed(fx), 6);
	play(fx, "limit 1, commit");
	assert_int_equal(count_filed(fx), 3);
	play(fx, "limit 0, commit");
	assert_int_equal(store_fixture_published(fx)->deleted, 0);
}

/* The next generation has the same tombstones, finds them the same way, and drops them in the same order. */
TEST_CASE(adoption_keeps_tombstones)
{
	struct generations generations;
	struct tombstone_stats then;
	struct store_fixture *fx;
	char *before;

	generations_begin(&generations);
	fx = generations_store(&generations, descriptor);
	for (unsigned i = 1; i <= 40; i++) {
		assert_int_equal(put(fx, i % 4, i, i), 0);
		if (i % 3)
			assert_int_equal(delete(fx, i % 4), 0);
	}
	store_fixture_commit(fx);
	before = strdup(by_seq(fx));
	then = stats(fx);
	assert_true(then.count > 20);
	store_fixture_free(fx);

	fx = generations_store(&generations, descriptor);
	assert_string_equal(by_seq(fx), before);
	free(before);
	assert_int_equal(stats(fx).count, then.count);
	assert_int_equal(stats(fx).oldest_boot_ns, then.oldest_boot_ns);
	assert_string_equal(found_by(fx, "uid", 40), "40 ");
	play(fx, "limit 1, commit");
	assert_int_equal(stats(fx).count, 1);
	assert_string_equal(found_by(fx, "pod", 0), "40 ");
	assert_string_equal(found_by(fx, "uid", 38), "");
	store_fixture_free(fx);
	generations_end(&generations);
}

/* A resource whose content comes from another source drops its tombstones, and frees their memory. */
TEST_CASE(a_reset_drops_all_tombstones)
{
	static const uint8_t other[32] = "another server";
	struct generations generations;
	struct tombstone_stats stats;
	struct store_fixture *fx;
	struct intern *intern;
	struct arena *arena;
	struct store *s;
	unsigned id;

	generations_begin(&generations);
	fx = generations_store(&generations, descriptor);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(put(fx, i % 3, i, i), 0);
		assert_int_equal(delete(fx, i % 3), 0);
	}
	store_fixture_commit(fx);
	store_fixture_free(fx);

	arena = generations_next(&generations, &intern);
	assert_int_equal(store_new(arena, intern, NULL, &s), 0);
	store_tombstone_stats(s, 0, &stats);
	assert_int_equal(stats.count, 20);
	store_expire_tombstones(s, UINT64_MAX);
	store_tombstone_stats(s, 0, &stats);
	assert_int_equal(stats.count, 20); /* no limits are set yet */
	assert_int_equal(store_add_resource(s, descriptor, other, &id), 0);
	assert_int_equal(id, 0);
	store_tombstone_stats(s, 0, &stats);
	assert_int_equal(stats.count + stats.bytes, 0);
	assert_int_equal(store_resource(s, 0)->tombstone_floor, store_seq(s));
	assert_int_equal(store_resource(s, 0)->deleted, 0);
	assert_int_equal(store_resource(s, 0)->by_seq, 0);
	assert_int_equal(store_commit(s), 0);
	store_free(s);
	arena_fixture_free(arena);
	generations_end(&generations);
}

/* ---- all of it, against a plain list ---- */

#define NAMES 40u
#define CHANGES 20000u

/* The entries of by-seq, oldest first, and deletions that may be forgotten. */
struct model {
	struct change {
		uint64_t seq;
		unsigned name, uid;
		char what; /* + live, - deleted, blank: another change came after it */
	} changes[CHANGES];
	size_t count;
	unsigned next;
};

static bool
has_tombstone(struct store_fixture *fx, uint64_t hash, uint64_t seq)
{
	uint32_t leaf, link;

	if (trie_get(&fx->arena->view, store_fixture_published(fx)->deleted, hash, &leaf) <= 0)
		return false;
	for (uint32_t i = 0; (link = leaf_link(&fx->arena->view, leaf, i)) != 0; i++)
		if (tombstone_at(&fx->arena->view, link)->seq == seq)
			return true;
	return false;
}

static void
assert_agrees(struct store_fixture *fx, const struct model *m)
{
	static const char *const by[6] = {"pod", "ip4", "ip6", "uid", "a", "b"};
	char *text = NULL;
	size_t length, dead = 0;
	FILE *out = open_memstream(&text, &length);

	for (const struct change *c = m->changes; c < m->changes + m->count; c++) {
		if (c->what == ' ' ||
		    (c->what == '-' && c->seq <= store_fixture_published(fx)->tombstone_floor))
			continue;
		fprintf(out, "%" PRIu64 "%c%u ", c->seq, c->what, c->uid);
		for (unsigned i = 0; i < 6 && c->what == '-'; i++)
			assert_true(has_tombstone(fx, hash_of(fx, by[i], i < 3 ? c->name : c->uid), c->seq));
		dead += c->what == '-';
	}
	fclose(out);
	assert_string_equal(by_seq(fx), text);
	free(text);
	assert_int_equal(count_filed(fx), 6 * dead);
	assert_int_equal(stats(fx).count, dead);
}

static struct change *
find_live(struct model *m, unsigned name)
{
	for (size_t i = m->count; i > 0; i--)
		if (m->changes[i - 1].what == '+' && m->changes[i - 1].name == name)
			return &m->changes[i - 1];
	return NULL;
}

static void
note(struct model *m, uint64_t seq, unsigned name, unsigned uid, char what)
{
	assert_true(m->count < CHANGES);
	m->changes[m->count++] = (struct change){seq, name, uid, what};
}

/* One change. An allocation may fail: then the change has not happened. Returns its result. */
static int
change(struct store_fixture *fx, struct model *m)
{
	unsigned name = pick(NAMES), version = ++m->next, uid;
	struct change *was = find_live(m, name);
	bool deletes = pick(2) == 0;
	int r;

	uid = was && pick(3) ? was->uid : version;
	r = deletes ? delete (fx, name) : put(fx, name, uid, version);
	if (r < 0)
		return r;
	if (was && (deletes || was->uid != uid))
		note(m, store_seq(fx->store) - !deletes, name, was->uid, '-');
	if (was)
		was->what = ' ';
	if (!deletes)
		note(m, store_seq(fx->store), name, uid, '+');
	return 0;
}

static void
change_limits(struct store_fixture *fx)
{
	switch (pick(4)) {
	case 0:
		limit(fx, pick(60), UINT64_MAX, 300);
		break;
	case 1:
		limit(fx, 10000, pick(20000), 300);
		break;
	case 2:
		limit(fx, 10000, UINT64_MAX, 300);
		break;
	case 3:
		if (stats(fx).count)
			store_expire_tombstones(fx->store,
						stats(fx).oldest_boot_ns + 300 * SECOND + 1 + pick(1000000));
	}
}

/* Whatever allocation fails, by-seq, `deleted`, floor and figures agree with a plain list. */
TEST(random_changes_agree_with_a_plain_list)
{
	struct model *m = calloc(1, sizeof(*m));
	struct store_stats empty, again;
	unsigned failures = 0;

	assert_non_null(m);
	store_fixture_drain(fx);
	store_stats(fx->store, &empty);
	store_fixture_renew_decoder(fx);
	for (unsigned round = 0; round < 300; round++) {
		for (unsigned n = pick(30); n > 0; n--) {
			int r;

			if (pick(8) == 0)
				change_limits(fx);
			if (pick(6) == 0)
				allocations_left = pick(6);
			else if (pick(6) == 0)
				arena_fail_after(fx->arena, 0);
			r = change(fx, m);
			if (pick(2))
				change_limits(fx);
			allocations_left = UINT64_MAX;
			arena_fail_after(fx->arena, UINT64_MAX);
			failures += r < 0;
			assert_true(r == 0 || r == -ENOSPC || r == -ENOMEM);
		}
		store_fixture_commit(fx);
		assert_agrees(fx, m);
	}
	assert_true(failures > 100);

	for (unsigned i = 0; i < NAMES; i++)
		assert_int_equal(delete(fx, i), 0);
	limit(fx, 0, 0, 0);
	store_fixture_drain(fx);
	store_stats(fx->store, &again);
	assert_int_equal(store_fixture_published(fx)->deleted, 0);
	assert_int_equal(store_fixture_published(fx)->by_seq, 0);
	/* a block that the queue of retired blocks had no memory for is given up, and counted */
	assert_in_range(again.used_bytes - empty.used_bytes, again.leaked_blocks * REF_UNIT,
			again.leaked_blocks * LARGEST_BLOCK);
	assert_int_equal(again.shared_blocks, empty.shared_blocks);
	free(m);
}
