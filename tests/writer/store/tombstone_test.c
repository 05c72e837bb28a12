/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tombstones: what was deleted is found, by seq, key, uid, address and container, for as long as the limits
 * allow; the floor says from where on everything stands; and whatever memory is refused, a change happens
 * whole or not at all.
 *
 * The linker puts __wrap_malloc and its kin in libc's place, so that private memory can run out as well.
 */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shm-layout/collision.h"
#include "shm-layout/object.h"
#include "shm-layout/time_ns.h"
#include "shm-layout/tombstone.h"
#include "tests/room.h"
#include "tests/support/generations.h"
#include "tests/support/store_fixture.h"

#define SECOND 1000000000ull

static uint64_t allocations_left = UINT64_MAX; /* then one fails */

void *__real_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool
refused(void)
{
	return allocations_left != UINT64_MAX && allocations_left-- == 0;
}

void *
__wrap_malloc(size_t size)
{
	return refused() ? NULL : __real_malloc(size);
}

void *
__wrap_realloc(void *p, size_t size)
{
	return refused() ? NULL : __real_realloc(p, size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return refused() ? NULL : __real_calloc(count, size);
}

static uint64_t seed = 20261121;

static unsigned
pick(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % n);
}

static const char descriptor[] =
	"{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\",\"kind\":\"Pod\",\"singular\":\"pod\","
	"\"shortNames\":[],\"namespaced\":true,"
	"\"indexes\":["
	"{\"name\":\"who\",\"rules\":[{\"path\":\"metadata.uid\",\"as\":\"string\"}]},"
	"{\"name\":\"phase\",\"rules\":[{\"path\":\"status.phase\",\"as\":\"string\"}]},"
	"{\"name\":\"podIP\",\"rules\":[{\"path\":\"status.podIPs[*].ip\",\"as\":\"string\"}]},"
	"{\"name\":\"containerID\",\"rules\":[{\"path\":\"status.containerStatuses[*].containerID\",\"as\":"
	"\"scheme\"}]}"
	"]}";

static struct store_fixture *
over(struct arena *arena, struct intern *intern)
{
	struct store_fixture *fx = store_fixture_of(arena, intern, descriptor);

	fx->owns_arena = 1;
	return fx;
}

static struct store_fixture *
new_store(uint64_t max_bytes)
{
	struct arena *arena = calloc(1, sizeof(*arena));

	assert_non_null(arena);
	assert_true(sodium_init() >= 0);
	assert_int_equal(arena_create_private(arena, max_bytes), 0);
	return over(arena, NULL);
}

/* Pod `name` with everything that it can be found by, made of n. */
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

static int
delete(struct store_fixture *fx, unsigned name)
{
	char text[32];

	snprintf(text, sizeof(text), "pod-%u", name);
	return store_fixture_delete(fx, "n", text);
}

static const struct resource *
published(struct store_fixture *fx)
{
	const struct root *root = root_at(&fx->arena->view, atomic_load(&fx->arena->header->root));

	return root_resource(&fx->arena->view, root, fx->pods);
}

/* What it is found by: "pod" its name, "uid", "ip4", "ip6", "a" and "b" its containers. */
static void
value_of(const char *what, unsigned n, char *text, size_t size)
{
	snprintf(text, size,
		 strcmp(what, "pod") == 0   ? "pod-%u"
		 : strcmp(what, "uid") == 0 ? "uid-%u"
		 : strcmp(what, "ip6") == 0 ? "fd00::%x"
		 : strcmp(what, "ip4") == 0 ? "10.0.0.%u"
		 : strcmp(what, "a") == 0   ? "a%u"
					    : "b%u",
		 n);
}

