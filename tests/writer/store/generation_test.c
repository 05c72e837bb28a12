/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations: a new writer adopts the old arena's content. An unusable arena is named and set aside. A
 * replaced arena stays for its readers, for a limited time.
 */
#include <inttypes.h>

#include "tests/room.h"
#include "tests/support/full_tmpfs.h"
#include "tests/support/generations.h"
#include "tests/support/store_fixture.h"

#define PODS 60

struct world {
	struct generations generations;
	struct arena_place *place;
	struct adoption adoption; /* of the last writer's start */
	struct store_fixture *fx; /* the writer; NULL: ended */
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	generations_begin(&w->generations);
	w->place = &w->generations.place;
	*state = w;
	return 0;
}

/* The writer ends, and drops the generation before. */
static void
stop(struct world *w)
{
	if (w->fx)
		generation_leave(&w->adoption);
	store_fixture_free(w->fx);
	w->fx = NULL;
}

static void
end_world(struct world *w)
{
	stop(w);
	generations_end(&w->generations);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

/* The writer ends, if any, and the next starts: it adopts or makes an arena, and goes live. */
static struct store_fixture *
start_as(struct world *w, enum adoption_how how)
{
	struct arena *arena = calloc(1, sizeof(*arena));
	struct intern *intern;

	stop(w);
	if (generation_adopt(w->place, arena, &intern, &w->adoption) < 0)
		fail_msg("%s", w->adoption.message);
	w->fx = store_fixture_over(arena, intern);
	w->fx->owns_arena = 1;
	generation_finish(w->place, arena, &w->adoption);
	assert_int_equal(w->adoption.how, how);
	return w->fx;
}

/* A writer cannot start, and gives this reason. */
static void
assert_no_start(struct world *w, const char *why)
{
	struct intern *intern;
	struct arena arena;

	assert_true(generation_adopt(w->place, &arena, &intern, &w->adoption) < 0);
	assert_non_null(strstr(w->adoption.message, why));
}

/* One commit sets the round of all pods. Odd rounds delete a third of them. */
static void
commit_round(struct store_fixture *fx, unsigned long round)
{
	char version[32];

	for (unsigned i = 0; i < PODS; i++) {
		char name[32];
		int r;

		snprintf(name, sizeof(name), "pod-%u", i);
		if (round % 2 && i % 3 == 0)
			r = store_fixture_delete(fx, "ns", name);
		else
			r = store_fixture_putf(
				fx,
				"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u%u\","
				"\"resourceVersion\":\"%lu-%u\",\"labels\":{\"round\":\"%lu\",\"fixed\":"
				"\"yes\"}},"
				"\"spec\":{\"nodeName\":\"node-%lu\",\"filler\":\"%0*lu\"}}",
				name, i, round, i, round, round % 5, 40 + (int)(round % 200), round);
		assert_int_equal(r, 0);
	}
	snprintf(version, sizeof(version), "%lu", round);
	store_set_version(fx->store, fx->pods, version, strlen(version));
	store_set_state(fx->store, fx->pods, RESOURCE_SYNCED);
	assert_int_equal(store_commit(fx->store), 0);
}

/* The published root holds exactly the pods of the round in its RV. Returns the round. */
static unsigned long
assert_one_whole_round(struct store_fixture *fx)
{
	const struct resource *res = store_resource(fx->store, fx->pods);
	unsigned long round;
	char version[RESOURCE_VERSION_MAX + 1] = "";
	long pods;

	assert_int_equal(store_fixture_verify(fx), 0);
	memcpy(version, res->version, res->version_length);
	round = strtoul(version, NULL, 10);
	pods = round == 0 ? 0 : round % 2 ? PODS - PODS / 3 : PODS;
	assert_int_equal(res->object_count, pods);
	store_fixture_assert_count(fx, pods, "labels", "round=%lu", round);
	store_fixture_assert_count(fx, pods, "labels", "fixed=yes");
	store_fixture_assert_count(fx, pods, "nodeName", "node-%lu", round % 5);
	return round;
}

/* The first writer publishes round 2, and ends. */
static void
publish(struct world *w)
{
	commit_round(start_as(w, ADOPTION_NEW), 2);
	stop(w);
}

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* The second writer finds all content of the first, and resumes from there. */
TEST(a_new_writer_carries_the_content_over)
{
	struct store_fixture *fx = start_as(w, ADOPTION_NEW);
	struct store_stats before, after;
	uint8_t lineage[16];

	for (unsigned long round = 1; round <= 20; round++)
		commit_round(fx, round);
	store_stats(fx->store, &before);
	memcpy(lineage, store_fixture_root(fx)->lineage, 16);

	fx = start_as(w, ADOPTION_ADOPTED);
	assert_int_equal(w->adoption.generation, 2);
	assert_int_equal(assert_one_whole_round(fx), 20);
	store_stats(fx->store, &after);
	assert_int_equal(after.seq, before.seq);
	assert_true(after.epoch >= before.epoch);
	assert_memory_equal(lineage, store_fixture_root(fx)->lineage, 16);
	for (unsigned long round = 21; round <= 30; round++) {
		commit_round(fx, round);
		assert_int_equal(assert_one_whole_round(fx), round);
	}
	assert_int_equal(generations_count_files(&w->generations), 2); /* for readers of the old one */
	assert_true(generation_give_back(w->place, &w->adoption));
	assert_int_equal(generations_count_files(&w->generations), 1);
	assert_int_equal(faccessat(w->place->directory, "arena.2", F_OK, 0), 0);
}

/* Books rebuilt by the walk are the old books: the same bytes in use, the same shared blocks. */
TEST(rebuilt_books_equal_the_old_books)
{
	struct store_fixture *fx = start_as(w, ADOPTION_NEW);
	struct store_stats before;

	for (unsigned long round = 1; round <= 33; round++)
		commit_round(fx, round);
	store_fixture_drain(fx);
	store_stats(fx->store, &before);
	store_fixture_renew_decoder(fx);
	stop(w);

	struct intern *intern;
	struct arena arena;
	struct arena_stats stats;

	assert_int_equal(generation_adopt(w->place, &arena, &intern, &w->adoption), 0);
	arena_stats(&arena, &stats);
	assert_int_equal(stats.used_bytes, before.used_bytes);
	assert_int_equal(intern_count(intern), before.shared_blocks);
	generation_finish(w->place, &arena, &w->adoption);
	generation_leave(&w->adoption);
	intern_free(intern);
	arena_close(&arena);
}

/* Flip a bit of what the writer has published. */
static void
damage_root(const struct store_fixture *fx)
{
	((uint8_t *)fx->arena->header)[atomic_load(&fx->arena->header->root) + 60] ^= 8;
}

/* The writer starts with an empty arena, and logs the reason. The old file is set aside for inspection. */
static void
assert_set_aside(struct world *w, const char *why)
{
	struct store_fixture *fx = start_as(w, ADOPTION_REBUILD);

	assert_non_null(strstr(w->adoption.message, why));
	assert_non_null(strstr(w->adoption.message, "set aside as arena.bad"));
	assert_int_equal(faccessat(w->place->directory, "arena.bad", F_OK, 0), 0);
	assert_int_equal(store_resource(fx->store, fx->pods)->object_count, 0);
}

/* An older root is not used, though it is whole: the header has the epoch of the newest. */
TEST(an_older_root_is_not_used)
{
	struct store_fixture *fx = start_as(w, ADOPTION_NEW);
	uint64_t older;

	assert_int_equal(store_fixture_put(fx, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\"}}"), 0);
	assert_int_equal(store_commit(fx->store), 0);
	older = atomic_load(&fx->arena->header->root);
	assert_int_equal(store_fixture_put(fx, "{\"metadata\":{\"name\":\"b\",\"namespace\":\"ns\"}}"), 0);
	assert_int_equal(store_commit(fx->store), 0);
	atomic_store(&fx->arena->header->root, older);
	assert_set_aside(w, "is not the newest");
}

/* A file of another layout, an unfinished file and a replaced file are not adopted. */
TEST(a_file_its_header_rejects_is_set_aside)
{
	static const struct {
		uint16_t major, minor;
		uint32_t state;
		bool replaced;
		const char *why;
	} rows[] = {
		{LAYOUT_MAJOR, LAYOUT_MINOR + 1, HEADER_LIVE, false, "it has layout"},
		{LAYOUT_MAJOR + 1, 0, HEADER_LIVE, false, "it has layout"},
		{LAYOUT_MAJOR - 1, 9, HEADER_LIVE, false, "it has layout"},
		{LAYOUT_MAJOR, LAYOUT_MINOR, HEADER_INCOMPLETE, false, "unfinished"},
		{LAYOUT_MAJOR, LAYOUT_MINOR, HEADER_LIVE, true, "replaced"},
	};

	commit_round(start_as(w, ADOPTION_NEW), 2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct header *h = w->fx->arena->header;
		char text[64];

		h->layout_major = rows[i].major;
		h->layout_minor = rows[i].minor;
		atomic_store(&h->state, rows[i].state);
		if (rows[i].replaced)
			atomic_store(&h->superseded_by, w->adoption.generation + 1);
		assert_set_aside(w, rows[i].why);
		snprintf(text, sizeof(text), "layout %u.%u, and this informerd writes %u.%u", rows[i].major,
			 rows[i].minor, LAYOUT_MAJOR, LAYOUT_MINOR);
		assert_int_equal(strstr(w->adoption.message, text) != NULL,
				 strcmp(rows[i].why, "it has layout") == 0);
	}
}

/* The writer neither follows nor uses a symbolic link under the next name. It starts beside it. */
TEST(a_symlink_in_the_arenas_place_is_not_followed)
{
	struct store_fixture *fx;
	struct stat st;
	char victim[128];
	int fd;

	snprintf(victim, sizeof(victim), "%s/victim", w->generations.path);
	fd = open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "precious", 8), 8);
	close(fd);
	assert_int_equal(symlinkat(victim, w->place->directory, "arena.7"), 0);
	fx = start_as(w, ADOPTION_REBUILD);
	assert_non_null(strstr(w->adoption.message, "symbolic link"));
	commit_round(fx, 1);
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 8);
}

