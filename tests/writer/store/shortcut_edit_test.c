/* SPDX-License-Identifier: Apache-2.0 */
/* Shortcuts: hints that may be missing and never mislead, from whatever root. */
#include "shm-layout/root.h"
#include "shm-layout/shortcut.h"
#include "shm-layout/trie.h"
#include "tests/room.h"
#include "tests/support/store_fixture.h"
#include "writer/store/shortcut_edit.h"

#define PODS 600

static uint64_t
hash_of(const struct store_fixture *fx, const char *name)
{
	return object_key_hash(fx->arena->header->hash_key, "ns", 2, name, strlen(name));
}

/* The pod's ref by the tries of a root, or 0. */
static uint32_t
by_tries(const struct store_fixture *fx, const struct root *root, const char *name)
{
	const struct resource *res = root_resource(&fx->arena->view, root, 0);
	uint32_t leaf, ref;

	if (trie_get(&fx->arena->view, res->identity, hash_of(fx, name), &leaf) <= 0)
		return 0;
	assert_true(link_is_immediate(leaf));
	if (trie_get(&fx->arena->view, res->ordinals, link_value(leaf), &ref) <= 0)
		return 0;
	return object_has_key(object_at(&fx->arena->view, ref), "ns", 2, name, strlen(name)) ? ref : 0;
}

/* Each shortcut of a root leads where its tries lead, or nowhere. Returns the number of pods found by key. */
static unsigned
check_root(const struct store_fixture *fx, const struct root *root)
{
	static const struct slot slot; /* of an open reader */
	const struct arena_view *view = &fx->arena->view;
	const struct resource *res = root_resource(view, root, 0);
	unsigned found = 0;
	uint32_t count = 0, ref;
	char name[32];
	void *cells = res->by_ordinal ? shortcut_cells(view, res->by_ordinal, SHORTCUT_BY_ORDINAL, &count)
				      : NULL;

	for (unsigned i = 0; i < PODS; i++) {
		struct object_extent extent;
		const struct object *o;
		uint32_t truth;

		snprintf(name, sizeof(name), "pod-%u", i);
		truth = by_tries(fx, root, name);
		o = shortcut_by_key(view, &slot, res->by_key, root->seq, hash_of(fx, name), &ref, &extent);
		if (o) {
			assert_int_equal(ref, truth);
			found++;
		}
		if (!truth || !cells)
			continue;
		o = object_at(view, truth);
		ref = shortcut_cell(cells, count, o->ordinal);
		if (shortcut_object(view, ref, root->seq, o->ordinal))
			assert_int_equal(ref, truth);
	}
	return found;
}

static int
change_one(struct store_fixture *fx, uint64_t *random, unsigned version)
{
	char name[32];
	unsigned i;

	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	i = (unsigned)(*random >> 33) % PODS;
	snprintf(name, sizeof(name), "pod-%u", i);
	if ((*random >> 60) < 4)
		return store_fixture_delete(fx, "ns", name);
	/* now and then another object of the name */
	return store_fixture_putf(fx,
				  "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u%u\","
				  "\"resourceVersion\":\"%u\"}}",
				  name, (unsigned)(*random >> 20) % 3, version);
}

static void
put_pods(struct store_fixture *fx, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		assert_int_equal(
			store_fixture_putf(
				fx, "{\"metadata\":{\"name\":\"pod-%u\",\"namespace\":\"ns\",\"uid\":\"u\"}}",
				i),
			0);
}

#define TEST(name) TEST_CASE_OF(struct store_fixture *fx, store_fixture_set_up, store_fixture_tear_down, name)

/*
 * In a random history each hint gives the version of its root: of the newest, of an older pinned root, and
 * with uncommitted changes. From the newest root almost all are found.
 */
TEST(a_shortcut_shows_what_the_root_has_or_nothing)
{
	unsigned version = 0, id, found;
	uint64_t random = 5;
	struct slot *slot;
	int fd;

	assert_int_equal(pins_add(fx->pins, store_epoch(fx->store), &id, &fd), 0);
	slot = pins_page(fx->pins, id);
	slot_touch(slot, 0);
	for (unsigned round = 0; round < 300; round++) {
		const struct root *pinned = store_fixture_root(fx);

		slot_pin(&slot->cells[0], pinned->epoch);
		for (unsigned commit = 0; commit < 3; commit++) {
			for (unsigned n = 0; n < 40; n++)
				assert_int_equal(change_one(fx, &random, ++version), 0);
			assert_int_equal(store_commit(fx->store), 0);
		}
		for (unsigned n = 0; n < 40; n++)
			assert_int_equal(change_one(fx, &random, ++version), 0);
		check_root(fx, pinned);
		check_root(fx, store_fixture_root(fx));
		assert_int_equal(store_commit(fx->store), 0);
		check_root(fx, pinned);
		found = check_root(fx, store_fixture_root(fx));
		slot_unpin(&slot->cells[0]);
		if (round > 20)
			assert_true(found * 100ull >= store_resource(fx->store, 0)->object_count * 90);
	}
}

