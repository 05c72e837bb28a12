/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations: a writer that comes back carries the old arena's content over; whatever was killed at whatever
 * moment leaves one whole version behind; damage is found and named.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm-layout/walk.h"
#include "tests/room.h"
#include "tests/support/store_fixture.h"
#include "writer/store/generation.h"

#define PODS 60

struct world {
	char path[64];
	struct arena_place place;
};

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_true(sodium_init() >= 0);
	strcpy(w->path, "/dev/shm/informer-adopt-test-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->place.directory = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	strcpy(w->place.prefix, "arena");
	w->place.max_bytes = 64u << 20;
	memset(w->place.master, 7, sizeof(w->place.master));
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;
	DIR *dir = fdopendir(w->place.directory);
	struct dirent *e;

	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
	rmdir(w->path);
	free(w);
	return 0;
}

static unsigned
count_files(struct world *w, char *last)
{
	DIR *dir = opendir(w->path);
	struct dirent *e;
	unsigned n = 0;

	while ((e = readdir(dir)))
		if (e->d_name[0] != '.') {
			n++;
			if (last)
				strcpy(last, e->d_name);
		}
	closedir(dir);
	return n;
}

/* Start as a writer does: adopt or make, go live. */
static struct store_fixture *
start_writer(struct world *w, struct adoption *adoption)
{
	struct intern *intern;
	struct arena *arena = calloc(1, sizeof(*arena));
	struct store_fixture *fx;
	int r = generation_adopt(&w->place, arena, &intern, adoption);

	if (r < 0) {
		fprintf(stderr, "adopt_arena: %d %s\n", r, adoption->message);
		free(arena);
		return NULL;
	}
	fx = store_fixture_over(arena, intern);
	fx->owns_arena = 1;
	generation_finish(&w->place, fx->arena, adoption);
	return fx;
}

/* One commit: every pod says the same round. Odd rounds delete a third of them. */
static int
commit_round(struct store_fixture *fx, unsigned long round)
{
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
		if (r < 0)
			return r;
	}
	char version[32];
	snprintf(version, sizeof(version), "%lu", round);
	store_set_version(fx->store, fx->pods, version, strlen(version));
	store_set_state(fx->store, fx->pods, RESOURCE_SYNCED);
	return store_commit(fx->store);
}

/* What the published root holds is just what some round committed; its RV says which. Returns the round. */
static unsigned long
assert_one_whole_round(struct store_fixture *fx)
{
	const struct resource *res = store_resource(fx->store, fx->pods);
	unsigned long round;
	char version[RESOURCE_VERSION_MAX + 1] = "", value[64];
	long pods;

	assert_int_equal(store_fixture_verify(fx), 0);
	memcpy(version, res->version, res->version_length);
	round = strtoul(version, NULL, 10);
	pods = round == 0 ? 0 : round % 2 ? PODS - PODS / 3 : PODS;
	assert_int_equal(res->object_count, pods);
	snprintf(value, sizeof(value), "round=%lu", round);
	assert_int_equal(store_fixture_count_by_index(fx, "labels", value), pods);
	assert_int_equal(store_fixture_count_by_index(fx, "labels", "fixed=yes"), pods);
	snprintf(value, sizeof(value), "node-%lu", round % 5);
	assert_int_equal(store_fixture_count_by_index(fx, "nodeName", value), pods);
	return round;
}

#define TEST(name) TEST_CASE_IN(setup, teardown, name)

