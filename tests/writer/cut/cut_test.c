/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer killed at any instruction leaves the whole state before its commit, or the whole state after it.
 * The tests cut commits of every kind, and adoption, at every store into the arena and every call on its
 * file. At each cut the files are read as by readers that map them, adopted, and read again.
 */
#include <sys/types.h>

#include "shm-layout/walk.h"
#include "tests/room.h"
#include "tests/writer/cut/cut_record.h"
#include "tests/writer/cut/cut_world.h"
#include "tests/support/short_hash.h"
#include "tests/support/steps.h"

/* ---- what is wrapped: calls that change files, the copy of an arena ---- */

#define WRAPPED(type, name, parameters)                                                                      \
	type __real_##name parameters;                                                                       \
	type __wrap_##name parameters;                                                                       \
	type __wrap_##name parameters

WRAPPED(void *, mmap, (void *at, size_t length, int protection, int flags, int fd, off_t offset))
{
	void *map = __real_mmap(at, length, protection, flags, fd, offset);

	cut_mapped(map, length, protection, flags, fd);
	return map;
}

WRAPPED(int, munmap, (void *map, size_t length))
{
	cut_unmapped(map, length);
	return __real_munmap(map, length);
}

/* A wrapped call that changes files. */
#define NOTED(name, parameters, arguments)                                                                   \
	WRAPPED(int, name, parameters)                                                                       \
	{                                                                                                    \
		int r = __real_##name arguments;                                                             \
                                                                                                             \
		cut_called();                                                                                \
		return r;                                                                                    \
	}                                                                                                    \
	struct cut_world

NOTED(openat, (int directory, const char *path, int flags, mode_t mode), (directory, path, flags, mode));
NOTED(fchmod, (int fd, mode_t mode), (fd, mode));
NOTED(ftruncate, (int fd, off_t length), (fd, length));
NOTED(unlinkat, (int directory, const char *path, int flags), (directory, path, flags));
NOTED(renameat, (int old_directory, const char *old, int new_directory, const char *new),
      (old_directory, old, new_directory, new));

/* Calls that fail for want of room. */
static unsigned refusals;

WRAPPED(int, posix_fallocate, (int fd, off_t offset, off_t length))
{
	int r = refusals > 0 ? ENOSPC : __real_posix_fallocate(fd, offset, length);

	refusals -= refusals > 0;

	cut_called();
	return r;
}

WRAPPED(int, fallocate, (int fd, int mode, off_t offset, off_t length))
{
	int r = __real_fallocate(fd, mode, offset, length);

	if (r == 0 && (mode & FALLOC_FL_PUNCH_HOLE))
		cut_punched(fd, (uint64_t)offset, (uint64_t)length);
	return r;
}

/* The kernel cannot write to read-only pages: an arena is read elsewhere, then copied page by page. */
WRAPPED(ssize_t, pread, (int fd, void *to, size_t length, off_t offset))
{
	void *beside = malloc(length);
	ssize_t n = beside ? __real_pread(fd, beside, length, offset) : -1;

	if (n > 0 && !cut_copies(to, beside, (size_t)n))
		memcpy(to, beside, (size_t)n);
	free(beside);
	return n;
}

static int
set_up(void **state)
{
	short_hash_mask = ~0ull;
	refusals = 0;
	return cut_world_set_up(state);
}

/* ---- a test is two texts: steps before the cut commit, and steps of the cut commit ---- */

static void
set_consumers(struct cut_world *w, unsigned count, uint64_t seq)
{
	struct consumer consumers[4];

	memset(consumers, 0, sizeof(consumers));
	for (unsigned i = 0; i < count; i++) {
		store_lineage(w->fx->store, consumers[i].lineage);
		consumers[i].seq = seq + i;
		consumers[i].name_length = 1;
		consumers[i].name[0] = (char)('a' + i);
	}
	assert_int_equal(store_set_consumers(w->fx->store, consumers, count), 0);
}

