/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beside a writer that lives and does not answer, who asks for it reads a copy of what is published; and
 * never one that the writer changed while it was made.
 */
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "reader-lib/attach/handle.h"
#include "shm-layout/shortcut.h"
#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "tests/support/left_world.h"
#include "tests/support/test_clock.h"
#include "writer/store/shortcut_edit.h"

/* What happens at a certain read of the copying, and what fstat() says. */
static void (*at_read)(struct left_world *w);
static struct left_world *at_read_world;
static unsigned reads_before;
static uint64_t blocks_told;

ssize_t
pread(int fd, void *buffer, size_t size, off_t offset)
{
	void (*now)(struct left_world * w) = at_read;

	if (now && reads_before-- == 0) {
		at_read = NULL;
		now(at_read_world);
	}
	return syscall(SYS_pread64, fd, buffer, size, offset);
}

int
fstat(int fd, struct stat *st)
{
	int r = (int)syscall(SYS_newfstatat, fd, "", st, 0x1000 /* AT_EMPTY_PATH */);

	if (r == 0 && blocks_told)
		st->st_blocks = (blkcnt_t)blocks_told;
	return r;
}

/* In these tests, where nothing comes, the time is over at once. */
static bool time_is_ours;

int
poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	int n = (int)syscall(SYS_poll, fds, count, time_is_ours ? 0 : timeout_ms);

	if (n != 0 || timeout_ms <= 0 || !time_is_ours)
		return n;
	test_clock_move((uint64_t)timeout_ms);
	return (int)syscall(SYS_poll, fds, count, 0);
}

/* The time for an answer to an attempt passes. */
static void
wait_in_vain(struct informer *inf)
{
	struct pollfd news = {.fd = informer_fd(inf), .events = POLLIN};

	for (unsigned steps = 0; poll(&news, 1, 100) == 0; steps++)
		assert_true(steps < 100);
	informer_dispatch(inf);
}

/* Somebody listens, and does not look at who comes. */
static int
listen_and_ignore(const struct left_world *w)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, w->socket, strlen(w->socket) + 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

/* The writer's heart beat so many seconds ago. */
static void
beat(struct left_world *w, unsigned ago)
{
	atomic_store(&w->arena->header->heartbeat_boot_ns,
		     time_ns(CLOCK_BOOTTIME) - (uint64_t)ago * 1000000000u);
}

/* Wait until there is something to read, or a reason why not that is no matter of time; its code. */
static int
settle(struct informer *inf, struct informer_status *status)
{
	struct informer_snapshot snap;
	int r;

	*status = (struct informer_status){.size = sizeof(*status)};
	while ((r = informer_begin(inf, &snap)) == INFORMER_E_NOT_READY) {
		assert_int_equal(informer_status(inf, status), 0);
		if (status->failure != 0 && status->failure != -ETIMEDOUT)
			return status->failure;
		wait_in_vain(inf);
	}
	assert_int_equal(r, 0);
	informer_end(&snap);
	assert_int_equal(informer_status(inf, status), 0);
	return 0;
}

static int
set_up(void **state)
{
	time_is_ours = true;
	return left_world_set_up(state);
}

#define TEST(name) TEST_CASE_OF(struct left_world *w, set_up, left_world_tear_down, name)

/* A stopped writer's pods are read; how old they are is told, and that nobody answers. */
TEST(what_a_silent_writer_published_is_copied)
{
	struct informer_status status;
	int listener = listen_and_ignore(w);
	struct informer *inf;

	beat(w, 7);
	inf = left_world_attach(w, INFORMER_ORPHAN);
	assert_int_equal(settle(inf, &status), 0);
	assert_int_equal(left_world_get(w, inf, "a"), 0);
	assert_int_equal(left_world_get(w, inf, "b"), INFORMER_E_NOT_FOUND);
	assert_true(status.attached && status.stale && !status.connected);
	assert_in_range(status.age_ns, 7000000000u, 600000000000u);
	assert_int_equal(status.failure, -ETIMEDOUT);
	assert_non_null(strstr(status.reason, "has not answered for"));
	informer_detach(inf);
	close(listener);
}

/* Who does not ask for a copy gets none, but the reason, with the pid of who listens. */
TEST(only_who_asks_for_it_reads_a_copy)
{
	struct informer_status status = {.size = sizeof(status)};
	int listener = listen_and_ignore(w);
	struct informer *inf;
	char pid[64];

	beat(w, 7);
	inf = left_world_attach(w, 0);
	while (status.failure == 0) {
		wait_in_vain(inf);
		assert_int_equal(informer_status(inf, &status), 0);
	}
	snprintf(pid, sizeof(pid), "(pid %ld) has not answered", (long)getpid());
	assert_int_equal(status.failure, -ETIMEDOUT);
	assert_non_null(strstr(status.reason, pid));
	assert_int_equal(left_world_get(w, inf, "a"), INFORMER_E_NOT_READY);
	informer_detach(inf);
	close(listener);
}