/* A second writer finds everything that the first had published, and goes on from there. */
TEST(a_new_writer_carries_the_content_over)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);
	struct store_stats before, after;
	uint8_t lineage[16];
	char name[256];

	assert_int_equal(adoption.how, ADOPTION_NEW);
	for (unsigned long round = 1; round <= 20; round++)
		assert_int_equal(commit_round(fx, round), 0);
	store_stats(fx->store, &before);
	memcpy(lineage, root_at(&fx->arena->view, atomic_load(&fx->arena->header->root))->lineage, 16);
	store_fixture_free(fx);

	fx = start_writer(w, &adoption);
	assert_non_null(fx);
	assert_int_equal(adoption.how, ADOPTION_ADOPTED);
	assert_int_equal(adoption.generation, 2);
	assert_int_equal(assert_one_whole_round(fx), 20);
	store_stats(fx->store, &after);
	assert_int_equal(after.seq, before.seq);
	assert_true(after.epoch >= before.epoch);
	assert_memory_equal(lineage,
			    root_at(&fx->arena->view, atomic_load(&fx->arena->header->root))->lineage, 16);
	for (unsigned long round = 21; round <= 30; round++) {
		assert_int_equal(commit_round(fx, round), 0);
		assert_int_equal(assert_one_whole_round(fx), round);
	}
	store_fixture_free(fx);
	assert_int_equal(count_files(w, NULL), 2); /* for those who still read there */
	assert_true(generation_give_back(&w->place, &adoption));
	assert_int_equal(count_files(w, name), 1);
	assert_string_equal(name, "arena.2");
}

/* Books rebuilt by the walk are the books that were: the same bytes in use, the same shared blocks. */
TEST(rebuilt_books_say_what_the_old_ones_said)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);
	struct store_stats before;

	for (unsigned long round = 1; round <= 33; round++)
		assert_int_equal(commit_round(fx, round), 0);
	store_fixture_settle(fx);
	store_stats(fx->store, &before);
	store_fixture_renew_decoder(fx);
	store_fixture_free(fx);

	struct intern *intern;
	struct arena arena;
	struct arena_stats stats;

	assert_int_equal(generation_adopt(&w->place, &arena, &intern, &adoption), 0);
	arena_stats(&arena, &stats);
	assert_int_equal(stats.used_bytes, before.used_bytes);
	assert_int_equal(intern_count(intern), before.shared_blocks);
	generation_finish(&w->place, &arena, &adoption);
	generation_leave(&adoption);
	intern_free(intern);
	arena_close(&arena);
}

/*
 * A writer killed with -9 at any moment, adoption included, leaves one whole commit; 200 kills leave one
 * arena file; a reader of the last generation that was live never sees a torn version.
 */
TEST(kills_leave_one_whole_arena)
{
	struct world *w = *state;
	unsigned long last = 0, advanced = 0;
	uint64_t span_ns = 12000000;
	struct adoption adoption;
	char name[256];
	uint64_t random = test_seed(1);

	ONLY_IN_LONG(); /* how far a writer comes is luck; writer/cut cuts each store in turn */
	print_message("seed %" PRIu64 "\n", random);
	for (unsigned kill_number = 0; kill_number < 200; kill_number++) {
		struct timespec delay = {0, 0};
		int status;
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0) {
			struct store_fixture *fx = start_writer(w, &adoption);
			unsigned long round;

			if (!fx)
				_exit(3);
			round = 0;
			if (adoption.how == ADOPTION_ADOPTED) {
				const struct resource *res = store_resource(fx->store, fx->pods);
				char version[RESOURCE_VERSION_MAX + 1] = "";

				memcpy(version, res->version, res->version_length);
				round = strtoul(version, NULL, 10);
			}
			for (;;)
				if (commit_round(fx, ++round) < 0)
					_exit(4);
		}
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		delay.tv_nsec = (long)((random >> 33) % span_ns);
		nanosleep(&delay, NULL);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		if (kill_number % 10 == 9) {
			struct store_fixture *fx = start_writer(w, &adoption);
			unsigned long round;

			assert_non_null(fx);
			assert_true(adoption.how != ADOPTION_REBUILD);
			round = assert_one_whole_round(fx);
			assert_true(round >= last);
			/* a slow machine needs longer to get anywhere */
			if (round > last)
				advanced++;
			else if (span_ns < 500000000)
				span_ns *= 2;
			last = round;
			store_fixture_free(fx);
			generation_give_back(&w->place, &adoption);
			assert_int_equal(count_files(w, name), 1);
		}
	}
	print_message("%lu rounds committed\n", last);
	assert_true(advanced > 5);
}