/*
 * "put 6 2" puts pod 6 on node 2, "fill 3 11" pods 3 to 10. "delete 3" deletes by an event, "drop 3" by key,
 * without decoding. "forget 1" keeps one tombstone. "consumers 2 1" adds two consumers from seq 1 on. "hash
 * 3" keeps these bits of hashes.
 */
static void
act(void *context, const char *step)
{
	struct cut_world *w = context;
	struct store *s = w->fx->store;
	char verb[16] = "";
	unsigned a = 0, b = 0;

	sscanf(step, "%15s %u %u", verb, &a, &b);
	if (strcmp(verb, "put") == 0) {
		cut_world_put(w, a, b);
	} else if (strcmp(verb, "fill") == 0) {
		cut_world_put_all(w, a, b);
	} else if (strcmp(verb, "delete") == 0) {
		cut_world_del(w, a);
	} else if (strcmp(verb, "drop") == 0) {
		store_fixture_deletef(w->fx, a % 2 ? "ns-1" : "ns-0", "pod-%u", a);
	} else if (strcmp(verb, "forget") == 0) {
		store_set_tombstone_limits(s, w->fx->pods,
					   (struct tombstone_limits){a, UINT64_MAX, UINT64_MAX});
	} else if (strcmp(verb, "consumers") == 0) {
		set_consumers(w, a, b);
	} else if (strcmp(verb, "hash") == 0) {
		short_hash_mask = a;
	} else if (strcmp(verb, "status") == 0) {
		assert_int_equal(store_set_status(s, w->fx->pods, "{\"code\":500,\"message\":\"y\"}"), 0);
	} else {
		assert_string_equal(verb, "expect");
		store_expect(s, true);
	}
}

static void
commit(struct cut_world *w, const char *steps)
{
	each_step(w, steps, act);
	cut_world_commit(w);
}

static const char *to_be_cut;

static void
commit_it(void *context)
{
	commit(context, to_be_cut);
}

static void
begin(struct cut_world *w, const char *steps)
{
	cut_world_start(w);
	commit(w, steps);
}

static void
cut(struct cut_world *w, const char *steps)
{
	to_be_cut = steps;
	cut_world_cut(w, steps, commit_it);
}

#define CUT_TEST(name) TEST_CASE_OF(struct cut_world *w, set_up, cut_world_tear_down, name)

/* Commit `before`, then cut the commit of `steps`. */
#define CUT(name, before, steps)                                                                             \
	CUT_TEST(name)                                                                                       \
	{                                                                                                    \
		begin(w, before);                                                                            \
		cut(w, steps);                                                                               \
	}                                                                                                    \
	struct cut_world

/* ---- commits ---- */

#define SEVERAL "put 8 0, delete 1, put 2 2, put 1 1, put 9 1, delete 5, put 8 1"

CUT(a_create_is_there_or_not, "fill 0 6", "put 6 2");
CUT(an_update_is_there_or_not, "fill 0 6", "put 3 1");
CUT(a_delete_is_there_or_not, "fill 0 6", "delete 3");
CUT(several_changes_are_there_together, "fill 0 8", SEVERAL);
CUT(a_new_index_value_is_there_or_not, "fill 0 6", "put 2 20");
CUT(consumers_are_there_or_not, "fill 0 6, consumers 2 1", "consumers 3 2");
CUT(a_status_is_there_or_not, "fill 0 6", "status");
CUT(more_is_expected_or_not, "fill 0 6", "expect");

/* As CUT; and `measure` of the writer is larger (or smaller, …) afterwards. */
#define CUT_MOVES(name, before, steps, measure, op)                                                          \
	CUT_TEST(name)                                                                                       \
	{                                                                                                    \
		uint64_t was;                                                                                \
                                                                                                             \
		begin(w, before);                                                                            \
		was = measure(w);                                                                            \
		cut(w, steps);                                                                               \
		assert_true(measure(w) op was);                                                              \
	}                                                                                                    \
	struct cut_world

static uint64_t
tombstone_floor(const struct cut_world *w)
{
	return store_resource(w->fx->store, w->fx->pods)->tombstone_floor;
}

