/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a writer of pods in a directory, cuts it, and compares the files at each cut with the states before
 * and after. For tests of commits and adoption.
 */
#include "tests/writer/cut/cut_world.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm-layout/header_check.h"
#include "tests/room.h"
#include "tests/support/arena_text.h"
#include "tests/writer/cut/cut_record.h"

/* Gives the same keys and lineages in each run. */
static uint64_t seed;

static uint32_t
next_random(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 32);
}

static void
fill_random(void *to, const size_t length)
{
	for (size_t i = 0; i < length; i++)
		((uint8_t *)to)[i] = (uint8_t)next_random();
}

static const char *
random_name(void)
{
	return "seeded";
}

static struct randombytes_implementation seeded = {
	.implementation_name = random_name, .random = next_random, .buf = fill_random};

/* ---- the writer, and the state at its cuts ---- */

#define GENERATIONS_MAX 8u /* more than any test has */

/* An adoption takes a millisecond: `make test` makes every eighth cut between stores. */
#define EVERY_IN_SHORT 8u

int
cut_world_set_up(void **state)
{
	struct cut_world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	seed = 1;
	randombytes_set_implementation(&seeded);
	generations_begin(&w->live);
	generations_begin(&w->cut);
	w->live.place.max_bytes = w->cut.place.max_bytes = ARENA_BYTES_MIN;
	*state = w;
	return 0;
}

int
cut_world_tear_down(void **state)
{
	struct cut_world *w = *state;

	cut_abandon();
	store_fixture_free(w->fx);
	generations_end(&w->live);
	generations_end(&w->cut);
	free(w->was);
	free(w->before.text);
	free(w->after.text);
	free(w);
	return 0;
}

/* Start a writer in the directory: it adopts the arena there, or makes one. */
void
cut_world_start(void *context)
{
	struct cut_world *w = context;
	struct arena *arena = calloc(1, sizeof(*arena));
	struct adoption adoption;
	struct intern *intern;

	assert_non_null(arena);
	assert_int_equal(generation_adopt(&w->live.place, arena, &intern, &adoption), 0);
	w->fx = store_fixture_over(arena, intern);
	w->fx->owns_arena = 1;
	generation_finish(&w->live.place, arena, &adoption);
	generation_leave(&adoption);
	store_set_state(w->fx->store, w->fx->pods, RESOURCE_SYNCED);
}

void
cut_world_end(struct cut_world *w)
{
	store_fixture_free(w->fx);
	w->fx = NULL;
}

static void
say(struct cut_world *w, const char *type, unsigned i)
{
	assert_int_equal(
		store_fixture_sayf(
			w->fx, type,
			"{\"metadata\":{\"name\":\"pod-%u\",\"namespace\":\"ns-%u\",\"uid\":\"u%u-%u\","
			"\"resourceVersion\":\"%lu\",\"labels\":{\"own\":\"%u\",\"all\":\"x\"}},"
			"\"spec\":{\"nodeName\":\"node-%u\"},\"status\":{\"podIPs\":[{\"ip\":"
			"\"10.0.0.%u\"}]}}",
			i, i % 2, i, w->pods[i].life, ++w->rv, i, w->pods[i].node, i),
		0);
}

void
cut_world_put(struct cut_world *w, unsigned i, unsigned node)
{
	w->pods[i].node = node;
	say(w, "MODIFIED", i);
}

void
cut_world_put_all(struct cut_world *w, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		cut_world_put(w, i, i % 3);
}

void
cut_world_del(struct cut_world *w, unsigned i)
{
	say(w, "DELETED", i);
	w->pods[i].life++; /* another pod of the same name comes */
}

void
cut_world_commit(struct cut_world *w)
{
	char version[32];

	snprintf(version, sizeof(version), "%lu", w->rv);
	assert_int_equal(store_set_version(w->fx->store, w->fx->pods, version, strlen(version)), 0);
	assert_int_equal(store_commit(w->fx->store), 0);
}

static char *
published_text(const struct arena *arena)
{
	char *text = arena_text(&arena->view, &arena->keys);

	if (strstr(text, "DAMAGED"))
		fail_msg("%s", text);
	return text;
}

/* Call before the writer ends: what is published now is the state before the cuts. */
void
cut_world_note_published(struct cut_world *w)
{
	w->was = published_text(w->fx->arena);
}

/* ---- at a cut ---- */

/* The state in a mapped file; NULL without a file, or if it is not an arena yet. */
static char *
text_as_it_lies(const struct cut_world *w, const char *name)
{
	int fd = openat(w->cut.place.directory, name, O_RDONLY | O_CLOEXEC);
	struct tag_root_key root_key;
	struct tag_keys keys;
	struct stat st;
	char *text = NULL;
	char why[HEADER_WHY_BYTES];
	void *map;

	if (fd < 0)
		return NULL;
	assert_int_equal(fstat(fd, &st), 0);
	map = (uint64_t)st.st_size >= HEADER_BYTES
		      ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0)
		      : NULL;
	assert_true(map != MAP_FAILED);
	if (map && header_check(map, (uint64_t)st.st_size, why) == 0 &&
	    atomic_load(&((struct header *)map)->state) != HEADER_REVOKED) {
		const struct arena_view view = {
			.base = map, .committed = atomic_load(&((struct header *)map)->committed_bytes)};

		assert_true(view.committed <= (uint64_t)st.st_size);
		tag_derive(w->cut.place.master, &keys, &root_key);
		text = arena_text(&view, &keys);
	}
	if (map)
		munmap(map, (size_t)st.st_size);
	close(fd);
	return text;
}