static void
flip_bit(struct world *w, const char *name, off_t byte, unsigned bit)
{
	int fd = openat(w->place.directory, name, O_RDWR | O_CLOEXEC);
	uint8_t value;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &value, 1, byte), 1);
	value ^= (uint8_t)(1u << bit);
	assert_int_equal(pwrite(fd, &value, 1, byte), 1);
	close(fd);
}

struct reachable {
	uint32_t refs[20000];
	uint32_t lengths[20000];
	unsigned count;
	struct walk_seen seen;
};

static int
note_block(void *context, uint32_t ref, const struct block *b)
{
	struct reachable *all = context;

	if (!walk_seen_first(&all->seen, ref))
		return 0;
	assert_true(all->count < 20000);
	all->refs[all->count] = ref;
	all->lengths[all->count++] = tag_covered(b);
	return 1;
}

/*
 * Any bit flipped in the identity or in any block that the root reaches is found at adoption, and the message
 * says where. (The cells of shortcuts are hints, and are filled anew.)
 */
TEST(a_flipped_bit_is_found_and_named)
{
	struct world *w = *state;
	struct reachable *all = calloc(1, sizeof(*all));
	struct walk_visitor visitor = {note_block, all};
	uint64_t random = 99;

	for (unsigned n = 0; n < 200; n++) {
		struct adoption adoption;
		struct store_fixture *fx = start_writer(w, &adoption);
		struct walk_damage damage;
		char name[256];
		off_t byte;

		assert_non_null(fx);
		assert_int_equal(commit_round(fx, 2), 0);
		all->count = 0;
		assert_int_equal(walk_seen_init(&all->seen, fx->arena->view.committed), 0);
		assert_int_equal(
			walk_root(&fx->arena->view, atomic_load(&fx->arena->header->root), &visitor, &damage),
			0);
		walk_seen_done(&all->seen);
		snprintf(name, sizeof(name), "arena.%" PRIu64, adoption.generation);
		store_fixture_free(fx);

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		byte = (off_t)((random >> 33) % 256);
		if (n >= 40) {
			unsigned i = (unsigned)(random >> 40) % all->count;

			byte = (off_t)(ref_offset(all->refs[i]) + (random >> 10) % (16 + all->lengths[i]));
		}
		flip_bit(w, name, byte, (unsigned)(random >> 20) % 8);
		fx = start_writer(w, &adoption);
		assert_non_null(fx);
		if (adoption.how != ADOPTION_REBUILD)
			print_message("bit at byte %lld was not found\n", (long long)byte);
		assert_int_equal(adoption.how, ADOPTION_REBUILD);
		assert_int_equal(store_resource(fx->store, fx->pods)->object_count, 0);
		assert_non_null(strstr(adoption.message, "set aside"));
		store_fixture_free(fx);
	}
	free(all);
}

/* What a writer left under this name, its header mapped for writing. */
static struct header *
map_header(struct world *w, const char *name)
{
	int fd = openat(w->place.directory, name, O_RDWR | O_CLOEXEC);
	struct header *h = mmap(NULL, HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(h != MAP_FAILED);
	close(fd);
	return h;
}

/* The writer starts anew, and says that; what was there is set aside, and can be looked at. */
static void
assert_set_aside(struct world *w, const char *why)
{
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);

	assert_non_null(fx);
	assert_int_equal(adoption.how, ADOPTION_REBUILD);
	assert_non_null(strstr(adoption.message, why));
	assert_non_null(strstr(adoption.message, "set aside as arena.bad"));
	assert_int_equal(faccessat(w->place.directory, "arena.bad", F_OK, 0), 0);
	assert_int_equal(store_resource(fx->store, fx->pods)->object_count, 0);
	store_fixture_free(fx);
}

/* A root of before, whole as it may still stand there, is not gone back to: the header says how new the
 * newest is. */
TEST(an_older_root_is_not_gone_back_to)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);
	struct header *h;
	uint64_t older;

	assert_int_equal(store_fixture_put(fx, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\"}}"), 0);
	assert_int_equal(store_commit(fx->store), 0);
	older = atomic_load(&fx->arena->header->root);
	assert_int_equal(store_fixture_put(fx, "{\"metadata\":{\"name\":\"b\",\"namespace\":\"ns\"}}"), 0);
	assert_int_equal(store_commit(fx->store), 0);
	store_fixture_free(fx);
	h = map_header(w, "arena.1");
	atomic_store(&h->root, older);
	munmap(h, HEADER_BYTES);
	assert_set_aside(w, "is not the newest");
}

