/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While no writer lives, who asks for it reads what the last one left; and never a byte that somebody may
 * still write.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "reader-lib/informer.h"
#include "shm-layout/lock_note.h"
#include "tests/support/generations.h"
#include "tests/support/store_fixture.h"
#include "tests/support/temp_dir.h"
#include "writer/daemon/lock.h"

struct world {
	void *dir;
	char *socket, *lock_path;
	struct generations generations;
	struct lock lock;
	struct arena *arena;
	struct store_fixture *store;
};

/* A writer starts: takes the lock, adopts what is there, publishes, and says where. */
static void
writer_starts(struct world *w)
{
	struct intern *intern = NULL;
	char *error = NULL, path[512];

	assert_int_equal(lock_take(w->socket, &w->lock, &error), 0);
	w->arena = generations_next(&w->generations, &intern);
	w->store = store_fixture_over(w->arena, intern);
	snprintf(path, sizeof(path), "%s/%s", w->generations.path, w->arena->name);
	assert_int_equal(lock_note_arena(&w->lock, path, w->arena->header->incarnation), 0);
}

static void
put(struct world *w, const char *name)
{
	assert_true(store_fixture_putf(w->store,
				       "{\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\","
				       "\"resourceVersion\":\"1\"}}",
				       name) >= 0);
	assert_true(store_commit(w->store->store) >= 0);
}

/* It is gone, as by kill -9: nobody writes, the header still says that it lives. */
static void
writer_dies(struct world *w)
{
	lock_release(&w->lock);
	store_fixture_free(w->store);
	w->store = NULL;
	arena_close(w->arena);
	free(w->arena);
	w->arena = NULL;
}

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	assert_int_equal(temp_dir_setup(&w->dir), 0);
	w->socket = strdup(temp_path(w->dir, "s.sock"));
	w->lock_path = strdup(temp_path(w->dir, "s.sock.lock"));
	generations_begin(&w->generations);
	writer_starts(w);
	put(w, "a");
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	if (w->store)
		writer_dies(w);
	generations_end(&w->generations);
	free(w->socket);
	free(w->lock_path);
	temp_dir_teardown(&w->dir);
	free(w);
	return 0;
}

static struct informer *
attach(const struct world *w, uint32_t flags)
{
	struct informer_options options = {.size = sizeof(options), .flags = flags, .socket_path = w->socket};
	struct informer *inf;

	assert_int_equal(informer_attach(&options, &inf), 0);
	return inf;
}

/* What a lookup of default/NAME says, by a handle that is made for it when inf is NULL. */
static int
get(const struct world *w, struct informer *inf, const char *name)
{
	struct informer *own = inf ? NULL : attach(w, INFORMER_ORPHAN);
	struct informer_resource *pods;
	struct informer_snapshot snap;
	struct informer_object pod;
	int r = informer_resource_open(inf ? inf : own, "pods", &pods);

	if (r == 0)
		r = informer_begin(inf ? inf : own, &snap);
	if (r == 0) {
		r = informer_get_z(&snap, pods, "default", name, &pod);
		informer_end(&snap);
	}
	informer_detach(own);
	return r;
}

/* Who starts while no writer lives, and asks for it, reads its last commit; it is told how that is. */
static void
what_a_dead_writer_left_is_read(void **state)
{
	struct world *w = *state;
	struct informer_status status = {.size = sizeof(status)};
	struct informer *inf;

	writer_dies(w);
	inf = attach(w, INFORMER_ORPHAN);
	assert_int_equal(get(w, inf, "a"), 0);
	assert_int_equal(get(w, inf, "b"), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_wait_attached(inf, 0), 0);
	assert_int_equal(informer_status(inf, &status), 0);
	assert_true(status.attached);
	assert_false(status.connected);
	assert_true(status.stale);
	assert_non_null(strstr(status.reason, "is informerd running?"));
	informer_detach(inf);
}

/* Who does not ask for it waits for informerd, as ever; and one that verifies has no keys to do it with. */
static void
only_who_asks_for_it_reads_an_orphan(void **state)
{
	struct world *w = *state;
	struct informer *plain, *verifying;

	writer_dies(w);
	plain = attach(w, 0);
	verifying = attach(w, INFORMER_ORPHAN | INFORMER_VERIFY);
	assert_int_equal(get(w, plain, "a"), INFORMER_E_NOT_READY);
	assert_int_equal(get(w, verifying, "a"), INFORMER_E_NOT_READY);
	informer_detach(plain);
	informer_detach(verifying);
}

/*
 * While a writer lives its arena is never taken by name: it would reuse what we read. When it is gone, the
 * same handle takes it.
 */
static void
a_living_writers_arena_is_not_taken(void **state)
{
	struct world *w = *state;
	struct informer *inf = attach(w, INFORMER_ORPHAN);
	int r = INFORMER_E_NOT_READY;

	assert_int_equal(get(w, inf, "a"), INFORMER_E_NOT_READY);
	put(w, "b");
	writer_dies(w);
	for (int i = 0; i < 60000 && r == INFORMER_E_NOT_READY; i++) {
		usleep(1000);
		r = get(w, inf, "b");
	}
	assert_int_equal(r, 0);
	informer_detach(inf);
}

/*
 * The next writer adopts a copy, goes on there, and reuses nothing of what an open snapshot shows; its own
 * arena is not taken.
 */