static uint64_t
hash_of(struct store_fixture *fx, const char *what, unsigned n)
{
	const uint8_t *key = fx->arena->header->hash_key;
	char text[64];

	value_of(what, n, text, sizeof(text));
	if (strcmp(what, "pod") == 0)
		return tombstone_hash(object_key_hash(key, "n", 1, text, strlen(text)), TOMBSTONE_BY_KEY);
	return tombstone_hash(index_value_hash(key, text, strlen(text)),
			      strcmp(what, "uid") == 0 ? TOMBSTONE_BY_UID
			      : what[0] == 'i'         ? TOMBSTONE_BY_ADDRESS
						       : TOMBSTONE_BY_CONTAINER);
}

/* The uids of the tombstones found by something, in their order: "7 9 ". */
static const char *
found_by(struct store_fixture *fx, const char *what, unsigned n)
{
	static char text[4096];
	const struct arena_view *view = &fx->arena->view;
	uint32_t leaf, link;
	size_t length = 0;
	char value[64];

	text[0] = '\0';
	value_of(what, n, value, sizeof(value) - 1);
	strcat(value, "\"");
	if (trie_get(view, published(fx)->deleted, hash_of(fx, what, n), &leaf) <= 0)
		return text;
	for (uint32_t i = 0; (link = leaf_link(view, leaf, i)) != 0; i++) {
		const struct tombstone *t = tombstone_at(view, link);
		const char *uid, *version;
		size_t uid_length, version_length;
		char *json;

		assert_non_null(t);
		json = store_fixture_json(fx, t->object);
		if (strstr(json, value)) { /* the leaf was only one that could have it */
			store_object_identity(fx->store, t->object, &uid, &uid_length, &version,
					      &version_length);
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%.*s ",
						   (int)(uid_length - 4), uid + 4);
			assert_true(length < sizeof(text));
		}
		free(json);
	}
	return text;
}

/* by-seq, oldest first: "3+7 " a live object's last change (its uid), "4-9 " a deletion. */
static const char *
by_seq(struct store_fixture *fx)
{
	static char text[4096];
	const struct arena_view *view = &fx->arena->view;
	struct trie_iter it;
	size_t length = 0;

	text[0] = '\0';
	for (int r = trie_first(&it, view, published(fx)->by_seq); r > 0; r = trie_next(&it)) {
		const struct tombstone *t = link_is_immediate(it.leaf) ? NULL : tombstone_at(view, it.leaf);
		uint32_t ref = t ? t->object : store_by_ordinal(fx->store, fx->pods, link_value(it.leaf));
		const char *uid, *version;
		size_t uid_length, version_length;

		assert_non_null(object_at(view, ref));
		store_object_identity(fx->store, ref, &uid, &uid_length, &version, &version_length);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%" PRIu64 "%c%.*s ",
					   t ? t->seq : object_at(view, ref)->seq, t ? '-' : '+',
					   (int)(uid_length - 4), uid + 4);
		assert_true(length < sizeof(text));
	}
	return text;
}

static size_t
count_filed(struct store_fixture *fx)
{
	struct trie_iter it;
	size_t count = 0;

	for (int r = trie_first(&it, &fx->arena->view, published(fx)->deleted); r > 0; r = trie_next(&it))
		for (uint32_t i = 0; leaf_link(&fx->arena->view, it.leaf, i) != 0; i++)
			count++;
	return count;
}

static void
limit(struct store_fixture *fx, uint64_t count, uint64_t bytes, uint64_t seconds)
{
	store_set_tombstone_limits(fx->store, fx->pods,
				   (struct tombstone_limits){count, bytes, seconds * SECOND});
}

static void
commit(struct store_fixture *fx)
{
	assert_int_equal(store_commit(fx->store), 0);
	assert_int_equal(store_fixture_verify(fx), 0);
}

/* ---- what is found ---- */

/* A walk along by-seq meets live objects at their last change and the deleted at their deletion. */
TEST_CASE(by_seq_shows_deletions_between_changes)
{
	struct store_fixture *fx = new_store(1u << 30);

	assert_int_equal(put(fx, 1, 11, 1), 0);
	assert_int_equal(put(fx, 2, 12, 2), 0);
	assert_int_equal(put(fx, 3, 13, 3), 0);
	assert_int_equal(delete(fx, 2), 0);
	assert_int_equal(put(fx, 1, 11, 4), 0);
	commit(fx);
	assert_string_equal(by_seq(fx), "3+13 4-12 5+11 ");
	assert_int_equal(published(fx)->tombstone_floor, 0);
	assert_int_equal(published(fx)->object_count, 2);
	store_fixture_free(fx);
}