/* With another key file the old content cannot be verified, and the message names the reason. */
TEST(another_key_file_means_a_new_arena)
{
	publish(w);
	w->place->master[0] ^= 1;
	start_as(w, ADOPTION_REBUILD);
	assert_non_null(strstr(w->adoption.message, "another key file"));
}

/* Make an empty file of another user. */
static void
strangers_file(struct world *w, const char *name)
{
	int fd = openat(w->place->directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, 65534, 65534), 0);
	close(fd);
}

/*
 * In a directory that is open to all users, many files of other users may have the arena's name, with any
 * number. The writer starts, and finds its own arena. It counts such files, and leaves them alone.
 */
TEST(files_of_other_users_are_skipped)
{
	struct store_fixture *fx;
	char name[64];

	if (geteuid() != 0) {
		print_message("SKIP: needs to make files of another user\n");
		skip();
	}
	strangers_file(w, "arena.18446744073709551614");
	for (unsigned i = 100; i < 180; i++) {
		snprintf(name, sizeof(name), "arena.%u", i);
		strangers_file(w, name);
	}
	strangers_file(w, "arena.1");
	fx = start_as(w, ADOPTION_NEW);
	assert_int_equal(w->adoption.strangers, 82);
	assert_true(w->adoption.generation > 1 && w->adoption.generation < 100);
	commit_round(fx, 2);
	stop(w);

	snprintf(name, sizeof(name), "arena.%" PRIu64, w->adoption.generation + 1);
	strangers_file(w, name);
	fx = start_as(w, ADOPTION_ADOPTED);
	assert_int_equal(assert_one_whole_round(fx), 2);
	assert_true(generation_give_back(w->place, &w->adoption));
	assert_int_equal(generations_count_files(&w->generations), 83 + 1);
}