static void
the_next_writer_leaves_an_orphans_blocks_alone(void **state)
{
	struct world *w = *state;
	struct informer_snapshot snap;
	struct informer_resource *pods;
	struct informer_object pod;
	struct informer *inf;

	writer_dies(w);
	inf = attach(w, INFORMER_ORPHAN);
	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_begin(inf, &snap), 0);
	writer_starts(w);
	for (int i = 0; i < 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "b%d", i % 10);
		put(w, name);
		assert_true(store_fixture_delete(w->store, "default", i == 0 ? "a" : name) >= 0);
		assert_true(store_commit(w->store->store) >= 0);
	}
	assert_int_equal(informer_get_z(&snap, pods, "default", "a", &pod), 0);
	assert_int_equal(informer_get_z(&snap, pods, "default", "b1", &pod), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_verify(&snap, NULL, NULL, NULL), 0);
	informer_end(&snap);
	assert_int_equal(get(w, NULL, "a"), INFORMER_E_NOT_READY);
	informer_detach(inf);
}

/*
 * The note says which file, and which writer's: another file under that name (of a daemon with another
 * socket, and so another lock, which may live) is not taken.
 */
static void
a_file_that_the_note_does_not_mean_is_not_taken(void **state)
{
	struct world *w = *state;
	struct lock_note note;
	int fd;

	writer_dies(w);
	assert_int_equal(get(w, NULL, "a"), 0);
	fd = open(w->lock_path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(lock_note_read(fd, &note), 0);
	note.incarnation[3] ^= 1;
	assert_int_equal(lock_note_write(fd, &note), 0);
	assert_int_equal(get(w, NULL, "a"), INFORMER_E_NOT_READY);
	note.incarnation[3] ^= 1;
	assert_int_equal(lock_note_write(fd, &note), 0);
	assert_int_equal(get(w, NULL, "a"), 0);
	close(fd);
}

/* A file that others may write or have a name for, a link to it, none at all: not taken. */
static void
a_file_in_other_hands_is_not_taken(void **state)
{
	struct world *w = *state;
	struct lock_note note;
	const char *link_path = temp_path(w->dir, "link");
	int fd;

	writer_dies(w);
	fd = open(w->lock_path, O_RDWR | O_CLOEXEC);
	assert_int_equal(lock_note_read(fd, &note), 0);
	assert_int_equal(chmod(note.arena, 0620), 0);
	assert_int_equal(get(w, NULL, "a"), INFORMER_E_NOT_READY);
	assert_int_equal(chmod(note.arena, 0600), 0);
	assert_int_equal(fchmod(fd, 0622), 0);
	assert_int_equal(get(w, NULL, "a"), INFORMER_E_NOT_READY);
	assert_int_equal(fchmod(fd, 0600), 0);
	assert_int_equal(get(w, NULL, "a"), 0);

	assert_int_equal(symlink(note.arena, link_path), 0);
	snprintf(note.arena, sizeof(note.arena), "%s", link_path);
	assert_int_equal(lock_note_write(fd, &note), 0);
	assert_int_equal(get(w, NULL, "a"), INFORMER_E_NOT_READY);
	snprintf(note.arena, sizeof(note.arena), "/nonexistent/arena");
	assert_int_equal(lock_note_write(fd, &note), 0);
	assert_int_equal(get(w, NULL, "a"), INFORMER_E_NOT_READY);
	close(fd);
}

/* What is no plain file is not even opened: for a device that may already be too much. */
static void
what_is_no_file_is_not_opened(void **state)
{
	struct world *w = *state;
	struct lock_note note;
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	const char *fifo = temp_path(w->dir, "fifo");
	int fd, watch;

	writer_dies(w);
	fd = open(w->lock_path, O_RDWR | O_CLOEXEC);
	assert_int_equal(lock_note_read(fd, &note), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	snprintf(note.arena, sizeof(note.arena), "%s", fifo);
	assert_int_equal(lock_note_write(fd, &note), 0);
	watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(inotify_add_watch(watch, fifo, IN_OPEN) >= 0);
	assert_int_equal(get(w, NULL, "a"), INFORMER_E_NOT_READY);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	close(watch);
	close(fd);
}

/* A lock file of whatever content is no crash, and nothing is read for it. */
static void
a_note_that_makes_no_sense_is_no_note(void **state)
{
	static const char *const texts[] = {
		"",
		"4711\n",
		"informer 1\n",
		"informer 1\n4711\n\n\n",
		"informer 1\n4711\nrelative\n00112233445566778899aabbccddeeff\n",
		"informer 1\n4711\n/dev/null\n0011\n",
		"informer 1\nx\n/dev/null\n00112233445566778899aabbccddeeff\n",
		"informer 1\n4711\n/dev/null\nzz112233445566778899aabbccddeeff\n",
		"informer 2\n4711\n/dev/null\n00112233445566778899aabbccddeeff\n",
	};
	struct world *w = *state;
	struct lock_note note;

	writer_dies(w);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		int fd = open(temp_file(w->dir, "s.sock.lock", texts[i]), O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		assert_int_equal(lock_note_read(fd, &note), -EBADMSG);
		assert_string_equal(note.arena, "");
		close(fd);
		assert_int_equal(get(w, NULL, "a"), INFORMER_E_NOT_READY);
	}
}

/* A writer that dies before it has an arena of its own leaves the note of the one before. */
static void
a_writer_that_dies_early_leaves_the_orphan_findable(void **state)
{
	struct world *w = *state;
	char *error = NULL;

	writer_dies(w);
	assert_int_equal(lock_take(w->socket, &w->lock, &error), 0);
	assert_int_equal(get(w, NULL, "a"), INFORMER_E_NOT_READY);
	lock_release(&w->lock);
	assert_int_equal(get(w, NULL, "a"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_dead_writer_left_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_who_asks_for_it_reads_an_orphan, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_living_writers_arena_is_not_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_next_writer_leaves_an_orphans_blocks_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_the_note_does_not_mean_is_not_taken, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_file_in_other_hands_is_not_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_file_is_not_opened, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_note_that_makes_no_sense_is_no_note, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_writer_that_dies_early_leaves_the_orphan_findable, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
