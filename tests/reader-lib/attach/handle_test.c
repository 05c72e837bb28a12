/* SPDX-License-Identifier: Apache-2.0 */
/* Attaching, losing the daemon, attaching again, forking. */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "reader-lib/attach/handle.h"
#include "shm-layout/protocol.h"
#include "shm-layout/slot.h"
#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/dispatch.h"
#include "tests/support/purse.h"
#include "tests/support/reader_world.h"
#include "writer/serve/broker_internal.h"

static struct informer_status
status_of(struct informer *inf)
{
	struct informer_status status = {.size = sizeof(status)};

	assert_int_equal(informer_status(inf, &status), 0);
	return status;
}

#define TEST(name)                                                                                           \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up, broker_fixture_tear_down, name)

static void
set_release(struct broker_fixture *fx, void *context)
{
	atomic_store(&fx->store->arena->header->server_release, *(uint32_t *)context);
}

/* The API server's release is reported as soon as it is known. */
TEST(the_servers_release_is_reported)
{
	struct informer *inf = broker_fixture_attach(fx, 0);
	uint32_t release = 1036;

	broker_fixture_start(fx);
	DISPATCH_UNTIL(inf, status_of(inf).attached);
	assert_int_equal(status_of(inf).server_release, 0);
	broker_fixture_do(fx, set_release, &release);
	assert_int_equal(status_of(inf).server_release, 1036);
	informer_detach(inf);
	broker_fixture_wait_readers(fx, 0);
}

/* Attach succeeds before the daemon exists; lookups say NOT_READY until it has come. */
TEST(attach_succeeds_before_the_daemon_exists)
{
	struct informer *inf = broker_fixture_attach(fx, 0);
	struct informer_status status = status_of(inf);

	assert_false(status.attached);
	assert_true(status.stale);
	assert_non_null(strstr(status.reason, "is informerd running?"));
	assert_int_equal(reader_get(inf, "default", "a"), INFORMER_E_NOT_READY);
	broker_fixture_start(fx);
	broker_fixture_pod(fx, "a");
	DISPATCH_UNTIL(inf, status_of(inf).attached);
	assert_int_equal(reader_get(inf, "default", "a"), 0);
	status = status_of(inf);
	assert_true(status.connected);
	assert_string_equal(status.reason, "");
	assert_int_equal(status.attaches, 1);
	informer_detach(inf);
	broker_fixture_wait_readers(fx, 0);
}

/* informer_begin() attaches a program that never dispatches. */
TEST(begin_attaches_without_dispatch)
{
	struct informer *inf = broker_fixture_attach(fx, 0);
	int r;

	broker_fixture_start(fx);
	broker_fixture_pod(fx, "a");
	AWAIT((r = reader_get(inf, "default", "a")) != INFORMER_E_NOT_READY);
	assert_int_equal(r, 0);
	informer_detach(inf);
}

/* After the daemon's end lookups still work and the status says so; the reader attaches to the next one. */
TEST(a_reader_outlives_the_daemon_and_moves_to_the_next)
{
	struct informer_snapshot old;
	struct informer_resource *pods;
	struct informer_object o;
	struct informer *inf = broker_fixture_serve(fx, 0);
	struct informer_moment moment;

	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_begin(inf, &old), 0);
	broker_fixture_stop(fx);
	DISPATCH_UNTIL(inf, !status_of(inf).connected);
	assert_true(status_of(inf).stale);
	assert_true(status_of(inf).attached);
	assert_string_not_equal(status_of(inf).reason, "");
	assert_int_equal(reader_get(inf, "default", "a"), 0);

	broker_fixture_replace(fx, true);
	broker_fixture_start(fx);
	broker_fixture_pod(fx, "b");
	DISPATCH_UNTIL(inf, status_of(inf).connected);
	assert_int_equal(reader_get(inf, "default", "b"), 0);
	assert_int_equal(reader_get(inf, "default", "a"), INFORMER_E_NOT_FOUND);
	assert_int_equal(status_of(inf).attaches, 2);
	/* the old snapshot is unchanged */
	assert_int_equal(informer_get_z(&old, pods, "default", "a", &o), 0);
	assert_int_equal(informer_get_z(&old, pods, "default", "b", &o), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_snapshot_moment(&old, &moment), 0);
	informer_end(&old);
	informer_end(&old);
	informer_dispatch(inf);
	informer_detach(inf);
}

