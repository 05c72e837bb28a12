/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While no writer lives, a reader that asks for it reads the last writer's arena, and never an arena that a
 * writer may still write.
 */
#include <limits.h>
#include <sys/inotify.h>

#include "reader-lib/informer.h"
#include "shm-layout/lock_note.h"
#include "shm-layout/root.h"
#include "tests/room.h"
#include "tests/support/dispatch.h"
#include "tests/support/left_world.h"
#include "tests/support/temp_dir.h"

#define TEST(name) TEST_CASE_OF(struct left_world *w, left_world_set_up, left_world_tear_down, name)

/* A reader that asks for it reads the dead writer's last commit, and the status says so. */
TEST(a_dead_writers_arena_is_read)
{
	struct informer_status status = {.size = sizeof(status)};
	struct informer *inf;

	left_world_die(w);
	inf = left_world_attach(w, INFORMER_ORPHAN);
	assert_int_equal(left_world_get(w, inf, "a"), 0);
	assert_int_equal(left_world_get(w, inf, "b"), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_wait_attached(inf, 0), 0);
	assert_int_equal(informer_status(inf, &status), 0);
	assert_true(status.attached);
	assert_false(status.connected);
	assert_true(status.stale);
	assert_non_null(strstr(status.reason, "is informerd running?"));
	informer_detach(inf);
}

/* A reader without INFORMER_ORPHAN waits for informerd. */
TEST(only_a_reader_with_the_flag_reads_an_orphan)
{
	struct informer_status status = {.size = sizeof(status)};
	struct informer *plain;

	left_world_die(w);
	plain = left_world_attach(w, 0);
	assert_int_equal(left_world_get(w, plain, "a"), INFORMER_E_NOT_READY);
	assert_int_equal(informer_status(plain, &status), 0);
	assert_int_equal(status.failure, -ENOENT);
	informer_detach(plain);
}

/* What a verifying reader of an orphan says: NOT_READY with this reason, or the verification's result. */
static int
verify(const struct left_world *w, const char *reason)
{
	struct informer *inf = left_world_attach(w, INFORMER_ORPHAN | INFORMER_VERIFY);
	struct informer_status status = {.size = sizeof(status)};
	struct informer_verify_counts counts = {0};
	struct informer_snapshot snap;
	int r = informer_begin(inf, &snap);

	assert_int_equal(informer_status(inf, &status), 0);
	if (r == 0) {
		r = informer_verify(&snap, NULL, NULL, &counts);
		assert_true(counts.tags > 0);
		informer_end(&snap);
	} else if (!strstr(status.reason, reason)) {
		fail_msg("'%s' does not say '%s'", status.reason, reason);
	}
	informer_detach(inf);
	return r;
}

/* The lock file, and its note. */
static int
open_note(const struct left_world *w, struct lock_note *ret)
{
	int fd = open(w->lock_path, O_RDWR | O_CLOEXEC);

	assert_int_equal(lock_note_read(fd, ret), 0);
	return fd;
}

static int
open_arena(const struct left_world *w)
{
	struct lock_note note;

	close(open_note(w, &note));
	return open(note.arena, O_RDWR | O_CLOEXEC);
}

/* Flip one bit of the orphan. */
static void
damage(const struct left_world *w, uint64_t offset)
{
	int arena = open_arena(w);
	uint8_t byte;

	assert_int_equal(pread(arena, &byte, 1, (off_t)offset), 1);
	byte ^= 1;
	assert_int_equal(pwrite(arena, &byte, 1, (off_t)offset), 1);
	close(arena);
}

/* Attach to an orphan of this layout; it must be refused with this text, or be read (NULL). */
static void
assert_layout(const struct left_world *w, uint16_t major, uint16_t minor, const char *refused)
{
	struct informer_status status = {.size = sizeof(status)};
	const uint16_t layout[] = {major, minor};
	struct informer *inf;
	int arena = open_arena(w);

	assert_int_equal(pwrite(arena, layout, sizeof(layout), offsetof(struct header, layout_major)),
			 sizeof(layout));
	close(arena);
	inf = left_world_attach(w, INFORMER_ORPHAN);
	assert_int_equal(left_world_get(w, inf, "a"), refused ? INFORMER_E_NOT_READY : 0);
	assert_int_equal(informer_status(inf, &status), 0);
	if (refused) {
		assert_int_equal(status.failure, INFORMER_E_LAYOUT);
		assert_non_null(strstr(status.reason, refused));
	}
	informer_detach(inf);
}