/* A writer killed between the two words of the header leaves its newest root; the next one says its epoch. */
TEST(a_root_whose_epoch_is_not_told_yet_is_adopted)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);
	struct header *h;

	assert_int_equal(commit_round(fx, 2), 0);
	store_fixture_free(fx);
	h = map_header(w, "arena.1");
	atomic_fetch_sub(&h->epoch, 1);
	munmap(h, HEADER_BYTES);
	fx = start_writer(w, &adoption);
	assert_int_equal(adoption.how, ADOPTION_ADOPTED);
	assert_int_equal(assert_one_whole_round(fx), 2);
	assert_int_equal(atomic_load(&fx->arena->header->epoch),
			 root_at(&fx->arena->view, atomic_load(&fx->arena->header->root))->epoch);
	store_fixture_free(fx);
}

/* A state word that says "unfinished" of a file that was published is damage; it is not cleared away. */
TEST(an_arena_that_says_unfinished_is_set_aside)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);
	struct header *h;

	assert_int_equal(commit_round(fx, 2), 0);
	store_fixture_free(fx);
	h = map_header(w, "arena.1");
	atomic_store(&h->state, HEADER_INCOMPLETE);
	munmap(h, HEADER_BYTES);
	assert_set_aside(w, "unfinished");
}

/*
 * A symbolic link or a stranger's file under the next name is not followed and not used; the writer starts
 * beside it.
 */
TEST(a_symlink_in_the_arenas_place_is_not_followed)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx;
	struct stat st;
	char victim[128];
	int fd;

	snprintf(victim, sizeof(victim), "%s/victim", w->path);
	fd = open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "precious", 8), 8);
	close(fd);
	assert_int_equal(symlinkat(victim, w->place.directory, "arena.7"), 0);
	fx = start_writer(w, &adoption);
	assert_non_null(fx);
	assert_int_equal(adoption.how, ADOPTION_REBUILD);
	assert_non_null(strstr(adoption.message, "symbolic link"));
	assert_int_equal(commit_round(fx, 1), 0);
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 8);
	store_fixture_free(fx);
}

/* Another key file: the old content cannot be trusted, and the message says why. */
TEST(another_key_file_means_a_new_arena)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);

	assert_int_equal(commit_round(fx, 2), 0);
	store_fixture_free(fx);
	w->place.master[0] ^= 1;
	fx = start_writer(w, &adoption);
	assert_int_equal(adoption.how, ADOPTION_REBUILD);
	assert_non_null(strstr(adoption.message, "another key file"));
	store_fixture_free(fx);
}

/*
 * Readers of the old generation are told: its header names the one that replaced it, and what they have
 * mapped stays as it was.
 */
TEST(the_old_generation_says_which_one_replaced_it)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);
	struct header *h;
	int fd;

	assert_int_equal(commit_round(fx, 2), 0);
	fd = openat(w->place.directory, "arena.1", O_RDONLY | O_CLOEXEC);
	h = mmap(NULL, fx->arena->view.committed, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(h != MAP_FAILED);
	uint64_t bytes = fx->arena->view.committed, root = atomic_load(&h->root);
	uint8_t *copy = malloc(bytes);
	memcpy(copy, h, bytes);
	store_fixture_free(fx);
	assert_int_equal(atomic_load(&h->superseded_by), 0);
	fx = start_writer(w, &adoption);
	assert_int_equal(atomic_load(&h->superseded_by), 2);
	assert_int_equal(commit_round(fx, 3), 0);
	assert_int_equal(atomic_load(&h->root), root);
	assert_memory_equal(copy + HEADER_BYTES, (uint8_t *)h + HEADER_BYTES, bytes - HEADER_BYTES);
	free(copy);
	munmap(h, bytes);
	close(fd);
	store_fixture_free(fx);
}