/*
 * A deleted object is found by its key, its uid, each of its addresses and each of its containers, and by
 * nothing else.
 */
TEST_CASE(the_deleted_are_found_by_all_they_had)
{
	struct store_fixture *fx = new_store(1u << 30);

	assert_int_equal(put(fx, 1, 11, 1), 0);
	assert_int_equal(put(fx, 2, 12, 1), 0);
	commit(fx);
	assert_int_equal(published(fx)->deleted, 0);
	assert_int_equal(delete(fx, 1), 0);
	commit(fx);
	assert_string_equal(found_by(fx, "pod", 1), "11 ");
	assert_string_equal(found_by(fx, "uid", 11), "11 ");
	assert_string_equal(found_by(fx, "ip4", 1), "11 ");
	assert_string_equal(found_by(fx, "ip6", 1), "11 ");
	assert_string_equal(found_by(fx, "a", 11), "11 ");
	assert_string_equal(found_by(fx, "b", 11), "11 ");
	store_fixture_free(fx);
}

/* Several that had the same stand together, the newest last; one that goes leaves the others. */
TEST_CASE(the_newest_stands_last)
{
	struct store_fixture *fx = new_store(1u << 30);

	for (unsigned uid = 1; uid <= 5; uid++) {
		assert_int_equal(put(fx, 1, uid, uid), 0);
		assert_int_equal(delete(fx, 1), 0);
		if (uid % 2)
			commit(fx);
	}
	assert_string_equal(found_by(fx, "pod", 1), "1 2 3 4 5 ");
	assert_string_equal(found_by(fx, "ip4", 1), "1 2 3 4 5 ");
	limit(fx, 2, UINT64_MAX, 300);
	commit(fx);
	assert_string_equal(found_by(fx, "pod", 1), "4 5 ");
	assert_string_equal(found_by(fx, "uid", 3), "");
	assert_string_equal(by_seq(fx), "8-4 10-5 ");
	store_fixture_free(fx);
}

/*
 * Another UID under the name leaves a tombstone of the one before, with a seq of its own before the new
 * one's.
 */
TEST_CASE(another_uid_leaves_a_tombstone)
{
	struct store_fixture *fx = new_store(1u << 30);

	assert_int_equal(put(fx, 1, 11, 1), 0);
	assert_int_equal(put(fx, 1, 12, 2), 0);
	commit(fx);
	assert_string_equal(by_seq(fx), "2-11 3+12 ");
	assert_string_equal(found_by(fx, "pod", 1), "11 ");
	assert_int_equal(published(fx)->object_count, 1);
	store_fixture_free(fx);
}

/* ---- since when all are there ---- */

static void
say_version(struct store_fixture *fx, const char *version, enum resource_state state)
{
	assert_int_equal(store_set_version(fx->store, fx->pods, version, strlen(version)), 0);
	store_set_state(fx->store, fx->pods, state);
}

/*
 * From the first list on all deletions are there, until one is forgotten, was not seen, or what there is is
 * given up; the next list begins it anew. A later version changes nothing, a lower one is another history's.
 */