/* The state in the file that a writer would adopt: the last arena. */
static char *
last_text_as_it_lies(const struct cut_world *w)
{
	char *text = NULL;

	for (unsigned generation = GENERATIONS_MAX; generation > 0 && !text; generation--) {
		char name[32];

		snprintf(name, sizeof(name), "arena.%u", generation);
		text = text_as_it_lies(w, name);
	}
	return text;
}

/* Change the adopted store once more. Nothing that its root reaches is overwritten. */
static void
go_on(struct store *store, const struct arena *arena)
{
	if (store_resource_count(store) > 0)
		assert_int_equal(store_set_status(store, 0, "{\"recovered\":true,\"message\":\"adopted\"}"),
				 0);
	assert_int_equal(store_commit(store), 0);
	free(published_text(arena));
}

/* Adopt the files as informerd does. Fails unless the adoption is clean. */
static void
adopt(struct cut_world *w, struct cut_whole *ret)
{
	struct arena arena;
	struct arena_stats stats;
	struct adoption adoption;
	struct intern *intern;
	struct store *store;
	char only[32];

	assert_int_equal(generation_adopt(&w->cut.place, &arena, &intern, &adoption), 0);
	if (adoption.message[0])
		fail_msg("%s", adoption.message);
	assert_true(adoption.how == ADOPTION_ADOPTED || (adoption.how == ADOPTION_NEW && !w->was));
	assert_int_equal(store_new(&arena, intern, NULL, &store), 0);
	generation_finish(&w->cut.place, &arena, &adoption);
	generation_give_back(&w->cut.place, &adoption);
	ret->text = arena_text(&arena.view, &arena.keys);
	arena_stats(&arena, &stats);
	ret->committed = stats.committed_bytes;
	ret->used = stats.used_bytes;
	ret->blocks = stats.blocks;
	ret->shared = intern_count(store_intern(store));
	assert_int_equal(stats.retired_bytes, 0);
	assert_int_equal(stats.leaked_blocks, 0);
	assert_int_equal(stats.used_bytes + stats.free_bytes + stats.absent_bytes, stats.committed_bytes);
	go_on(store, &arena);
	store_free(store);
	arena_close(&arena);
	assert_int_equal(generations_count_files(&w->cut), 1);
	snprintf(only, sizeof(only), "arena.%" PRIu64, adoption.generation);
	assert_int_equal(faccessat(w->cut.place.directory, only, R_OK, 0), 0);
}

/* All cuts are compared with the first and the last. */
static void
note_whole(void *context, const struct cut *cut)
{
	struct cut_world *w = context;

	if (cut->number == 0 && w->was)
		adopt(w, &w->before);
	else if (cut->last)
		adopt(w, &w->after);
}

static bool
same_whole(const struct cut_whole *a, const struct cut_whole *b)
{
	return a->text && b->text && strcmp(a->text, b->text) == 0 && a->used == b->used &&
	       a->blocks == b->blocks && a->shared == b->shared;
}

static void
check_cut(void *context, const struct cut *cut)
{
	struct cut_world *w = context;
	char *lies = last_text_as_it_lies(w);
	struct cut_whole now;
	bool before;

	if (w->was && !lies)
		fail_msg("%s: cut %zu: nobody finds anything to read", w->kind, cut->number);
	adopt(w, &now);
	w->adopted++;
	if (lies && strcmp(lies, now.text) != 0)
		fail_msg("%s: cut %zu, at offset %" PRIu64 ": readers see\n%sadoption finds\n%s", w->kind,
			 cut->number, cut->offset, lies, now.text);
	before = w->found_after == 0 && (w->was ? same_whole(&now, &w->before) : !lies); /* no arena before */
	if (!before && !same_whole(&now, &w->after))
		fail_msg("%s: cut %zu, at offset %" PRIu64 ": %" PRIu64 " bytes in %" PRIu64
			 " blocks, %" PRIu64 " shared; before %" PRIu64 ", %" PRIu64 ", %" PRIu64
			 ", after %" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n%sis neither\n%snor\n%s",
			 w->kind, cut->number, cut->offset, now.used, now.blocks, now.shared, w->before.used,
			 w->before.blocks, w->before.shared, w->after.used, w->after.blocks, w->after.shared,
			 now.text, w->before.text ? w->before.text : "", w->after.text);
	*(before ? &w->found_before : &w->found_after) += 1;
	assert_true(now.committed <= w->after.committed);
	free(lies);
	free(now.text);
}

void
cut_world_cut(struct cut_world *w, const char *kind, void (*body)(void *world))
{
	static const char *const by[] = {"stores", "copies of a page", "calls"};
	char *after;
	struct cut_log *log;

	if (cut_impossible()) {
		print_message("SKIP: %s\n", cut_impossible());
		skip();
	}
	w->kind = kind;
	if (w->fx)
		cut_world_note_published(w);
	log = cut_record(w->live.path, body, w);
	after = published_text(w->fx->arena);
	cut_play(log, w->cut.path, SIZE_MAX, note_whole, w);
	if (w->was)
		assert_string_equal(w->before.text, w->was);
	assert_string_equal(w->after.text, after);
	cut_play(log, w->cut.path, test_is_long() ? 1 : EVERY_IN_SHORT, check_cut, w);
	print_message("%s:", kind);
	for (unsigned i = 0; i < CUT_BYS; i++)
		print_message(" %zu %s,", log->cuts[i], by[i]);
	print_message(" %zu adopted: %zu before, %zu after\n", w->adopted, w->found_before, w->found_after);
	assert_true(log->cuts[CUT_BY_STORE] > 0 && w->found_before > 0);
	assert_int_equal(w->found_after > 0, !w->was || strcmp(w->was, after) != 0);
	free(after);
	cut_log_free(log);
}