CUT_MOVES(tombstones_go_or_not, "fill 0 8, delete 0, delete 1, delete 2, delete 3", "forget 1",
	  tombstone_floor, >);

/* ---- commits that change the form of the store ---- */

/* Number of nodes in the published tries. */
static int
count_node(void *context, uint32_t ref, const struct block *b)
{
	(void)ref;
	*(uint64_t *)context += block_type(b) == BLOCK_NODE;
	return 1;
}

static uint64_t
count_nodes(const struct cut_world *w)
{
	uint64_t count = 0;
	struct walk_visitor visitor = {count_node, &count};
	struct walk_damage damage;

	assert_int_equal(
		walk_root(&w->fx->arena->view, atomic_load(&w->fx->arena->header->root), &visitor, &damage),
		0);
	return count;
}

/* Tombstones have tries of their own. */
CUT_MOVES(nodes_split_or_not, "fill 0 3", "fill 3 11", count_nodes, >);
CUT_MOVES(nodes_merge_or_not, "forget 0, fill 0 11",
	  "delete 2, delete 3, delete 4, delete 5, delete 6, delete 7, delete 8", count_nodes, <);

/* All hashes collide; or some, below the tries' last level. */
CUT(collisions_are_there_or_not, "hash 0, fill 0 8, delete 7", SEVERAL);
CUT(collisions_in_deep_tries_are_there_or_not, "hash 3, fill 0 8, delete 7", SEVERAL);

static uint64_t
shortcuts(const struct cut_world *w)
{
	uint32_t table = store_resource(w->fx->store, w->fx->pods)->by_key;

	assert_int_not_equal(table, 0);
	return table;
}

CUT_MOVES(shortcuts_grow_or_not, "fill 0 18", "fill 18 22", shortcuts, !=);
CUT_MOVES(shortcuts_change_with_their_root, "fill 0 18", SEVERAL, shortcuts, ==);

/* Leave only so many bytes free in the file. */
static void
leave_free(struct cut_world *w, uint64_t bytes)
{
	struct arena_stats stats;
	uint32_t ref;

	arena_stats(w->fx->arena, &stats);
	assert_true(stats.free_bytes > bytes);
	arena_open_reserve(w->fx->arena, true);
	assert_int_equal(
		arena_new_block(w->fx->arena, BLOCK_VALUE, (uint32_t)(stats.free_bytes - bytes), 0, &ref), 0);
	arena_open_reserve(w->fx->arena, false);
}

CUT_TEST(the_arena_grows_or_not)
{
	uint64_t committed;

	begin(w, "fill 0 6");
	leave_free(w, ARENA_RESERVE + 4096);
	committed = w->fx->arena->view.committed;
	cut(w, SEVERAL);
	assert_true(w->fx->arena->view.committed > committed);
}

/* Without room for a large step the arena grows by the smallest. */
CUT_TEST(the_arena_grows_by_the_least_or_not)
{
	uint64_t committed;

	begin(w, "fill 0 6");
	leave_free(w, 4096);
	committed = w->fx->arena->view.committed;
	refusals = 1;
	cut(w, "drop 3");
	assert_int_equal(refusals, 0);
	assert_in_range(w->fx->arena->view.committed, committed + 4096, committed + (256u << 10));
}

/* Commit large blocks that are replaced at once, until so many bytes wait to be reused. */
static void
waste(struct cut_world *w, uint64_t retired)
{
	struct store_stats stats;
	unsigned count = 0;

	do {
		char status[3000];

		snprintf(status, sizeof(status), "{\"message\":\"%02900u\"}", ++count);
		assert_int_equal(store_set_status(w->fx->store, w->fx->pods, status), 0);
		cut_world_commit(w);
		store_stats(w->fx->store, &stats);
	} while (stats.retired_bytes < retired);
}

CUT_TEST(memory_is_reused_or_not)
{
	struct store_stats before, after;

	begin(w, "fill 0 12");
	waste(w, 60u << 10); /* from 64 KiB on a commit reclaims them */
	store_stats(w->fx->store, &before);
	cut(w, SEVERAL);
	store_stats(w->fx->store, &after);
	assert_true(after.retired_bytes < before.retired_bytes);
}