/* An orphan of another layout is refused by informerd's rule, with informerd's sentence. */
TEST(an_orphan_of_another_layout_is_refused)
{
	left_world_die(w);
	assert_layout(w, LAYOUT_MAJOR, LAYOUT_MINOR + 1,
		      "it has layout 1.1, this program knows 1.0: upgrade the program");
	assert_layout(w, LAYOUT_MAJOR + 1, 0,
		      "it has layout 2.0, this program knows 1.0: upgrade the program");
	assert_layout(w, LAYOUT_MAJOR - 1, 9, "it has layout 0.9, this program knows 1.0: upgrade informerd");
	assert_layout(w, LAYOUT_MAJOR, LAYOUT_MINOR, NULL);
}

/* Change the root as a process with the keys of blocks can; every verifying reader has them. */
static void
forge_root(struct left_world *w, uint64_t offset)
{
	struct block *b = (struct block *)(uintptr_t)(w->arena->view.base + offset);
	struct root *root = (struct root *)(void *)b->payload;

	root->seq++;
	b->tag = tag_block(&w->arena->keys, offset, b,
			   tag_content_hash(&w->arena->keys, b->payload, tag_covered(b)));
}

/* The key file gives a verifying reader the keys to check every block, the root and the header. */
TEST(an_orphan_is_verified_with_the_key_file)
{
	uint64_t root = atomic_load(&w->arena->header->root);
	uint32_t resource = ((const struct root *)(const void *)(w->arena->view.base + root +
								 sizeof(struct block)))
				    ->resources[0];
	const uint64_t places[] = {offsetof(struct header, created_wall_ns),
				   root + sizeof(struct block) + offsetof(struct root, seq),
				   ref_offset(resource) + sizeof(struct block) + 16};
	static const char *const reasons[] = {"the tag of its header", "the tag of its root", ""};

	left_world_release(w);
	left_world_key(w, 7, 32, 0600);
	assert_int_equal(verify(w, ""), 0);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		damage(w, places[i]);
		assert_int_equal(verify(w, reasons[i]), i < 2 ? INFORMER_E_NOT_READY : INFORMER_E_CORRUPT);
		damage(w, places[i]);
	}
	assert_int_equal(verify(w, ""), 0);
	forge_root(w, root);
	assert_int_equal(verify(w, "the tag of its root"), INFORMER_E_NOT_READY);
}

/* A key file that others can write, or that is no key, is refused with the reason, and nothing is read. */
TEST(an_unsafe_key_file_is_refused)
{
	const char *elsewhere = temp_path(w->dir, "elsewhere");

	left_world_die(w);
	assert_int_equal(verify(w, "s.sock.key: No such file"), INFORMER_E_NOT_READY);
	left_world_key(w, 7, 31, 0600);
	assert_int_equal(verify(w, "not 32 bytes long"), INFORMER_E_NOT_READY);
	left_world_key(w, 7, 33, 0600);
	assert_int_equal(verify(w, "not 32 bytes long"), INFORMER_E_NOT_READY);
	left_world_key(w, 7, 32, 0640);
	assert_int_equal(verify(w, "others may read it"), INFORMER_E_NOT_READY);
	left_world_key(w, 8, 32, 0600);
	assert_int_equal(verify(w, "made with another key file"), INFORMER_E_NOT_READY);
	left_world_key(w, 7, 32, 0600);
	assert_int_equal(rename(w->key_path, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, w->key_path), 0);
	assert_int_equal(verify(w, "it is a symbolic link"), INFORMER_E_NOT_READY);
	assert_int_equal(unlink(w->key_path), 0);
	assert_int_equal(mkfifo(w->key_path, 0600), 0);
	assert_int_equal(verify(w, "not a regular file"), INFORMER_E_NOT_READY);
	if (geteuid() == 0) {
		assert_int_equal(unlink(w->key_path), 0);
		left_world_key(w, 7, 32, 0600);
		assert_int_equal(chown(w->key_path, 65534, 65534), 0);
		assert_int_equal(verify(w, "belongs to user 65534"), INFORMER_E_NOT_READY);
	}
}