/* Without dispatch, informer_begin() moves to the next arena; until then it shows the superseded one. */
TEST(begin_moves_when_the_arena_is_superseded)
{
	struct informer *inf = broker_fixture_serve(fx, 0);
	int r;

	broker_fixture_stop(fx);
	broker_fixture_replace(fx, true);
	assert_int_equal(reader_get(inf, "default", "a"), 0);
	broker_fixture_start(fx);
	broker_fixture_pod(fx, "b");
	while ((r = reader_get(inf, "default", "b")) == INFORMER_E_NOT_FOUND)
		assert_true(reader_get(inf, "default", "a") == 0 || reader_get(inf, "default", "b") == 0);
	assert_int_equal(r, 0);
	informer_detach(inf);
}

/* If the connection is lost while the writer lives, old snapshots expire; new ones work. */
TEST(snapshots_expire_when_their_slot_is_lost)
{
	struct informer_snapshot old;
	struct informer_resource *pods;
	struct informer_object o;
	struct informer *inf = broker_fixture_serve(fx, 0);

	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_begin(inf, &old), 0);
	broker_fixture_stop(fx);	/* only the broker: the arena is the same afterwards */
	broker_fixture_start(fx);
	DISPATCH_UNTIL(inf, status_of(inf).attaches == 2);
	assert_int_equal(informer_get_z(&old, pods, "default", "a", &o), INFORMER_E_EXPIRED);
	informer_end(&old);
	assert_int_equal(reader_get(inf, "default", "a"), 0);
	informer_detach(inf);
}

/* In a forked child every call says FORKED, and detach there leaves the parent's handle alone. */
TEST(every_call_in_a_child_says_forked)
{
	struct informer_snapshot snap, other;
	struct informer_resource *pods;
	struct informer_object o, found;
	struct informer_value v;
	struct informer_path *path;
	struct informer_label_selector *sel;
	struct informer_iter it;
	struct informer *inf = broker_fixture_serve(fx, INFORMER_VERIFY);
	const char *data;
	size_t length;
	int wait_status;
	pid_t pid;

	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_path_compile(inf, "spec.nodeName", 13, &path), 0);
	assert_int_equal(informer_begin(inf, &snap), 0);
	assert_int_equal(informer_get_z(&snap, pods, "default", "a", &o), 0);
	assert_int_equal(informer_object_value(&o, &v), 0);
	assert_int_equal(informer_list(&snap, pods, &it), 0);
	pid = fork();
	if (pid == 0) {
		struct informer_status status = {.size = sizeof(status)};
		struct informer_resource_info info = {.size = sizeof(info)};
		struct informer_moment moment;
		char *text;
		int bad = 0;

#define FORKED(call) bad += (call) != INFORMER_E_FORKED
		FORKED(informer_begin(inf, &other));
		FORKED(informer_dispatch(inf));
		FORKED(informer_fd(inf));
		FORKED(informer_status(inf, &status));
		FORKED(informer_get_z(&snap, pods, "default", "a", &found));
		FORKED(informer_get_string(&o, path, &data, &length));
		FORKED(informer_object_name(&o, &data, &length));
		FORKED(informer_object_value(&o, &v));
		FORKED(informer_next(&it, &found));
		FORKED(informer_list(&snap, pods, &it));
		FORKED(informer_value_field(&v, "spec", 4, &v));
		FORKED(informer_resource_open(inf, "nodes", &pods));
		FORKED(informer_resource_info(&snap, pods, &info));
		FORKED(informer_snapshot_moment(&snap, &moment));
		FORKED(informer_wait_attached(inf, 0));
		FORKED(informer_wait_commit(inf, NULL, 0));
		FORKED(informer_arm(inf, NULL));
		FORKED(informer_stat_json(inf, 0, &text, &length));
		FORKED(informer_label_selector_compile(inf, "a", 1, &sel, NULL));
		FORKED(informer_path_compile(inf, "a", 1, &path));
		FORKED(informer_verify(&snap, NULL, NULL, NULL));
#undef FORKED
		informer_end(&snap);
		informer_detach(inf);
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	assert_true(WIFEXITED(wait_status));
	assert_int_equal(WEXITSTATUS(wait_status), 0);
	assert_int_equal(informer_get_string(&o, path, &data, &length), 0);
	informer_end(&snap);
	assert_int_equal(reader_get(inf, "default", "a"), 0);
	assert_true(status_of(inf).connected);
	assert_int_equal(broker_fixture_stats(fx).readers, 1);
	informer_path_free(path);
	informer_detach(inf);
}