/* A writer whose heart beats is busy, not stopped: it is waited for, until it beats no more. */
TEST(a_writer_that_shows_life_is_not_copied)
{
	struct informer_status status = {.size = sizeof(status)};
	int listener = listen_and_ignore(w);
	struct informer *inf = left_world_attach(w, INFORMER_ORPHAN);

	for (int i = 0; i < 3; i++) {
		beat(w, 0);
		wait_in_vain(inf);
		assert_int_equal(left_world_get(w, inf, "a"), INFORMER_E_NOT_READY);
	}
	beat(w, 4);
	assert_int_equal(settle(inf, &status), 0);
	assert_int_equal(left_world_get(w, inf, "a"), 0);
	informer_detach(inf);
	close(listener);
}

/* It goes on, and reuses memory as one does that knows of no reader: the copy stays what it was. */
TEST(a_copy_is_nobody_elses)
{
	struct informer_verify_counts counts = {0};
	int listener = listen_and_ignore(w);
	struct informer_status status;
	struct informer_snapshot snap;
	struct informer *inf;

	left_world_key(w, 7, 32, 0600);
	beat(w, 4);
	inf = left_world_attach(w, INFORMER_ORPHAN | INFORMER_VERIFY);
	assert_int_equal(settle(inf, &status), 0);
	assert_int_equal(informer_begin(inf, &snap), 0);
	for (int i = 0; i < 300; i++) {
		char name[16];

		snprintf(name, sizeof(name), "b%d", i % 10);
		left_world_put(w, name);
		assert_true(store_fixture_delete(w->store, "default", i == 0 ? "a" : name) >= 0);
		assert_true(store_commit(w->store->store) >= 0);
	}
	assert_int_equal(informer_verify(&snap, NULL, NULL, &counts), 0);
	assert_true(counts.tags > 0);
	informer_end(&snap);
	assert_int_equal(left_world_get(w, inf, "a"), 0);
	assert_int_equal(left_world_get(w, inf, "b1"), INFORMER_E_NOT_FOUND);
	informer_detach(inf);
	close(listener);
}

static unsigned changes_made;

/* A commit, and more, until the newest root lies where it lay before: only its epoch tells. */
static void
commit_in_a_circle(struct left_world *w)
{
	const struct header *h = w->arena->header;
	uint64_t root = atomic_load(&h->root), epoch = atomic_load(&h->epoch);

	do {
		assert_true(store_fixture_putf(w->store,
					       "{\"metadata\":{\"namespace\":\"default\",\"name\":\"b\","
					       "\"resourceVersion\":\"%u\"}}",
					       ++changes_made) >= 0);
		store_commit(w->store->store);
		store_reclaim(w->store->store);
	} while (atomic_load(&h->epoch) < epoch + 2000 && atomic_load(&h->root) != root);
	assert_int_equal(atomic_load(&h->root), root);
	assert_true(atomic_load(&h->epoch) > epoch);
	beat(w, 4);
}

/* What was published while the copy was made spoils it, whatever the root's place: there is another try. */
TEST(a_copy_of_what_changed_is_thrown_away)
{
	int listener = listen_and_ignore(w);
	struct informer_status status;
	bool over = false;
	unsigned n;

	/* at each read that there is: before the copying, amid it, after it */
	for (n = 0; !over; n++) {
		struct informer_moment moment;
		struct informer_snapshot snap;
		struct informer *inf;

		beat(w, 4);
		at_read_world = w;
		reads_before = n;
		at_read = commit_in_a_circle;
		inf = left_world_attach(w, INFORMER_ORPHAN);
		assert_int_equal(settle(inf, &status), 0);
		over = at_read != NULL;
		at_read = NULL;
		assert_int_equal(informer_begin(inf, &snap), 0);
		assert_int_equal(informer_snapshot_moment(&snap, &moment), 0);
		assert_int_equal(moment.epoch, atomic_load(&w->arena->header->epoch));
		informer_end(&snap);
		informer_detach(inf);
	}
	assert_in_range(n, 5, 100); /* the note, the root before and after, and the bytes */
	close(listener);
}

/* Who only begins snapshots, and never dispatches, goes on asking for the writer all the same. */
TEST(a_copy_is_not_kept_for_good)
{
	int listener = listen_and_ignore(w), r = 0;
	struct informer_status status;
	struct informer_snapshot snap;
	struct informer *inf;

	beat(w, 4);
	inf = left_world_attach(w, INFORMER_ORPHAN);
	assert_int_equal(settle(inf, &status), 0);
	assert_int_equal(status.failure, -ETIMEDOUT);
	close(listener);
	assert_int_equal(unlink(w->socket), 0);
	while (r == 0 && status.failure == -ETIMEDOUT) {
		test_clock_move(1);
		r = informer_begin(inf, &snap);
		informer_end(&snap);
		assert_int_equal(informer_status(inf, &status), 0);
	}
	assert_int_equal(r, 0);
	assert_int_equal(status.failure, INFORMER_E_NOT_READY);
	informer_detach(inf);
}

