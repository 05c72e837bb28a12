/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without descriptors, memory or address space a reader says so, and names the remedy. It loses nothing that
 * it held, leaks nothing, and attaches by itself when there is room again. Each call that can fail for lack
 * of room fails here once, and then always, during attach, look-up, subscription and detach.
 */
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "reader-lib/informer-handlers.h"
#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/dispatch.h"
#include "tests/support/left_world.h"

/* ---- calls that run out ---- */

/*
 * left   how many calls of this thread still succeed; negative: all
 * fails  how many fail after that; negative: all
 * failed how many did
 */
static _Thread_local struct {
	long left, fails, failed;
} room = {.left = -1};
static _Thread_local const char *failed; /* the last call that failed */

static bool
runs_out(const char *what)
{
	if (room.left < 0)
		return false;
	if (room.left > 0) {
		room.left--;
		return false;
	}
	if (room.fails == 0)
		return false;
	if (room.fails > 0)
		room.fails--;
	room.failed++;
	failed = what;
	return true;
}

static void
grant(long left, long fails)
{
	room.left = left;
	room.fails = fails;
	room.failed = 0;
}

static int
call(int error, long result)
{
	if (result >= 0)
		return (int)result;
	errno = error ? error : errno;
	return -1;
}

#define OR_RUN_OUT(error, ...) (runs_out(__func__) ? call(error, -1) : call(0, syscall(__VA_ARGS__)))

int
socket(int domain, int type, int protocol)
{
	return OR_RUN_OUT(EMFILE, SYS_socket, domain, type, protocol);
}

int
epoll_create1(int flags)
{
	return OR_RUN_OUT(EMFILE, SYS_epoll_create1, flags);
}

int
timerfd_create(clockid_t clock, int flags)
{
	return OR_RUN_OUT(EMFILE, SYS_timerfd_create, clock, flags);
}

int
eventfd(unsigned count, int flags)
{
	return OR_RUN_OUT(EMFILE, SYS_eventfd2, count, flags);
}

int
memfd_create(const char *name, unsigned flags)
{
	return OR_RUN_OUT(EMFILE, SYS_memfd_create, name, flags);
}

int
epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
	if (what != EPOLL_CTL_ADD)
		return call(0, syscall(SYS_epoll_ctl, epoll, what, fd, event));
	return OR_RUN_OUT(ENOMEM, SYS_epoll_ctl, epoll, what, fd, event);
}

int
ftruncate(int fd, off_t length)
{
	return OR_RUN_OUT(ENOMEM, SYS_ftruncate, fd, length);
}

int
madvise(void *start, size_t length, int advice)
{
	return OR_RUN_OUT(ENOMEM, SYS_madvise, start, length, advice);
}

void *
mmap(void *start, size_t length, int protection, int flags, int fd, off_t offset)
{
	/* where memory is already mapped, it stays mapped */
	if (runs_out(flags & MAP_FIXED && fd < 0 ? "replace" : __func__)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, start, length, protection, flags, fd, offset);
}

ssize_t
send(int fd, const void *data, size_t length, int flags)
{
	return OR_RUN_OUT(ENOMEM, SYS_sendto, fd, data, length, flags, NULL, 0);
}

/* The kernel could install none, or only some, of the received descriptors. */
ssize_t
recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t n = syscall(SYS_recvmsg, fd, message, flags);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(message) : NULL;
	size_t count = c && c->cmsg_type == SCM_RIGHTS ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0, kept;
	int fds[16];

	if (count == 0 || count > 16 || !runs_out(__func__))
		return n;
	memcpy(fds, CMSG_DATA(c), count * sizeof(int));
	kept = (size_t)room.failed % count;
	for (size_t i = kept; i < count; i++)
		close(fds[i]);
	message->msg_controllen = kept ? CMSG_SPACE(kept * sizeof(int)) : 0;
	c->cmsg_len = CMSG_LEN(kept * sizeof(int));
	message->msg_flags |= MSG_CTRUNC;
	return n;
}

static long pieces;

static void *
allocate(void *context, size_t size)
{
	void *memory = runs_out(__func__) ? NULL : calloc(1, size);

	(void)context;
	pieces += memory != NULL;
	return memory;
}