static int
count_descriptors(bool *ret_all_cloexec)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int n = 0;

	*ret_all_cloexec = true;
	while ((e = readdir(d)) != NULL) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] == '.' || fd == dirfd(d))
			continue;
		n++;
		if (fd > 2 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			*ret_all_cloexec = false;
	}
	closedir(d);
	return n;
}

/* A WELCOME with one descriptor too many, none of which can be mapped. */
static void
welcome_with_too_many(int peer)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int) * (PROTOCOL_DESCRIPTORS + 1))];
	} control = {0};
	struct message_welcome welcome = {.generation = 1, .slot_bytes = SLOT_BYTES};
	struct iovec io = {&welcome, sizeof(welcome)};
	struct msghdr packet = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	int fds[PROTOCOL_DESCRIPTORS + 1], null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (unsigned i = 0; i < PROTOCOL_DESCRIPTORS + 1; i++)
		fds[i] = null;
	welcome.head = (struct message_head){.magic = PROTOCOL_MAGIC,
					     .version = PROTOCOL_VERSION,
					     .type = MESSAGE_WELCOME,
					     .length = sizeof(welcome)};
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(&control.head), fds, sizeof(fds));
	assert_int_equal(sendmsg(peer, &packet, MSG_NOSIGNAL), sizeof(welcome));
	close(null);
}

/* The kernel closes descriptors beyond those that the reader has room for. */
TEST(surplus_descriptors_are_not_taken)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), peer, before;
	char reason[sizeof(((struct informer_status *)0)->reason)];
	struct informer_options options = {.size = sizeof(options), .socket_path = fx->socket};
	struct message_hello hello;
	struct informer *inf;
	bool cloexec;

	memcpy(address.sun_path, fx->socket, strlen(fx->socket) + 1);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(informer_attach(&options, &inf), 0);
	snprintf(reason, sizeof(reason), "%s", status_of(inf).reason);
	peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_int_equal(recv(peer, &hello, sizeof(hello), 0), sizeof(hello));
	close(listener);
	before = count_descriptors(&cloexec);
	welcome_with_too_many(peer);
	DISPATCH_UNTIL(inf, strcmp(status_of(inf).reason, reason) != 0);
	assert_null(strstr(status_of(inf).reason, "makes no sense"));
	/* the connection is closed, and nothing else is open */
	assert_true(count_descriptors(&cloexec) <= before);
	close(peer);
	informer_detach(inf);
	unlink(fx->socket);
}

/* Send an attached reader an arena and a slot once more, under a reserved message number. */
static void
send_reserved(struct broker_fixture *fx, void *context)
{
	struct client *c = fx->broker->clients;
	struct message_welcome message = {.generation = fx->store->arena->header->generation,
					  .slot_bytes = SLOT_BYTES};
	int fds[PROTOCOL_DESCRIPTORS] = {fx->broker->arena_fd, -1, c->event_fd};
	unsigned slot;

	(void)context;
	assert_int_equal(pins_add(fx->store->pins, store_epoch(fx->store->store), &slot, &fds[1]), 0);
	message_head_init(&message.head, (enum message_type)4, sizeof(message));
	assert_int_equal(client_send_fds(c, &message, sizeof(message), fds, PROTOCOL_DESCRIPTORS), 0);
	pins_remove(fx->store->pins, slot);
}

/* How much the broker still has open because readers had it open at its end. */
static void
look_at_leftovers(struct broker_fixture *fx, void *context)
{
	leftovers_look(fx->broker, NULL);
	*(uint64_t *)context = fx->broker->leftovers.count;
}

static uint64_t
leftovers(struct broker_fixture *fx)
{
	uint64_t count = 0;

	broker_fixture_do(fx, look_at_leftovers, &count);
	return count;
}