TEST_CASE(deletions_are_complete_from_the_list_on)
{
	struct store_fixture *fx = new_store(1u << 30);

	limit(fx, 1, UINT64_MAX, 300);
	for (unsigned i = 1; i <= 5; i++)
		assert_int_equal(put(fx, i, 10 + i, 1), 0);
	say_version(fx, "90", RESOURCE_LISTING);
	assert_true(resource_complete_from(store_resource(fx->store, fx->pods)) == 0);
	say_version(fx, "100", RESOURCE_SYNCED);
	assert_int_equal(delete(fx, 1), 0);
	say_version(fx, "110", RESOURCE_SYNCED);
	commit(fx);
	assert_true(resource_complete_from(published(fx)) == 100);
	assert_int_equal(delete(fx, 2), 0); /* and the first is forgotten */
	commit(fx);
	assert_true(resource_complete_from(published(fx)) == 0);

	say_version(fx, "120", RESOURCE_LISTING);
	say_version(fx, "120", RESOURCE_SYNCED);
	assert_true(resource_complete_from(store_resource(fx->store, fx->pods)) == 120);
	say_version(fx, "119", RESOURCE_SYNCED);
	assert_true(resource_complete_from(store_resource(fx->store, fx->pods)) == 0);

	say_version(fx, "130", RESOURCE_LISTING);
	say_version(fx, "130", RESOURCE_SYNCED);
	say_version(fx, "", RESOURCE_LISTING);
	assert_true(resource_complete_from(store_resource(fx->store, fx->pods)) == 0);
	say_version(fx, "of another kind", RESOURCE_SYNCED);
	assert_true(resource_complete_from(store_resource(fx->store, fx->pods)) == 0);
	store_fixture_free(fx);
}

/* ---- limits ---- */

/* Beyond the count the oldest go, and the floor is the seq of the last of them. */
TEST_CASE(the_oldest_go_beyond_the_count)
{
	struct store_fixture *fx = new_store(1u << 30);
	struct tombstone_stats stats;

	limit(fx, 3, UINT64_MAX, 300);
	for (unsigned i = 1; i <= 5; i++) {
		assert_int_equal(put(fx, i, 10 + i, 1), 0);
		assert_int_equal(delete(fx, i), 0);
	}
	commit(fx);
	assert_string_equal(by_seq(fx), "6-13 8-14 10-15 ");
	assert_int_equal(published(fx)->tombstone_floor, 4);
	store_tombstone_stats(fx->store, fx->pods, &stats);
	assert_int_equal(stats.count, 3);

	limit(fx, 0, UINT64_MAX, 300);
	commit(fx);
	assert_string_equal(by_seq(fx), "");
	assert_int_equal(published(fx)->tombstone_floor, 10);
	assert_int_equal(published(fx)->deleted, 0);
	assert_int_equal(put(fx, 1, 21, 1), 0);
	assert_int_equal(delete(fx, 1), 0);
	commit(fx);
	assert_string_equal(by_seq(fx), "");
	assert_int_equal(published(fx)->tombstone_floor, 12);
	store_fixture_free(fx);
}

/* Beyond the bytes the oldest go; what only they shared counts. */
TEST_CASE(the_oldest_go_beyond_the_bytes)
{
	struct store_fixture *fx = new_store(1u << 30);
	struct tombstone_stats stats;

	limit(fx, 1000, 100000, 300);
	for (unsigned i = 1; i <= 100; i++) {
		assert_int_equal(store_fixture_putf(fx,
						    "{\"metadata\":{\"name\":\"pod-%u\",\"namespace\":\"n\","
						    "\"uid\":\"uid-%u\"},\"x\":\"%09000u\"}",
						    i, i, i),
				 0);
		assert_int_equal(delete(fx, i), 0);
		store_tombstone_stats(fx->store, fx->pods, &stats);
		assert_true(stats.bytes <= 100000);
		assert_true(i < 10 ? stats.count == i : stats.count == 10 || stats.count == 11);
	}
	commit(fx);
	assert_int_equal(published(fx)->tombstone_floor, 200 - 2 * stats.count);
	store_fixture_free(fx);
}