/* A table grows with the objects, and shrinks when almost all are gone. Its block is freed. */
TEST(tables_follow_the_number_of_objects)
{
	const struct resource *res;
	uint32_t cells;

	for (unsigned i = 0; i < 4000; i += 50) {
		put_pods(fx, i, i + 50);
		assert_int_equal(store_commit(fx->store), 0);
	}
	res = store_fixture_published(fx);
	assert_non_null(shortcut_cells(&fx->arena->view, res->by_key, SHORTCUT_BY_KEY, &cells));
	assert_int_equal(cells, 8192);
	assert_true(check_root(fx, store_fixture_root(fx)) >= PODS * 95 / 100);
	for (unsigned i = 100; i < 4000; i++)
		store_fixture_deletef(fx, "ns", "pod-%u", i);
	assert_int_equal(store_commit(fx->store), 0);
	res = store_fixture_published(fx);
	assert_non_null(shortcut_cells(&fx->arena->view, res->by_key, SHORTCUT_BY_KEY, &cells));
	assert_int_equal(cells, 256);
	assert_true(check_root(fx, store_fixture_root(fx)) >= 95);
	assert_int_equal(store_fixture_verify(fx), 0);
}

/* Without room for a table there is none, and commits go on. */
TEST(without_room_there_is_no_table)
{
	struct shortcut_edit edit = {0};
	struct resource now;

	put_pods(fx, 0, 100);
	now = *store_resource(fx->store, 0);
	assert_int_equal(now.by_key, 0);
	arena_fail_after(fx->arena, 0);
	shortcut_fit(&edit, fx->arena, &now);
	arena_fail_after(fx->arena, UINT64_MAX);
	assert_int_equal(now.by_key, 0);
	assert_int_equal(now.by_ordinal, 0);
	shortcut_fit(&edit, fx->arena, &now); /* not at once again */
	assert_int_equal(now.by_key, 0);
	now.object_count += 16;
	shortcut_fit(&edit, fx->arena, &now);
	assert_int_not_equal(now.by_key, 0);
	shortcut_drop(&edit, fx->arena, &now);
	shortcut_edit_done(&edit);
	assert_int_equal(store_commit(fx->store), 0);
}

/* A note lost for want of memory drops the tables, and they are built anew. */
TEST(a_lost_note_drops_the_tables)
{
	struct shortcut_edit edit = {.lost = true};
	struct resource now;
	uint32_t before;

	put_pods(fx, 0, 100);
	assert_int_equal(store_commit(fx->store), 0);
	now = *store_resource(fx->store, 0);
	before = now.by_key;
	assert_int_not_equal(before, 0);
	shortcut_fit(&edit, fx->arena, &now);
	assert_false(edit.lost);
	assert_int_not_equal(now.by_key, before);
	shortcut_edit_done(&edit);
}

/* Garbage in cells, as of a writer that died before its root, is gone after a rebuild. */
TEST(a_rebuild_leaves_no_old_cell)
{
	_Atomic uint64_t *keys;
	_Atomic uint32_t *ordinals;
	struct resource now;
	uint32_t key_cells = 0, ordinal_cells = 0;

	put_pods(fx, 0, PODS);
	assert_int_equal(store_commit(fx->store), 0);
	now = *store_resource(fx->store, 0);
	keys = shortcut_cells(&fx->arena->view, now.by_key, SHORTCUT_BY_KEY, &key_cells);
	ordinals = shortcut_cells(&fx->arena->view, now.by_ordinal, SHORTCUT_BY_ORDINAL, &ordinal_cells);
	assert_non_null(keys);
	assert_non_null(ordinals);
	for (uint32_t i = 0; i < key_cells; i++)
		atomic_store(&keys[i], 0x0123456789abcdefull * (i + 1));
	for (uint32_t i = 0; i < ordinal_cells; i++)
		atomic_store(&ordinals[i], 0x89abcdefu * (i + 1));
	check_root(fx, store_fixture_root(fx)); /* hints that lead nowhere are not followed */
	shortcut_rebuild(fx->arena, &now);
	assert_true(check_root(fx, store_fixture_root(fx)) >= PODS * 90 / 100);
}