/* A file of another user, empty and with the name of our next arenas. */
static void
strangers_file(struct world *w, const char *name)
{
	int fd = openat(w->place.directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, 65534, 65534), 0);
	close(fd);
}

/*
 * In a directory that is everybody's, files of others under the arena's name, many, with high numbers, with
 * the next one, keep nobody from starting, nor from finding the own arena; they are counted and left alone.
 */
TEST(files_of_strangers_are_passed_over)
{
	struct world *w = *state;
	struct adoption adoption;
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
	fx = start_writer(w, &adoption);
	assert_non_null(fx);
	assert_int_equal(adoption.how, ADOPTION_NEW);
	assert_int_equal(adoption.strangers, 82);
	assert_true(adoption.generation > 1 && adoption.generation < 100);
	assert_int_equal(commit_round(fx, 2), 0);
	store_fixture_free(fx);

	snprintf(name, sizeof(name), "arena.%" PRIu64, adoption.generation + 1);
	strangers_file(w, name);
	fx = start_writer(w, &adoption);
	assert_non_null(fx);
	assert_int_equal(adoption.how, ADOPTION_ADOPTED);
	assert_int_equal(assert_one_whole_round(fx), 2);
	store_fixture_free(fx);
	assert_true(generation_give_back(&w->place, &adoption));
	assert_int_equal(count_files(w, NULL), 83 + 1);
}

/* A tmpfs of SIZE, mounted in the world's directory; false: there is no right to. */
static bool
mount_small(struct world *w, char path[96], const char *options)
{
	snprintf(path, 96, "%s/.small", w->path);
	assert_int_equal(mkdir(path, 0700), 0);
	if (mount("tmpfs", path, "tmpfs", 0, options) < 0) {
		rmdir(path);
		print_message("SKIP: needs the right to mount a small tmpfs\n");
		return false;
	}
	close(w->place.directory);
	w->place.directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return true;
}

static void
unmount_small(struct world *w, const char *path)
{
	close(w->place.directory);
	w->place.directory = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(umount(path), 0);
	rmdir(path);
}

/*
 * A writer killed after its file got its size and before it got its pages leaves a hole. On a tmpfs that is
 * full by now a touch of it would be a SIGBUS; it is cleared away instead, and what others say is an error.
 */
TEST(a_hole_in_a_full_tmpfs_is_cleared_away)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx;
	char small[96];
	int fd;

	if (!mount_small(w, small, "size=1500k"))
		skip();
	fd = openat(w->place.directory, "arena.7", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	close(fd);
	fd = openat(w->place.directory, "ballast", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (off_t at = 0; fallocate(fd, 0, at, 4096) == 0;)
		at += 4096;
	assert_int_equal(errno, ENOSPC);
	assert_null(start_writer(w, &adoption));
	assert_non_null(strstr(adoption.message, "tmpfs full"));
	assert_int_equal(faccessat(w->place.directory, "arena.7", F_OK, 0), -1);
	assert_int_equal(ftruncate(fd, 0), 0);
	close(fd);
	fx = start_writer(w, &adoption);
	assert_non_null(fx);
	assert_int_equal(adoption.how, ADOPTION_NEW);
	assert_int_equal(commit_round(fx, 1), 0);
	store_fixture_free(fx);
	unmount_small(w, small);
}

/* A generation as one who reads there has it: open and mapped. */
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
	r.fd = openat(w->place.directory, name, O_RDONLY | O_CLOEXEC);
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

/* Until the tmpfs is full: that is an error, not a signal. */
static void
fill_up(struct store_fixture *fx)
{
	int r = 0;

	for (unsigned i = 0; i < 4000 && r == 0; i++) {
		r = store_fixture_putf(
			fx, "{\"metadata\":{\"name\":\"big-%u\",\"namespace\":\"ns\"},\"x\":\"%0400u\"}", i,
			i);
		if (r >= 0)
			r = store_commit(fx->store);
	}
	assert_int_equal(r, -ENOSPC);
}

/* Where two generations do not fit, the old one is moved, with all that is in it; who reads there is told. */
TEST(where_two_do_not_fit_the_old_one_is_moved)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx;
	struct store_stats before, after;
	struct reader reader;
	uint64_t objects;
	char small[96];

	if (!mount_small(w, small, "size=1500k"))
		skip();
	fx = start_writer(w, &adoption);
	assert_non_null(fx);
	fill_up(fx);
	objects = store_resource(fx->store, fx->pods)->object_count;
	assert_true(objects > 100);
	store_stats(fx->store, &before);
	store_fixture_free(fx);

	reader = read_there(w, 1);
	for (uint64_t generation = 2; generation < 5; generation++) {
		fx = start_writer(w, &adoption);
		assert_non_null(fx);
		assert_int_equal(adoption.how, ADOPTION_ADOPTED);
		assert_true(adoption.moved);
		assert_int_equal(adoption.generation, generation);
		assert_int_equal(count_files(w, NULL), 0); /* all of it stands below .small */
		assert_int_equal(store_resource(fx->store, fx->pods)->object_count, objects);
		assert_int_equal(store_fixture_verify(fx), 0);
		store_stats(fx->store, &after);
		assert_int_equal(after.seq, before.seq);
		store_fixture_free(fx);
	}
	assert_revoked(&reader, 2);
	read_no_more(&reader);
	unmount_small(w, small);
}