/* What is older than the age goes when it is asked for; what is younger stays. */
TEST_CASE(the_old_go_when_their_time_is_over)
{
	struct store_fixture *fx = new_store(1u << 30);
	struct tombstone_stats stats;
	uint64_t now;

	limit(fx, 100, UINT64_MAX, 60);
	assert_int_equal(put(fx, 1, 11, 1), 0);
	assert_int_equal(delete(fx, 1), 0);
	commit(fx);
	store_tombstone_stats(fx->store, fx->pods, &stats);
	now = time_ns(CLOCK_BOOTTIME);
	assert_true(stats.oldest_boot_ns <= now && now - stats.oldest_boot_ns < 60 * SECOND);
	store_expire_tombstones(fx->store, stats.oldest_boot_ns + 60 * SECOND);
	store_expire_tombstones(fx->store, stats.oldest_boot_ns - 1);
	commit(fx);
	assert_string_equal(by_seq(fx), "2-11 ");
	store_expire_tombstones(fx->store, stats.oldest_boot_ns + 60 * SECOND + 1);
	assert_string_equal(by_seq(fx), "2-11 "); /* not published by itself */
	commit(fx);
	assert_string_equal(by_seq(fx), "");
	assert_int_equal(published(fx)->tombstone_floor, 2);
	store_fixture_free(fx);
}

/* A full arena takes deletes all the same, and what they left gives way to what comes. */
TEST_CASE(tombstones_give_way_in_a_full_arena)
{
	struct store_fixture *fx = new_store(4u << 20);
	struct tombstone_stats stats;
	unsigned filled = 0;
	uint64_t floor;
	int r = 0;

	while (r == 0 && filled < 1000) {
		r = store_fixture_putf(fx,
				       "{\"metadata\":{\"name\":\"pod-%u\",\"namespace\":\"n\",\"uid\":\"uid-"
				       "%u\"},\"x\":\"%030000u\"}",
				       filled, filled, filled);
		filled += r == 0;
	}
	assert_int_equal(r, -ENOSPC);
	commit(fx);
	for (unsigned i = 0; i < filled; i++)
		assert_int_equal(delete(fx, i), 0);
	commit(fx);
	assert_int_equal(published(fx)->object_count, 0);
	store_tombstone_stats(fx->store, fx->pods, &stats);
	assert_true(stats.count > 0 && stats.bytes <= (4u << 20) / 8);
	floor = published(fx)->tombstone_floor;

	arena_fail_after(fx->arena, 0);
	assert_int_equal(put(fx, 1, 1, 1), -ENOSPC);
	arena_fail_after(fx->arena, UINT64_MAX);
	commit(fx);
	assert_true(published(fx)->tombstone_floor > floor);
	for (unsigned i = 0; i < 10; i++) {
		arena_fail_after(fx->arena, 0);
		assert_int_equal(put(fx, 1, 1, 1), -ENOSPC);
		arena_fail_after(fx->arena, UINT64_MAX);
		assert_int_equal(store_sweep(fx->store), 0);
	}
	assert_string_equal(by_seq(fx), "");
	store_fixture_free(fx);
}

/*
 * A delete that finds room for itself but not for a tombstone happens, and the floor says that it cannot be
 * found.
 */
TEST_CASE(a_delete_without_room_raises_the_floor)
{
	struct store_fixture *fx = new_store(4u << 20);
	uint32_t filler[1024];
	struct tombstone_stats stats;
	unsigned count = 0;
	int r;

	assert_int_equal(put(fx, 1, 11, 1), 0);
	assert_int_equal(put(fx, 2, 12, 1), 0);
	assert_int_equal(delete(fx, 2), 0);
	commit(fx);
	arena_open_reserve(fx->arena, true);
	while (count < 1024 &&
	       arena_new_block(fx->arena, BLOCK_VALUE, 4096 - sizeof(struct block), 0, &filler[count]) == 0)
		count++;
	arena_open_reserve(fx->arena, false);
	assert_in_range(count, 100, 1023);
	while ((r = delete(fx, 1)) == -ENOSPC && count > 0)
		arena_free(fx->arena, filler[--count]);
	assert_int_equal(r, 0);
	store_tombstone_stats(fx->store, fx->pods, &stats);
	assert_int_equal(stats.count, 1);
	assert_int_equal(store_resource(fx->store, fx->pods)->tombstone_floor, 4);
	while (count > 0)
		arena_free(fx->arena, filler[--count]);
	commit(fx); /* the arena refused something: what is left gives way */
	assert_string_equal(by_seq(fx), "");
	assert_int_equal(published(fx)->tombstone_floor, 4);
	store_fixture_free(fx);
}