/* Readers do not take a living writer's arena. After the writer's end the same handle reads it. */
TEST(a_living_writers_arena_is_not_taken)
{
	struct informer *inf = left_world_attach(w, INFORMER_ORPHAN);
	int r;

	assert_int_equal(left_world_get(w, inf, "a"), INFORMER_E_NOT_READY);
	left_world_put(w, "b");
	left_world_die(w);
	AWAIT((r = left_world_get(w, inf, "b")) != INFORMER_E_NOT_READY);
	assert_int_equal(r, 0);
	informer_detach(inf);
}

/* The status for a reader of another user, who may not open the lock file. */
static int
failure_for_nobody(const struct left_world *w)
{
	pid_t child = fork();
	int code;

	if (child == 0) {
		struct informer_options options = {.size = sizeof(options), .socket_path = w->socket};
		struct informer_status status = {.size = sizeof(status)};
		struct informer *inf;

		if (setgid(65534) < 0 || setuid(65534) < 0 || informer_attach(&options, &inf) < 0)
			_exit(9);
		informer_status(inf, &status);
		_exit(status.failure == INFORMER_E_NOT_READY ? 1 : status.failure == -ENOENT ? 2 : 3);
	}
	assert_int_equal(waitpid(child, &code, 0), child);
	assert_true(WIFEXITED(code));
	return WEXITSTATUS(code);
}

/* Another user's reader, too, tells a starting writer from none. */
TEST(another_user_sees_whether_a_writer_is_there)
{
	int r;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(w->dir, 0755), 0);
	r = failure_for_nobody(w);
	if (r == 9)
		skip();
	assert_int_equal(r, 1);
	left_world_die(w);
	assert_int_equal(failure_for_nobody(w), 2);
}

/* The next writer continues in a copy and reuses no block of the orphan; its own arena is not taken. */
TEST(the_next_writer_leaves_an_orphans_blocks_alone)
{
	struct informer_snapshot snap;
	struct informer_resource *pods;
	struct informer_object pod;
	struct informer *inf;

	left_world_die(w);
	inf = left_world_attach(w, INFORMER_ORPHAN);
	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_begin(inf, &snap), 0);
	left_world_start(w);
	for (int i = 0; i < 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "b%d", i % 10);
		left_world_put(w, name);
		assert_true(store_fixture_delete(w->store, "default", i == 0 ? "a" : name) >= 0);
		assert_true(store_commit(w->store->store) >= 0);
	}
	assert_int_equal(informer_get_z(&snap, pods, "default", "a", &pod), 0);
	assert_int_equal(informer_get_z(&snap, pods, "default", "b1", &pod), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_verify(&snap, NULL, NULL, NULL), 0);
	informer_end(&snap);
	assert_int_equal(left_world_get(w, NULL, "a"), INFORMER_E_NOT_READY);
	informer_detach(inf);
}

/* A file that is not the noted arena is not taken; it may belong to a living daemon with another lock. */
TEST(a_file_other_than_the_noted_one_is_not_taken)
{
	struct lock_note note;
	int fd;

	left_world_die(w);
	assert_int_equal(left_world_get(w, NULL, "a"), 0);
	fd = open_note(w, &note);
	note.incarnation[3] ^= 1;
	assert_int_equal(lock_note_write(fd, &note), 0);
	assert_int_equal(left_world_get(w, NULL, "a"), INFORMER_E_NOT_READY);
	note.incarnation[3] ^= 1;
	assert_int_equal(lock_note_write(fd, &note), 0);
	assert_int_equal(left_world_get(w, NULL, "a"), 0);
	close(fd);
}