/* A reserved message number is invalid: the reader hangs up and attaches again. */
TEST(a_reserved_message_is_refused)
{
	struct informer *inf;
	bool cloexec;
	int open = 0;

	inf = broker_fixture_serve(fx, 0);
	for (unsigned i = 2; i <= 4; i++) {
		broker_fixture_do(fx, send_reserved, NULL);
		DISPATCH_UNTIL(inf, status_of(inf).attaches == i && status_of(inf).connected);
		broker_fixture_wait_readers(fx, 1);
		assert_int_equal(broker_fixture_stats(fx).attached, i);
		assert_int_equal(reader_get(inf, "default", "a"), 0);
		/* its descriptors were closed */
		DISPATCH_UNTIL(inf, leftovers(fx) == 0);
		if (i > 2)
			assert_int_equal(count_descriptors(&cloexec), open);
		open = count_descriptors(&cloexec);
	}
	informer_detach(inf);
}

/* Every descriptor is close-on-exec, and detach closes all of them, also after a move. */
TEST(descriptors_are_close_on_exec_and_closed_by_detach)
{
	struct informer *inf = broker_fixture_serve(fx, 0);
	bool before_cloexec, cloexec;
	int before;

	informer_detach(inf);
	broker_fixture_wait_readers(fx, 0);
	before = count_descriptors(&before_cloexec);
	inf = broker_fixture_attach(fx, 0);
	count_descriptors(&cloexec);
	assert_int_equal(cloexec, before_cloexec);
	broker_fixture_replace(fx, true);
	DISPATCH_UNTIL(inf, status_of(inf).attaches == 2);
	informer_detach(inf);
	broker_fixture_wait_readers(fx, 0);
	/* the fixture has the new generation's memfd */
	assert_int_equal(count_descriptors(&cloexec), before + 1);
}

/* This thread alone goes on as another user. */
static void
become(uid_t user)
{
	assert_int_equal(syscall(SYS_setresuid, -1, user, -1), 0);
}

/* Make this socket stand at the user's own place. Returns its path. Only root can become another user. */
static const char *
own_place(struct broker_fixture *fx, const char *socket)
{
	static char path[200];

	if (geteuid() != 0)
		skip();
	snprintf(path, sizeof(path), "%s/informer", fx->directory);
	assert_int_equal(chmod(fx->directory, 0711), 0);
	assert_int_equal(mkdir(path, 0711), 0);
	unsetenv("INFORMER_SOCKET");
	setenv("XDG_RUNTIME_DIR", fx->directory, 1);
	strcat(path, "/informer.sock");
	assert_int_equal(symlink(socket, path), 0);
	return path;
}

static void
remove_own_place(struct broker_fixture *fx, const char *path)
{
	char directory[200];

	snprintf(directory, sizeof(directory), "%s/informer", fx->directory);
	unlink(path);
	rmdir(directory);
}

/* Once attached there, the handle tries no other place: another informerd may serve another cluster. */
TEST(a_user_prefers_his_own_daemon_and_keeps_to_it)
{
	static const uid_t user = 4711;
	const char *path = own_place(fx, fx->socket);
	struct informer *inf;

	fx->options.allow_uids = &user;
	fx->options.n_allow_uids = 1;
	broker_fixture_start(fx);
	become(user);
	assert_int_equal(informer_attach(NULL, &inf), 0);
	assert_int_equal(inf->place_count, status_of(inf).attached ? 1 : 2);
	DISPATCH_UNTIL(inf, status_of(inf).attached);
	assert_string_equal(status_of(inf).socket, path);
	assert_int_equal(inf->place_count, 1);
	informer_detach(inf);
	become(0);
	broker_fixture_wait_readers(fx, 0);
	remove_own_place(fx, path);
}

/* Of two places, the status names the one whose informerd refuses. */
TEST(the_socket_that_refuses_is_named)
{
	const char *path = own_place(fx, "/nonexistent/informer.sock");
	struct informer *inf;

	broker_fixture_start(fx);
	assert_int_equal(chmod(fx->socket, 0666), 0);
	become(4711);
	assert_int_equal(informer_attach(NULL, &inf), 0);
	assert_int_equal(inf->place_count, 2);
	strcpy(inf->places[1].address.sun_path, fx->socket); /* in place of the system's */
	DISPATCH_UNTIL(inf, strcmp(status_of(inf).socket, fx->socket) == 0);
	DISPATCH_UNTIL(inf, status_of(inf).failure == INFORMER_E_REFUSED);
	informer_detach(inf);
	become(0);
	remove_own_place(fx, path);
}