/* A value that an object has twice is filed once, and taken out once. */
TEST_CASE(a_value_that_stands_twice_is_filed_once)
{
	struct store_fixture *fx = new_store(1u << 30);

	for (unsigned n = 0; n < 2; n++) {
		assert_int_equal(
			store_fixture_put(fx, "{\"metadata\":{\"name\":\"pod-1\",\"namespace\":\"n\",\"uid\":"
					      "\"uid-1\"},\"status\":"
					      "{\"podIPs\":[{\"ip\":\"10.0.0.1\"},{\"ip\":\"10.0.0.1\"}]}}"),
			0);
		assert_int_equal(delete(fx, 1), 0);
	}
	commit(fx);
	assert_int_equal(count_filed(fx), 6);
	limit(fx, 1, UINT64_MAX, 300);
	commit(fx);
	assert_int_equal(count_filed(fx), 3);
	limit(fx, 0, UINT64_MAX, 300);
	commit(fx);
	assert_int_equal(published(fx)->deleted, 0);
	store_fixture_free(fx);
}

/* ---- adoption ---- */

/* The next generation has the same tombstones, finds them the same ways, and drops them in the same order. */
TEST_CASE(adoption_keeps_them)
{
	struct generations generations;
	struct tombstone_stats stats, again;
	struct store_fixture *fx;
	struct intern *intern;
	struct arena *arena;
	char *before;

	generations_begin(&generations);
	arena = generations_next(&generations, &intern);
	fx = over(arena, intern);
	for (unsigned i = 1; i <= 40; i++) {
		assert_int_equal(put(fx, i % 4, i, i), 0);
		if (i % 3)
			assert_int_equal(delete(fx, i % 4), 0);
	}
	commit(fx);
	before = strdup(by_seq(fx));
	store_tombstone_stats(fx->store, fx->pods, &stats);
	assert_true(stats.count > 20);
	store_fixture_free(fx);

	arena = generations_next(&generations, &intern);
	fx = over(arena, intern);
	assert_string_equal(by_seq(fx), before);
	free(before);
	store_tombstone_stats(fx->store, fx->pods, &again);
	assert_int_equal(again.count, stats.count);
	assert_int_equal(again.oldest_boot_ns, stats.oldest_boot_ns);
	assert_string_equal(found_by(fx, "uid", 40), "40 ");
	limit(fx, 1, UINT64_MAX, 300);
	commit(fx);
	store_tombstone_stats(fx->store, fx->pods, &again);
	assert_int_equal(again.count, 1);
	assert_string_equal(found_by(fx, "pod", 0), "40 ");
	assert_string_equal(found_by(fx, "uid", 38), "");
	store_fixture_free(fx);
	generations_end(&generations);
}

/*
 * A resource whose content comes from elsewhere forgets the deletions of the old content, and gives back what
 * they held.
 */
TEST_CASE(a_reset_forgets_all)
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
	arena = generations_next(&generations, &intern);
	fx = over(arena, intern);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(put(fx, i % 3, i, i), 0);
		assert_int_equal(delete(fx, i % 3), 0);
	}
	commit(fx);
	store_fixture_free(fx);

	arena = generations_next(&generations, &intern);
	assert_int_equal(store_new(arena, intern, NULL, &s), 0);
	store_tombstone_stats(s, 0, &stats);
	assert_int_equal(stats.count, 20);
	store_expire_tombstones(s, UINT64_MAX);
	store_tombstone_stats(s, 0, &stats);
	assert_int_equal(stats.count, 20); /* nobody said yet what limits they have */
	assert_int_equal(store_add_resource(s, descriptor, other, &id), 0);
	assert_int_equal(id, 0);
	store_tombstone_stats(s, 0, &stats);
	assert_int_equal(stats.count + stats.bytes, 0);
	assert_int_equal(store_resource(s, 0)->tombstone_floor, store_seq(s));
	assert_int_equal(store_commit(s), 0);
	store_free(s);
	arena_close(arena);
	free(arena);

	/* what is left is the description and what it is made of: as much as without any deletion */
	arena = generations_next(&generations, &intern);
	fx = over(arena, intern);
	assert_int_equal(published(fx)->deleted, 0);
	assert_int_equal(published(fx)->by_seq, 0);
	assert_int_equal(store_fixture_verify(fx), 0);
	store_fixture_free(fx);
	generations_end(&generations);
}