/* The rest of the test uses a tmpfs that goes with its last descriptor. Skips without the right to mount. */
static void
mount_small(struct world *w, const char *options)
{
	int directory = small_tmpfs(options);

	if (directory < 0) {
		print_message("SKIP: needs the right to mount a small tmpfs\n");
		skip();
	}
	close(w->place->directory);
	w->place->directory = directory;
}

/* A file that leaves no page free. Returns its descriptor. */
static int
fill_tmpfs(struct world *w)
{
	int fd = openat(w->place->directory, "ballast", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	for (off_t at = 0; fallocate(fd, 0, at, 4096) == 0;)
		at += 4096;
	assert_int_equal(errno, ENOSPC);
	return fd;
}

/*
 * A writer killed between setting its file's size and allocating its pages leaves a hole. On a full tmpfs a
 * touch of the hole would be a SIGBUS. The file is removed instead, and the start fails with an error.
 */
TEST(a_hole_in_a_full_tmpfs_is_cleared_away)
{
	struct store_fixture *fx;
	int fd;

	mount_small(w, "size=1500k");
	fd = openat(w->place->directory, "arena.7", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	close(fd);
	fd = fill_tmpfs(w);
	assert_no_start(w, "tmpfs full");
	assert_int_equal(faccessat(w->place->directory, "arena.7", F_OK, 0), -1);
	assert_int_equal(ftruncate(fd, 0), 0);
	close(fd);
	fx = start_as(w, ADOPTION_NEW);
	commit_round(fx, 1);
}

/* A reader of a generation: open and mapped. */
struct reader {
	int fd;
	struct header *header;
	size_t bytes;
};

static struct reader
read_there(struct world *w, uint64_t generation)
{
	struct reader r;
	struct stat st;
	char name[64];

	snprintf(name, sizeof(name), "arena.%" PRIu64, generation);
	r.fd = openat(w->place->directory, name, O_RDONLY | O_CLOEXEC);
	assert_true(r.fd >= 0);
	assert_int_equal(fstat(r.fd, &st), 0);
	r.bytes = (size_t)st.st_size;
	r.header = mmap(NULL, r.bytes, PROT_READ, MAP_SHARED, r.fd, 0);
	assert_true(r.header != MAP_FAILED);
	return r;
}

static void
read_no_more(struct reader *r)
{
	munmap(r->header, r->bytes);
	close(r->fd);
}

static uint64_t
memory_of(const struct reader *r)
{
	struct stat st;

	assert_int_equal(fstat(r->fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void
assert_revoked(const struct reader *r, uint64_t successor)
{
	assert_int_equal(atomic_load(&r->header->state), HEADER_REVOKED);
	assert_int_equal(atomic_load(&r->header->superseded_by), successor);
	assert_int_equal(memory_of(r), HEADER_BYTES);
}

/* Put objects of some hundred bytes each. */
static void
fill(struct store_fixture *fx, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(store_fixture_putf(fx,
						    "{\"metadata\":{\"name\":\"big-%u\",\"namespace\":"
						    "\"ns\"},\"x\":\"%0400u\"}",
						    i, i),
				 0);
	store_fixture_commit(fx);
}

/* The writer says that it begins empty. Readers keep the old arena until the new arena is full. */
TEST(without_room_for_two_the_arena_begins_empty)
{
	struct store_fixture *fx;
	struct reader reader;

	mount_small(w, "size=3900k");
	fill(start_as(w, ADOPTION_NEW), 3000);
	stop(w);

	reader = read_there(w, 1);
	fx = start_as(w, ADOPTION_REBUILD);
	assert_non_null(strstr(w->adoption.message, "arena generation 1 has "));
	assert_non_null(strstr(w->adoption.message, " KiB beside it: enlarge its tmpfs"));
	assert_int_equal(store_resource(fx->store, fx->pods)->object_count, 0);
	assert_int_equal(atomic_load(&reader.header->state), HEADER_LIVE);
	assert_int_equal(atomic_load(&reader.header->superseded_by), 2);
	assert_true(generation_give_back(w->place, &w->adoption));
	assert_revoked(&reader, 2);
	commit_round(fx, 2);
	stop(w);
	read_no_more(&reader);
	assert_int_equal(assert_one_whole_round(start_as(w, ADOPTION_ADOPTED)), 2);
	stop(w);
}

/* A damaged arena with a reader is kept for inspection as long as there is room. */
TEST(a_damaged_arena_gives_its_memory_back)
{
	struct store_fixture *fx;
	struct reader reader;

	mount_small(w, "size=2600k");
	fx = start_as(w, ADOPTION_NEW);
	commit_round(fx, 2);
	damage_root(fx);
	stop(w);
	reader = read_there(w, 1);
	commit_round(start_as(w, ADOPTION_REBUILD), 2);
	assert_non_null(strstr(w->adoption.message, "is damaged"));
	assert_int_equal(faccessat(w->place->directory, "arena.bad", F_OK, 0), 0);
	stop(w);
	start_as(w, ADOPTION_ADOPTED);
	assert_int_equal(faccessat(w->place->directory, "arena.bad", F_OK, 0), -1);
	assert_revoked(&reader, w->adoption.generation);
	stop(w);
	read_no_more(&reader);
}

/* Without room for an empty arena the old arena's memory is taken. */
TEST(a_start_without_room_takes_the_old_arenas)
{
	struct store_fixture *fx;
	struct reader reader;
	int fd;

	mount_small(w, "size=6m");
	fill(start_as(w, ADOPTION_NEW), 3000);
	stop(w);
	fd = fill_tmpfs(w);
	reader = read_there(w, 1);
	fx = start_as(w, ADOPTION_REBUILD);
	assert_revoked(&reader, w->adoption.generation);
	commit_round(fx, 2);
	assert_int_equal(generations_count_files(&w->generations), 2); /* with the file that fills it */
	stop(w);
	close(fd);
	read_no_more(&reader);
}

/* Readers keep a replaced arena until the next writer is live, also if another writer dies before that. */
TEST(a_replaced_arena_stays_until_the_next_switch)
{
	struct arena arena;
	struct intern *intern;
	struct reader reader;

	publish(w);
	reader = read_there(w, 1);
	start_as(w, ADOPTION_ADOPTED);
	stop(w);
	assert_int_equal(generation_adopt(w->place, &arena, &intern, &w->adoption), 0);
	assert_int_not_equal(atomic_load(&reader.header->state), HEADER_REVOKED);
	assert_true(memory_of(&reader) > HEADER_BYTES);
	intern_free(intern);
	arena_close(&arena);
	generation_leave(&w->adoption);
	start_as(w, ADOPTION_ADOPTED);
	assert_revoked(&reader, w->adoption.generation);
	stop(w);
	read_no_more(&reader);
}

/* A replaced arena stays whole for its readers until the patience limit. Then it is revoked, and freed. */
TEST(a_replaced_arena_stays_for_the_patience_limit)
{
	struct reader reader;
	uint64_t since;
	uint8_t *was;

	publish(w);
	reader = read_there(w, 1);
	was = aligned_alloc(_Alignof(struct header), reader.bytes);
	memcpy(was, reader.header, reader.bytes);
	assert_int_equal(atomic_load(&reader.header->superseded_by), 0);
	commit_round(start_as(w, ADOPTION_ADOPTED), 3);
	since = w->adoption.superseded_ns;
	assert_false(generation_expire(w->place, &w->adoption, since, 1000));
	assert_false(generation_expire(w->place, &w->adoption, since + 999, 1000));
	assert_int_equal(generations_count_files(&w->generations), 2);
	assert_int_equal(atomic_load(&reader.header->superseded_by), 2);
	assert_int_equal(atomic_load(&reader.header->root), ((struct header *)was)->root);
	assert_memory_equal(was + HEADER_BYTES, (uint8_t *)reader.header + HEADER_BYTES,
			    reader.bytes - HEADER_BYTES);
	assert_true(generation_expire(w->place, &w->adoption, since + 1000, 1000));
	assert_revoked(&reader, 2);
	assert_int_equal(generations_count_files(&w->generations), 1);
	assert_false(generation_expire(w->place, &w->adoption, since + 2000, 1000));
	assert_false(generation_give_back(w->place, &w->adoption));
	free(was);
	read_no_more(&reader);
}

/* A replaced arena without readers is freed at once, without a revocation. */
TEST(a_replaced_arena_goes_with_its_last_reader)
{
	struct store_fixture *fx;
	struct reader reader;

	publish(w);
	reader = read_there(w, 1);
	fx = start_as(w, ADOPTION_ADOPTED);
	close(reader.fd); /* a mapping is enough */
	assert_false(generation_expire(w->place, &w->adoption, w->adoption.superseded_ns, UINT64_MAX));
	assert_int_equal(generations_count_files(&w->generations), 2);
	munmap(reader.header, reader.bytes);
	assert_false(generation_expire(w->place, &w->adoption, w->adoption.superseded_ns, UINT64_MAX));
	assert_int_equal(generations_count_files(&w->generations), 1);
	assert_int_equal(assert_one_whole_round(fx), 2);
}

/* If the newest arena is damaged, the replaced arena is not used, for it is older. */
TEST(a_replaced_arena_is_not_used_again)
{
	struct store_fixture *fx;
	struct reader reader;

	publish(w);
	reader = read_there(w, 1);
	fx = start_as(w, ADOPTION_ADOPTED);
	commit_round(fx, 4);
	damage_root(fx);
	stop(w);
	assert_set_aside(w, "damaged");
	assert_revoked(&reader, 3);
	read_no_more(&reader);
}