static void
release(void *context, void *memory)
{
	(void)context;
	pieces -= memory != NULL;
	free(memory);
}

/* ---- a reader's life ---- */

static bool told; /* the lack of room was reported */

static bool
has_run_out(int code)
{
	return code == -EMFILE || code == -ENOMEM;
}

static bool
says_it(const char *text)
{
	static const char *const words[] = {"too many open files: raise", "out of memory: raise",
					    "no memory for", "raise the address space limit"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

static void
log_it(void *context, enum informer_log_level level, const char *message)
{
	(void)context;
	(void)level;
	told |= says_it(message);
}

static int
open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void
on_synced(void *context)
{
	*(bool *)context = true;
}

static void
on_add(void *context, const struct informer_object *object, bool is_initial)
{
	(void)context;
	(void)object;
	(void)is_initial;
}

/* Wait for news and dispatch, as an event loop does. */
static void
turn(struct informer *inf)
{
	struct pollfd news = {.fd = informer_fd(inf), .events = POLLIN};

	assert_true(poll(&news, 1, 60000) > 0);
	informer_dispatch(inf);
}

/* A call that may fail: the failure must be reported; then there is room again. */
#define UNTIL_ROOM(inf, r, expression)                                                                       \
	while (((r) = (expression)) != 0) {                                                                  \
		assert_true(has_run_out(r));                                                                 \
		assert_true(room.failed > 0);                                                                \
		told = true;                                                                                 \
		grant(-1, 0);                                                                                \
	}

/* From attach to detach. When room has run out for good and that was reported, there is room again. */
static void
live(const char *socket, uint32_t flags, bool handles)
{
	struct informer_options options = {.size = sizeof(options),
					   .flags = flags,
					   .socket_path = socket,
					   .log = log_it,
					   .allocate = allocate,
					   .release = release};
	struct informer_status status = {.size = sizeof(status)};
	bool synced = !handles;
	struct informer_handler_options handler = {.size = sizeof(handler),
						   .resource = "pods",
						   .on_add = on_add,
						   .on_synced = on_synced,
						   .context = &synced};
	struct informer_resource *pods;
	struct informer_snapshot snap;
	struct informer_object pod;
	struct informer *inf = NULL;
	int r;

	told = false;
	r = informer_attach(&options, &inf);
	if (r < 0) {
		assert_true(has_run_out(r));
		assert_true(room.failed > 0);
		if (pieces > 0)
			fail_msg("%ld pieces of memory are lost", pieces);
		/* without memory for the handle there is no log */
		assert_true(told || r == -ENOMEM);
		told = true;
		grant(-1, 0);
		assert_int_equal(informer_attach(&options, &inf), 0);
	}
	while ((r = informer_begin(inf, &snap)) == INFORMER_E_NOT_READY) {
		assert_int_equal(informer_status(inf, &status), 0);
		if (has_run_out(status.failure)) {
			if (!says_it(status.reason))
				fail_msg("'%s' does not say what has run out", status.reason);
			told = true;
			if (room.fails < 0)
				grant(-1, 0);
		}
		turn(inf);
	}
	assert_int_equal(r, 0);
	UNTIL_ROOM(inf, r, informer_resource_open(inf, "pods", &pods));
	UNTIL_ROOM(inf, r, informer_get_z(&snap, pods, "default", "a", &pod));
	informer_end(&snap);
	if (handles)
		UNTIL_ROOM(inf, r, informer_add_handler(inf, &handler, NULL));
	while (!synced) {
		/* the reader retries this by itself; objects stay readable meanwhile */
		if (room.failed > 3)
			grant(-1, 0);
		assert_int_equal(informer_begin(inf, &snap), 0);
		informer_end(&snap);
		turn(inf);
	}
	informer_detach(inf);
	assert_int_equal(pieces, 0);
	/* unreported: an attached reader's packet is sent again, and a handler repeats its turn */
	if (failed && !told && strcmp(failed, "send") != 0 && strcmp(failed, "replace") != 0 &&
	    !(handles && strcmp(failed, "allocate") == 0))
		fail_msg("%s was not told", failed);
}

/* The broker's thread closes what it held for the departed reader, possibly a moment later. */
static void
assert_no_descriptor_is_left(int before)
{
	AWAIT(open_descriptors() <= before);
}

/* Each call in turn fails, once (fails is 1) or from then on (-1). */
static unsigned
let_each_fail(const char *socket, uint32_t flags, bool handles, long fails)
{
	unsigned n = 0;
	bool some_failed;
	int before = open_descriptors();

	do {
		failed = NULL;
		grant(n, fails);
		live(socket, flags, handles);
		some_failed = failed != NULL;
		grant(-1, 0);
		assert_no_descriptor_is_left(before);
		n++;
	} while (some_failed);
	return n;
}

TEST_CASE_IN(broker_fixture_set_up, broker_fixture_tear_down, a_reader_reports_the_lack_of_room_and_recovers)
{
	struct broker_fixture *fx = *state;
	struct informer *honest;

	ONLY_IN_LONG(); /* each of some hundred failures waits up to a second */
	broker_fixture_start(fx);
	broker_fixture_pod(fx, "a");
	/* an unlimited reader: makes what the broker has once for all readers */
	honest = broker_fixture_attach(fx, 0);
	assert_in_range(let_each_fail(fx->socket, 0, true, 1), 20, 1000);
	assert_in_range(let_each_fail(fx->socket, 0, true, -1), 20, 1000);
	assert_in_range(let_each_fail(fx->socket, INFORMER_VERIFY, false, 1), 20, 1000);
	informer_detach(honest);
}

/* The same for a reader of an orphan, and of a copy, verified or not. */
TEST_CASE_IN(left_world_set_up, left_world_tear_down, a_reader_of_an_orphan_reports_the_lack_of_room)
{
	struct left_world *w = *state;

	left_world_key(w, 7, 32, 0600);
	left_world_die(w);
	for (int verify = 0; verify < 2; verify++)
		for (int fails = -1; fails < 2; fails += 2)
			assert_in_range(let_each_fail(w->socket,
						      INFORMER_ORPHAN | (verify ? INFORMER_VERIFY : 0), false,
						      fails),
					15, 1000);
}

enum outcome { ATTACHED, TOLD, NO_HANDLE, WRONG };

/* The outcome for a reader in a process with this many descriptors. */
static enum outcome
attach_with(const char *socket, unsigned descriptors)
{
	struct informer_options options = {.size = sizeof(options), .socket_path = socket};
	struct informer_status status = {.size = sizeof(status)};
	struct rlimit limit = {descriptors, descriptors};
	struct informer *inf;
	int r;

	if (close_range(3, UINT_MAX, 0) < 0 || setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return WRONG;
	r = informer_attach(&options, &inf);
	if (r < 0)
		return r == -EMFILE ? NO_HANDLE : WRONG;
	for (;;) {
		struct pollfd news = {.fd = informer_fd(inf), .events = POLLIN};

		informer_status(inf, &status);
		if (status.connected)
			return ATTACHED;
		if (status.failure == -EMFILE)
			return strstr(status.reason, "too many open files: raise") ? TOLD : WRONG;
		if (status.failure != 0 && status.failure != INFORMER_E_NOT_READY)
			return WRONG;
		poll(&news, 1, 60000);
		informer_dispatch(inf);
	}
}

/* With one descriptor more each time, until a reader has enough. */
TEST_CASE_IN(broker_fixture_set_up, broker_fixture_tear_down, the_kernels_own_limit_is_named)
{
	struct broker_fixture *fx = *state;
	enum outcome outcome = NO_HANDLE;
	unsigned said = 0;

	broker_fixture_start(fx);
	broker_fixture_pod(fx, "a");
	for (unsigned n = 4; outcome != ATTACHED; n++) {
		pid_t child = fork();
		int code;

		if (child == 0) {
			alarm(60);
			_exit((int)attach_with(fx->socket, n));
		}
		assert_int_equal(waitpid(child, &code, 0), child);
		assert_true(WIFEXITED(code));
		assert_int_not_equal(WEXITSTATUS(code), WRONG);
		assert_true((enum outcome)WEXITSTATUS(code) <= outcome); /* it only gets better */
		outcome = (enum outcome)WEXITSTATUS(code);
		said += outcome == TOLD;
	}
	assert_int_equal(said, 4); /* no socket; no room for three, two, one of the received descriptors */
}