/* ---- all of it against a plain list ---- */

#define NAMES 40u
#define DELETIONS 20000u

struct model {
	unsigned uid[NAMES];		/* of the live one, 0: none */
	unsigned version[NAMES];
	uint64_t seq[NAMES];
	struct deletion {
		uint64_t seq;
		unsigned name, uid;
	} deletions[DELETIONS];
	size_t deleted;
	unsigned next;
};

static bool
has_tombstone(struct store_fixture *fx, uint64_t hash, uint64_t seq)
{
	uint32_t leaf, link;

	if (trie_get(&fx->arena->view, published(fx)->deleted, hash, &leaf) <= 0)
		return false;
	for (uint32_t i = 0; (link = leaf_link(&fx->arena->view, leaf, i)) != 0; i++)
		if (tombstone_at(&fx->arena->view, link)->seq == seq)
			return true;
	return false;
}

static void
assert_agrees(struct store_fixture *fx, const struct model *m)
{
	const struct resource *res = published(fx);
	struct tombstone_stats stats;
	struct trie_iter it;
	uint64_t last = 0;
	size_t live = 0, dead = 0, at = 0;

	for (int r = trie_first(&it, &fx->arena->view, res->by_seq); r > 0; r = trie_next(&it)) {
		const struct tombstone *t = link_is_immediate(it.leaf)
						    ? NULL
						    : tombstone_at(&fx->arena->view, it.leaf);
		uint64_t seq;

		if (t) {
			const struct object *o = object_at(&fx->arena->view, t->object);
			char name[32];

			seq = t->seq;
			while (at < m->deleted && m->deletions[at].seq < seq)
				assert_true(m->deletions[at++].seq <= res->tombstone_floor);
			assert_true(at < m->deleted && m->deletions[at].seq == seq);
			snprintf(name, sizeof(name), "pod-%u", m->deletions[at].name);
			assert_true(object_has_key(o, "n", 1, name, strlen(name)));
			assert_true(has_tombstone(fx, hash_of(fx, "pod", m->deletions[at].name), seq));
			assert_true(has_tombstone(fx, hash_of(fx, "uid", m->deletions[at].uid), seq));
			assert_true(has_tombstone(fx, hash_of(fx, "ip4", m->deletions[at].name), seq));
			assert_true(has_tombstone(fx, hash_of(fx, "ip6", m->deletions[at].name), seq));
			assert_true(has_tombstone(fx, hash_of(fx, "a", m->deletions[at].uid), seq));
			assert_true(has_tombstone(fx, hash_of(fx, "b", m->deletions[at].uid), seq));
			at++;
			dead++;
		} else {
			uint32_t ref = store_by_ordinal(fx->store, fx->pods, link_value(it.leaf));
			unsigned name;

			assert_int_equal(
				sscanf(object_name(object_at(&fx->arena->view, ref)), "pod-%u", &name), 1);
			seq = object_at(&fx->arena->view, ref)->seq;
			assert_int_equal(m->seq[name], seq);
			live++;
		}
		assert_true(seq > last);
		last = seq;
	}
	while (at < m->deleted)
		assert_true(m->deletions[at++].seq <= res->tombstone_floor);
	for (unsigned i = 0; i < NAMES; i++)
		live -= m->uid[i] != 0;
	assert_int_equal(live, 0);
	assert_int_equal(count_filed(fx), 6 * dead);
	store_tombstone_stats(fx->store, fx->pods, &stats);
	assert_int_equal(stats.count, dead);
}