/* A damaged arena that fills the tmpfs, and that somebody reads, stands in no start's way. */
TEST(what_is_damaged_gives_its_memory_back)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx;
	struct reader reader;
	char small[96];
	uint32_t ref;

	if (!mount_small(w, small, "size=1500k"))
		skip();
	fx = start_writer(w, &adoption);
	assert_non_null(fx);
	fill_up(fx);
	ref = store_fixture_find(fx, "ns", "big-3");
	assert_true(ref > 0);
	store_fixture_free(fx);
	reader = read_there(w, 1);
	flip_bit(w, "arena.1", (off_t)ref_offset(ref) + (off_t)sizeof(struct block) + 40, 3);
	fx = start_writer(w, &adoption);
	assert_non_null(fx);
	assert_int_equal(adoption.how, ADOPTION_REBUILD);
	assert_non_null(strstr(adoption.message, "is damaged"));
	assert_revoked(&reader, adoption.generation);
	store_fixture_free(fx);
	read_no_more(&reader);
	unmount_small(w, small);
}

/*
 * Without room for even a page the old arena stays as it is, and its readers with it; the start that comes
 * when there is some has everything.
 */
TEST(a_start_without_any_room_changes_nothing)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx;
	struct reader reader;
	char small[96];
	int fd;

	if (!mount_small(w, small, "size=4m"))
		skip();
	fx = start_writer(w, &adoption);
	assert_non_null(fx);
	assert_int_equal(commit_round(fx, 2), 0);
	store_fixture_free(fx);
	fd = openat(w->place.directory, "ballast", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (off_t at = 0; fallocate(fd, 0, at, 4096) == 0;)
		at += 4096;
	reader = read_there(w, 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_null(start_writer(w, &adoption));
		assert_non_null(strstr(adoption.message, "do not fit"));
		assert_int_equal(atomic_load(&reader.header->state), HEADER_LIVE);
		assert_int_equal(atomic_load(&reader.header->superseded_by), 0);
	}
	assert_int_equal(ftruncate(fd, 0), 0);
	close(fd);
	read_no_more(&reader);
	fx = start_writer(w, &adoption);
	assert_non_null(fx);
	assert_int_equal(adoption.how, ADOPTION_ADOPTED);
	assert_int_equal(assert_one_whole_round(fx), 2);
	store_fixture_free(fx);
	generation_leave(&adoption);
	unmount_small(w, small);
}