TEST(another_users_program_at_ones_own_place_is_not_taken_for_informerd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = own_place(fx, fx->socket);
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct informer_status status;
	struct informer *inf;

	strcpy(address.sun_path, fx->socket);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(chmod(fx->socket, 0666), 0);
	become(4712);
	assert_int_equal(listen(listener, 1), 0);
	become(0);
	become(4711);
	assert_int_equal(informer_attach(NULL, &inf), 0);
	status = status_of(inf);
	assert_int_equal(status.failure, -EPERM);
	assert_non_null(strstr(status.reason, "another user's program listens there"));
	informer_detach(inf);
	become(0);
	close(listener);
	remove_own_place(fx, path);
}

/* Invalid options are refused; a shorter struct of an older header is taken, with zeros for the rest. */
TEST(options_are_checked)
{
	struct informer_options options = {.size = sizeof(options), .socket_path = fx->socket};
	struct informer *inf = NULL;
	char path[300];

	options.flags = 1u << 31;
	assert_int_equal(informer_attach(&options, &inf), -EINVAL);
	options.flags = 0;
	options.size = 4;
	assert_int_equal(informer_attach(&options, &inf), -EINVAL);
	options.size = offsetof(struct informer_options, reader_name);
	options.reader_name = (const char *)1;
	assert_int_equal(informer_attach(&options, &inf), 0);
	informer_detach(inf);
	options.size = sizeof(options);
	options.reader_name = NULL;
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	options.socket_path = path;
	inf = NULL;
	assert_int_equal(informer_attach(&options, &inf), -ENAMETOOLONG);
	assert_null(inf);
	assert_int_equal(informer_attach(&options, NULL), -EINVAL);
	informer_detach(NULL);
}

/* All memory comes from the caller's allocator; a failed allocation is an error, not a crash. */
TEST(each_failed_allocation_is_survived)
{
	struct purse purse = PURSE;
	struct informer_options options = {.size = sizeof(options),
					   .socket_path = fx->socket,
					   .allocate = purse_allocate,
					   .release = purse_release,
					   .allocator_context = &purse};
	bool whole = false;

	broker_fixture_start(fx);
	broker_fixture_pod(fx, "a");
	for (size_t n = 0; n < 100 && !whole; n++) {
		struct informer *inf;
		struct informer_label_selector *sel;
		struct informer_path *path;
		char *text;

		purse.left = n;
		purse.fails = 1;
		purse.failed = 0;
		if (informer_attach(&options, &inf) == 0) {
			int r = informer_wait_attached(inf, 60000);
			int got = r == 0 ? reader_get(inf, "default", "a") : r;
			int compiled = informer_label_selector_compile(inf, "a=b", 3, &sel, NULL);
			int path_made = informer_path_compile(inf, "a.b", 3, &path);
			int stat = informer_stat_json(inf, 60000, &text, NULL);

			if (compiled == 0)
				informer_label_selector_free(sel);
			if (path_made == 0)
				informer_path_free(path);
			if (stat == 0)
				informer_free(inf, text);
			whole = purse.failed == 0;
			if (whole)
				assert_true(got == 0 && compiled == 0 && path_made == 0 && stat == 0);
			informer_detach(inf);
		}
		assert_int_equal(purse.out, 0);
	}
	assert_true(whole);
}

TEST(several_handles_live_side_by_side)
{
	struct informer *inf[3];

	broker_fixture_start(fx);
	broker_fixture_pod(fx, "a");
	for (int i = 0; i < 3; i++)
		inf[i] = broker_fixture_attach(fx, i == 1 ? INFORMER_VERIFY : 0);
	assert_int_equal(broker_fixture_stats(fx).readers, 3);
	informer_detach(inf[1]);
	assert_int_equal(reader_get(inf[0], "default", "a"), 0);
	assert_int_equal(reader_get(inf[2], "default", "a"), 0);
	informer_detach(inf[0]);
	informer_detach(inf[2]);
	broker_fixture_wait_readers(fx, 0);
}