/* A file that others may write, a link to it, or no file at all is not taken. */
TEST(an_unsafe_file_is_not_taken)
{
	struct lock_note note;
	const char *link_path = temp_path(w->dir, "link");
	int fd;

	left_world_die(w);
	fd = open_note(w, &note);
	assert_int_equal(chmod(note.arena, 0620), 0);
	assert_int_equal(left_world_get(w, NULL, "a"), INFORMER_E_NOT_READY);
	assert_int_equal(chmod(note.arena, 0600), 0);
	assert_int_equal(fchmod(fd, 0622), 0);
	assert_int_equal(left_world_get(w, NULL, "a"), INFORMER_E_NOT_READY);
	assert_int_equal(fchmod(fd, 0600), 0);
	assert_int_equal(left_world_get(w, NULL, "a"), 0);

	assert_int_equal(symlink(note.arena, link_path), 0);
	snprintf(note.arena, sizeof(note.arena), "%s", link_path);
	assert_int_equal(lock_note_write(fd, &note), 0);
	assert_int_equal(left_world_get(w, NULL, "a"), INFORMER_E_NOT_READY);
	snprintf(note.arena, sizeof(note.arena), "/nonexistent/arena");
	assert_int_equal(lock_note_write(fd, &note), 0);
	assert_int_equal(left_world_get(w, NULL, "a"), INFORMER_E_NOT_READY);
	close(fd);
}

/* A device or FIFO is not even opened: opening may have an effect. */
TEST(only_a_regular_file_is_opened)
{
	struct lock_note note;
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	const char *fifo = temp_path(w->dir, "fifo");
	int fd, watch;

	left_world_die(w);
	fd = open_note(w, &note);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	snprintf(note.arena, sizeof(note.arena), "%s", fifo);
	assert_int_equal(lock_note_write(fd, &note), 0);
	watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(inotify_add_watch(watch, fifo, IN_OPEN) >= 0);
	assert_int_equal(left_world_get(w, NULL, "a"), INFORMER_E_NOT_READY);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	close(watch);
	close(fd);
}

/* An invalid lock file causes no crash, and nothing is read. */
TEST(an_invalid_note_is_ignored)
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
	struct lock_note note;

	left_world_die(w);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		int fd = open(temp_file(w->dir, "s.sock.lock", texts[i]), O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		assert_int_equal(lock_note_read(fd, &note), -EBADMSG);
		assert_string_equal(note.arena, "");
		close(fd);
		assert_int_equal(left_world_get(w, NULL, "a"), INFORMER_E_NOT_READY);
	}
}

/* The note was written over a longer one, and its writer was killed before it cut off the rest. */
TEST(bytes_behind_a_note_are_ignored)
{
	int fd;

	left_world_die(w);
	fd = open(w->lock_path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, "899aabbccddeeff\n", 16), 16);
	close(fd);
	assert_int_equal(left_world_get(w, NULL, "a"), 0);
}

/* A writer that dies before it has an arena leaves the note of the previous one. */
TEST(a_writer_that_dies_early_leaves_the_orphan_findable)
{
	char *error = NULL;

	left_world_die(w);
	assert_int_equal(lock_take(w->socket, &w->lock, &error), 0);
	assert_int_equal(left_world_get(w, NULL, "a"), INFORMER_E_NOT_READY);
	lock_release(&w->lock);
	assert_int_equal(left_world_get(w, NULL, "a"), 0);
}

/* A superseded arena is read if its successor is not noted; a revoked arena is not. */
TEST(a_superseded_orphan_is_read_until_it_is_revoked)
{
	struct header *h = w->arena->header;

	atomic_store(&h->superseded_by, 2);
	left_world_release(w);
	assert_int_equal(left_world_get(w, NULL, "a"), 0);
	atomic_store(&h->state, HEADER_REVOKED);
	assert_int_equal(left_world_get(w, NULL, "a"), INFORMER_E_NOT_READY);
}

/* The status of a waiting reader names a starting writer by its pid, and says when no writer is there. */
TEST(the_status_tells_a_starting_writer_from_none)
{
	struct informer_status status = {.size = sizeof(status)};
	struct informer *inf = left_world_attach(w, 0);
	char pid[32];

	snprintf(pid, sizeof(pid), "(pid %ld) is starting", (long)getpid());
	assert_int_equal(informer_status(inf, &status), 0);
	assert_int_equal(status.failure, INFORMER_E_NOT_READY);
	assert_non_null(strstr(status.reason, pid));
	left_world_die(w);
	DISPATCH_UNTIL(inf, informer_status(inf, &status) == 0 && status.failure != INFORMER_E_NOT_READY);
	assert_int_equal(status.failure, -ENOENT);
	assert_non_null(strstr(status.reason, "is informerd running?"));
	informer_detach(inf);
}