/* What was replaced stays, whole, for those who read there; when patience is over it is revoked, and goes. */
TEST(what_was_replaced_lives_as_long_as_patience)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);
	struct reader reader;
	uint64_t since;
	uint8_t *was;

	assert_int_equal(commit_round(fx, 2), 0);
	store_fixture_free(fx);
	reader = read_there(w, 1);
	was = malloc(reader.bytes);
	memcpy(was, reader.header, reader.bytes);
	fx = start_writer(w, &adoption);
	since = adoption.superseded_ns;
	assert_false(generation_expire(&w->place, &adoption, since, 1000));
	assert_false(generation_expire(&w->place, &adoption, since + 999, 1000));
	assert_int_equal(count_files(w, NULL), 2);
	assert_int_equal(atomic_load(&reader.header->superseded_by), 2);
	assert_memory_equal(was + HEADER_BYTES, (uint8_t *)reader.header + HEADER_BYTES,
			    reader.bytes - HEADER_BYTES);
	assert_true(generation_expire(&w->place, &adoption, since + 1000, 1000));
	assert_revoked(&reader, 2);
	assert_int_equal(count_files(w, NULL), 1);
	assert_false(generation_expire(&w->place, &adoption, since + 2000, 1000));
	assert_false(generation_give_back(&w->place, &adoption));
	free(was);
	read_no_more(&reader);
	store_fixture_free(fx);
}

/* Nobody reads there any more: it goes at once, and is not revoked for it. */
TEST(what_was_replaced_goes_with_its_last_reader)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);
	struct reader reader;

	assert_int_equal(commit_round(fx, 2), 0);
	store_fixture_free(fx);
	reader = read_there(w, 1);
	fx = start_writer(w, &adoption);
	close(reader.fd); /* a mapping is enough */
	assert_false(generation_expire(&w->place, &adoption, adoption.superseded_ns, UINT64_MAX));
	assert_int_equal(count_files(w, NULL), 2);
	munmap(reader.header, reader.bytes);
	assert_false(generation_expire(&w->place, &adoption, adoption.superseded_ns, UINT64_MAX));
	assert_int_equal(count_files(w, NULL), 1);
	assert_int_equal(assert_one_whole_round(fx), 2);
	store_fixture_free(fx);
}

/* However often a writer starts, and whoever reads in each generation: one that was replaced has memory at
 * most. */
TEST(one_generation_that_was_replaced_is_alive_at_most)
{
	enum { STARTS = 14 };
	struct world *w = *state;
	struct reader readers[STARTS];
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);

	assert_int_equal(commit_round(fx, 2), 0);
	for (unsigned i = 0; i < STARTS; i++) {
		store_fixture_free(fx);
		readers[i] = read_there(w, i + 1);
		generation_leave(&adoption);
		fx = start_writer(w, &adoption);
		assert_non_null(fx);
		assert_int_equal(adoption.how, ADOPTION_ADOPTED);
		assert_int_equal(assert_one_whole_round(fx), 2);
		assert_int_equal(count_files(w, NULL), 2);
		for (unsigned older = 0; older < i; older++)
			assert_revoked(&readers[older], older + 2);
	}
	generation_leave(&adoption);
	store_fixture_free(fx);
	for (unsigned i = 0; i < STARTS; i++)
		read_no_more(&readers[i]);
}

/*
 * The one that replaced an arena is gone, or damaged: what it replaced is older, and is not gone back to.
 */
TEST(what_was_replaced_is_not_gone_back_to)
{
	struct world *w = *state;
	struct adoption adoption;
	struct store_fixture *fx = start_writer(w, &adoption);
	struct reader reader;

	assert_int_equal(commit_round(fx, 2), 0);
	store_fixture_free(fx);
	reader = read_there(w, 1);
	fx = start_writer(w, &adoption);
	assert_int_equal(commit_round(fx, 4), 0);
	flip_bit(w, "arena.2", (off_t)atomic_load(&fx->arena->header->root) + 60, 3);
	generation_leave(&adoption);
	store_fixture_free(fx);
	assert_set_aside(w, "damaged");
	assert_revoked(&reader, 2);
	read_no_more(&reader);
	assert_int_equal(unlinkat(w->place.directory, "arena.bad", 0), 0);

	fx = start_writer(w, &adoption);
	assert_int_equal(commit_round(fx, 2), 0);
	generation_leave(&adoption);
	store_fixture_free(fx);
	struct header *h = map_header(w, "arena.4");

	atomic_store(&h->superseded_by, 5);
	munmap(h, HEADER_BYTES);
	assert_set_aside(w, "replaced");
}