static void
note_deletion(struct model *m, unsigned name, uint64_t seq)
{
	assert_true(m->deleted < DELETIONS);
	m->deletions[m->deleted++] = (struct deletion){seq, name, m->uid[name]};
	m->uid[name] = 0;
}

/* One change; memory may be refused: then it has not happened. Returns its result. */
static int
change(struct store_fixture *fx, struct model *m)
{
	unsigned name = pick(NAMES), uid = m->uid[name], version = ++m->next;
	int r;

	if (pick(2) == 0) {
		r = delete(fx, name);
		if (r == 0 && uid)
			note_deletion(m, name, store_seq(fx->store));
		return r;
	}
	if (!uid || pick(3) == 0)
		uid = version;
	r = put(fx, name, uid, version);
	if (r < 0)
		return r;
	if (m->uid[name] && m->uid[name] != uid)
		note_deletion(m, name, store_seq(fx->store) - 1);
	m->uid[name] = uid;
	m->seq[name] = store_seq(fx->store);
	return 0;
}

static void
change_limits(struct store_fixture *fx)
{
	struct tombstone_stats stats;

	store_tombstone_stats(fx->store, fx->pods, &stats);
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
		if (stats.count)
			store_expire_tombstones(fx->store,
						stats.oldest_boot_ns + 300 * SECOND + 1 + pick(1000000));
	}
}

/*
 * Whatever is refused at whatever moment: by-seq, `deleted`, floor and figures are what a plain list of
 * deletions says.
 */
TEST_CASE(random_changes_agree_with_a_plain_list)
{
	struct model *m = calloc(1, sizeof(*m));
	struct store_fixture *fx = new_store(1u << 30);
	struct store_stats empty, again;
	unsigned failures = 0;

	assert_non_null(m);
	store_fixture_settle(fx);
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
		commit(fx);
		assert_agrees(fx, m);
	}
	assert_true(failures > 100);

	for (unsigned i = 0; i < NAMES; i++)
		assert_int_equal(delete(fx, i), 0);
	limit(fx, 0, 0, 0);
	store_fixture_settle(fx);
	store_stats(fx->store, &again);
	assert_int_equal(published(fx)->deleted, 0);
	assert_int_equal(published(fx)->by_seq, 0);
	assert_int_equal(again.used_bytes, empty.used_bytes);
	assert_int_equal(again.shared_blocks, empty.shared_blocks);
	store_fixture_free(fx);
	free(m);
}

/*
 * With an allocation refused at each step in turn, a delete happens whole or not at all, and does once it is
 * let through.
 */
TEST_CASE(each_private_allocation_of_a_delete_may_fail)
{
	unsigned refusals = 0;

	for (uint64_t n = 0;; n++) {
		struct store_fixture *fx = new_store(1u << 30);
		int r;

		assert_int_equal(put(fx, 1, 11, 1), 0);
		commit(fx);
		allocations_left = n;
		r = delete(fx, 1);
		if (allocations_left != UINT64_MAX) { /* it needed no more */
			allocations_left = UINT64_MAX;
			assert_int_equal(r, 0);
			commit(fx);
			assert_string_equal(by_seq(fx), "2-11 ");
			store_fixture_free(fx);
			break;
		}
		refusals++;
		if (r < 0) {
			assert_int_equal(r, -ENOMEM);
			commit(fx);
			assert_string_equal(by_seq(fx), "1+11 ");
			assert_int_not_equal(store_fixture_find(fx, "n", "pod-1"), 0);
			assert_int_equal(delete(fx, 1), 0);
		}
		commit(fx);
		assert_string_equal(by_seq(fx), "2-11 ");
		assert_string_equal(found_by(fx, "b", 11), "11 ");
		store_fixture_free(fx);
	}
	assert_true(refusals >= 2);
}