/* ---- commits that follow a reload of the configuration ---- */

static const char other_pods_descriptor[] =
	"{\"resource\":\"pods\",\"kind\":\"Pod\",\"namespaced\":true,\"indexes\":["
	"{\"name\":\"own\",\"rules\":[{\"path\":\"metadata.labels.own\",\"as\":\"string\"}]},"
	"{\"name\":\"nodeName\",\"rules\":[{\"path\":\"spec.nodeName\",\"as\":\"string\"}]}"
	"]}";
static const char nodes_descriptor[] = "{\"resource\":\"nodes\",\"kind\":\"Node\",\"indexes\":[]}";
static const char services_descriptor[] = "{\"resource\":\"services\",\"kind\":\"Service\",\"indexes\":[]}";
static const uint8_t other_fingerprint[24] = "another definition";

/* The next writer caches services, and no nodes. */
static void
start_with_services(void *context)
{
	struct cut_world *w = context;
	unsigned services;

	cut_world_start(w);
	store_drop_unwanted(w->fx->store, (const bool[]){true, false});
	assert_int_equal(store_add_resource(w->fx->store, services_descriptor, other_fingerprint, &services),
			 0);
	cut_world_commit(w);
}

CUT_TEST(resources_come_and_go_together)
{
	unsigned nodes;

	cut_world_start(w);
	assert_int_equal(store_add_resource(w->fx->store, nodes_descriptor, other_fingerprint, &nodes), 0);
	commit(w, "fill 0 6");
	cut_world_note_published(w);
	cut_world_end(w);
	cut_world_cut(w, "reload: other resources", start_with_services);
}

static void
exchange_indexes(void *context)
{
	struct cut_world *w = context;

	assert_int_equal(store_redefine(w->fx->store, w->fx->pods, other_pods_descriptor, other_fingerprint),
			 0);
	cut_world_commit(w);
}

CUT_TEST(other_indexes_are_there_or_not)
{
	begin(w, "fill 0 8");
	assert_int_equal(store_fixture_count_by_index(w->fx, "own", "1"), -1);
	cut_world_cut(w, "reload: other indexes", exchange_indexes);
	assert_int_equal(store_fixture_count_by_index(w->fx, "own", "1"), 1);
	assert_int_equal(store_fixture_count_by_index(w->fx, "podIP", "10.0.0.1"), -1);
}

static void
redefine_otherwise(void *context)
{
	struct cut_world *w = context;
	unsigned id;

	/* as a new configuration with another server names it */
	store_unclaim(w->fx->store, w->fx->pods);
	assert_int_equal(store_add_resource(w->fx->store, pods_descriptor, other_fingerprint, &id), 0);
	assert_int_equal(id, w->fx->pods);
	assert_int_equal(store_commit(w->fx->store), 0);
}

CUT_TEST(a_resource_is_emptied_or_not)
{
	begin(w, "fill 0 8, delete 2");
	cut_world_cut(w, "reload: another server", redefine_otherwise);
}

/* ---- generations ---- */

CUT_TEST(the_first_arena_is_there_or_not)
{
	cut_world_cut(w, "first arena", cut_world_start);
}

static void
begin_and_end(struct cut_world *w, const char *steps)
{
	begin(w, steps);
	cut_world_note_published(w);
	cut_world_end(w);
}

CUT_TEST(adoption_is_adopted)
{
	begin_and_end(w, "fill 0 20, delete 4, consumers 2 1");
	cut_world_cut(w, "adoption", cut_world_start);
}

/* Without room for two arenas the new one begins empty. At each cut one of the two arenas is there. */
static void
start_without_room(void *context)
{
	refusals = 1;
	cut_world_start(context);
}

CUT_TEST(without_room_for_two_one_is_there)
{
	begin_and_end(w, "fill 0 48, delete 4, consumers 2 1");
	cut_world_cut(w, "no room for two", start_without_room);
}