/*
 * Shortcuts may be ahead of the root, and of the bytes they lead to: in a copy they lead nowhere. Here one
 * leads to what stood there before.
 */
TEST(shortcuts_are_not_followed_in_a_copy)
{
	int listener = listen_and_ignore(w);
	const struct arena_view *view = &w->arena->view;
	uint32_t before = store_fixture_find(w->store, "default", "a"), count = 0, after;
	struct informer_resource *pods;
	struct informer_status status;
	struct informer_snapshot snap;
	struct informer_object pod;
	const struct root *root;
	const struct resource *res;
	_Atomic uint64_t *cells;
	struct informer *inf;
	uint64_t seq;
	unsigned found = 0;

	/* so many that there are tables */
	for (int i = 0; i < 20; i++)
		left_world_put(w, (char[]){(char)('b' + i), '\0'});
	assert_true(store_fixture_putf(w->store, "{\"metadata\":{\"namespace\":\"default\",\"name\":\"a\","
						 "\"resourceVersion\":\"2\"}}") >= 0);
	assert_true(store_commit(w->store->store) >= 0);
	after = store_fixture_find(w->store, "default", "a");
	assert_int_not_equal(before, after);
	root = root_at(view, atomic_load(&w->arena->header->root));
	assert_non_null(root);
	res = root_resource(view, root, 0);
	assert_non_null(res);
	cells = shortcut_cells(view, res->by_key, SHORTCUT_BY_KEY, &count);
	assert_non_null(cells);
	seq = object_at(view, after)->seq;
	for (uint32_t i = 0; i < count; i++)
		if ((uint32_t)cells[i] == after) {
			/* the object as it was, once more at another place would be the same */
			((struct object *)(uintptr_t)object_at(view, before))->seq = 1;
			cells[i] = (cells[i] & ~(uint64_t)UINT32_MAX) | before;
			found++;
		}
	assert_int_equal(found, 1);
	beat(w, 4);
	inf = left_world_attach(w, INFORMER_ORPHAN);
	assert_int_equal(settle(inf, &status), 0);
	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_begin(inf, &snap), 0);
	assert_int_equal(informer_get_z(&snap, pods, "default", "a", &pod), 0);
	assert_int_equal(informer_object_seq(&pod), seq);
	informer_end(&snap);
	informer_detach(inf);
	close(listener);
}

/* More than is copied, or than this process may write, is refused in words. */
TEST(what_is_too_large_is_not_copied)
{
	int listener = listen_and_ignore(w);
	struct rlimit before, small;
	struct informer_status status;
	struct informer *inf;
	char pid[48];

	beat(w, 4);
	blocks_told = ((1024ull << 20) + 4096) / 512;
	inf = left_world_attach(w, INFORMER_ORPHAN);
	assert_int_equal(settle(inf, &status), -EFBIG);
	assert_non_null(strstr(status.reason, "more than the 1024 that are copied"));
	snprintf(pid, sizeof(pid), "informerd (pid %ld) does not answer", (long)getpid());
	assert_non_null(strstr(status.reason, pid));
	informer_detach(inf);
	blocks_told = 0;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){16384, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	inf = left_world_attach(w, INFORMER_ORPHAN);
	assert_int_equal(settle(inf, &status), -EFBIG);
	assert_non_null(strstr(status.reason, "ulimit -f"));
	assert_non_null(strstr(status.reason, pid));
	informer_detach(inf);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	close(listener);
}

/* So many wait to be let in already that there is no room to wait: the copy does not need that. */
TEST(a_crowd_before_the_socket_does_not_matter)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = listen_and_ignore(w), fds[64];
	struct informer_status status;
	struct informer *inf;
	unsigned count = 0;

	memcpy(address.sun_path, w->socket, strlen(w->socket) + 1);
	beat(w, 4);
	do {
		assert_true(count < 64);
		fds[count] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	} while (connect(fds[count++], (struct sockaddr *)&address, sizeof(address)) == 0);
	inf = left_world_attach(w, INFORMER_ORPHAN);
	assert_int_equal(settle(inf, &status), 0);
	assert_int_equal(left_world_get(w, inf, "a"), 0);
	assert_non_null(strstr(status.reason, "has not answered"));
	informer_detach(inf);
	while (count > 0)
		close(fds[--count]);
	close(listener);
}
