/* SPDX-License-Identifier: Apache-2.0 */
/* The broker: admission, what a reader gets, readers that die, and readers that misbehave. */
#include <dirent.h>
#include <grp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/un.h>

#include "shm-layout/protocol.h"
#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/raw_reader.h"
#include "writer/daemon/lock.h"

#define LOOK_MS 1000u /* interval at which the broker checks dropped readers */
#define BARRED_MS 5000u
#define DEADLINE_MS 5000u
#define OTHER_UID 54321
#define OTHER_GID 54322

static void
assert_refused(int fd, enum refusal code, const char *part)
{
	raw_is_refused(fd, code, part);
	close(fd);
}

/* Run a function in a child as another user. Returns its exit code. Skips without root. */
static int
as_another_user(int (*body)(void *context), void *context, gid_t extra_group)
{
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		print_message("SKIP: only root can become another user\n");
		skip();
	}
	pid = fork();
	if (pid == 0) {
		if (setgroups(extra_group ? 1 : 0, &extra_group) < 0 || setgid(OTHER_GID) < 0 ||
		    setuid(OTHER_UID) < 0)
			_exit(99);
		_exit(body(context));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- what a reader gets ---- */

#define TEST(name) TEST_CASE_IN(broker_fixture_set_up, broker_fixture_tear_down, name)

/* A reader gets arena, slot and eventfd. It can neither map the arena writable nor make it so. */
RUNNING(the_arena_is_handed_out_read_only)
{
	struct raw_answer a;
	void *p;
	int fd;

	raw_attach(fx, &fd, &a, 0);
	assert_int_equal(fcntl(a.fds[0], F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(a.u.welcome.has_keys, 0);
	for (size_t i = 0; i < sizeof(a.u.welcome.keys); i++)
		assert_int_equal(a.u.welcome.keys[i], 0);
	p = mmap(NULL, HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, a.fds[0], 0);
	assert_ptr_equal(p, MAP_FAILED);
	assert_int_equal(errno, EACCES);
	p = mmap(NULL, HEADER_BYTES, PROT_READ, MAP_SHARED, a.fds[0], 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p, HEADER_BYTES, PROT_READ | PROT_WRITE), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(write(a.fds[0], "x", 1), -1);
	assert_int_equal(ftruncate(a.fds[0], 0), -1);
	assert_int_equal(fallocate(a.fds[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
	munmap(p, HEADER_BYTES);
	raw_close(&a);
	close(fd);
}

static int
reopen_for_writing(void *context)
{
	int fds[2] = {((int *)context)[0], ((int *)context)[1]};
	char path[64];
	int bad = 0;

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[i]);
		bad += open(path, O_RDWR | O_CLOEXEC) >= 0 || errno != EACCES;
		bad += fchmod(fds[i], 0666) == 0;
	}
	return bad;
}

/* Another user cannot open the arena for writing by way of /proc. */
RUNNING(another_user_cannot_reopen_the_arena_for_writing)
{
	struct raw_answer a;
	int fd, r;

	raw_attach(fx, &fd, &a, 0);
	r = as_another_user(reopen_for_writing, a.fds, 0);
	assert_int_equal(r, 0);
	raw_close(&a);
	close(fd);
}

RUNNING(keys_are_given_on_request)
{
	struct raw_answer a;
	int fd;

	raw_attach(fx, &fd, &a, HELLO_WANT_KEYS);
	assert_int_equal(a.u.welcome.has_keys, 1);
	assert_memory_equal(a.u.welcome.keys, &fx->store->arena->keys, sizeof(a.u.welcome.keys));
	raw_close(&a);
	close(fd);
}

/* ---- admission ---- */

static int
attach_as_other(void *context)
{
	struct broker_fixture *fx = context;
	struct informer_options options = {.size = sizeof(options), .socket_path = fx->socket};
	struct informer_status status = {.size = sizeof(status)};
	struct informer *inf;
	int r = informer_attach(&options, &inf);

	if (r < 0)
		return 90;
	broker_fixture_wait_answer(inf);
	informer_status(inf, &status);
	r = status.attached ? 0 : strstr(status.reason, "--allow-uid 54321") ? 1 : 91;
	informer_detach(inf);
	return r;
}

/* The refusal names the flag that would admit the user. Uid, group or a supplementary group admit it. */
TEST(admission_goes_by_user_and_group)
{
	static const uid_t uids[] = {1, OTHER_UID};
	static const gid_t gids[] = {2, OTHER_GID}, more_gids[] = {77};
	static const struct {
		struct broker_options options;
		gid_t extra;
		int result;
	} cases[] = {
		{{.socket_path = NULL}, 0, 1},
		{{.allow_uids = uids, .n_allow_uids = 2}, 0, 0},
		{{.allow_uids = uids, .n_allow_uids = 1}, 0, 1},
		{{.allow_gids = gids, .n_allow_gids = 2}, 0, 0},
		{{.allow_gids = gids, .n_allow_gids = 1}, 0, 1},
		{{.allow_gids = more_gids, .n_allow_gids = 1}, 77, 0},
		{{.allow_gids = more_gids, .n_allow_gids = 1}, 78, 1},
	};
	struct broker_fixture *fx = *state;
	int r;

	assert_int_equal(chmod(fx->directory, 0755), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fx->options.allow_uids = cases[i].options.allow_uids;
		fx->options.n_allow_uids = cases[i].options.n_allow_uids;
		fx->options.allow_gids = cases[i].options.allow_gids;
		fx->options.n_allow_gids = cases[i].options.n_allow_gids;
		broker_fixture_start(fx);
		r = as_another_user(attach_as_other, fx, cases[i].extra);
		assert_int_equal(r, cases[i].result);
		broker_fixture_stop(fx);
	}
}

/* The reader beyond the limit is refused with the reason. A reader that leaves makes room. */
RUNNING(readers_are_limited)
{
	struct raw_answer a[6];
	int fds[6], fd;

	for (int i = 0; i < 6; i++)
		raw_attach(fx, &fds[i], &a[i], 0);
	fd = raw_connect(fx);
	raw_hello(fd, 0);
	assert_refused(fd, REFUSED_FULL, "6 are attached");
	raw_close(&a[3]);
	close(fds[3]);
	broker_fixture_wait_readers(fx, 5);
	fd = raw_connect(fx);
	raw_hello(fd, 0);
	raw_hear(fd, &a[3]);
	assert_int_equal(a[3].u.head.type, MESSAGE_WELCOME);
	raw_close(&a[3]);
	close(fd);
	for (int i = 0; i < 6; i++) {
		if (i == 3)
			continue;
		raw_close(&a[i]);
		close(fds[i]);
	}
}

static void
let_the_arena_have_minor_2(struct broker_fixture *fx, void *context)
{
	(void)context;
	fx->store->arena->header->layout_minor = 2;
}

/* Send HELLO from a reader of this layout. refused: the expected message, or NULL if it is admitted. */
static void
assert_hello(struct broker_fixture *fx, uint16_t version, uint16_t major, uint16_t minor, const char *refused)
{
	struct message_hello hello = {.head = {PROTOCOL_MAGIC, version, MESSAGE_HELLO, sizeof(hello), 0},
				      .layout_major = major,
				      .layout_minor = minor};
	struct raw_answer a;
	int fd = raw_connect(fx);

	send(fd, &hello, sizeof(hello), 0);
	if (refused) {
		assert_refused(fd, REFUSED_LAYOUT, refused);
		return;
	}
	raw_hear(fd, &a);
	assert_int_equal(a.u.head.type, MESSAGE_WELCOME);
	raw_close(&a);
	close(fd);
}

/* The refusal names both layouts, and the side that needs an upgrade. */
RUNNING(a_reader_that_may_not_read_the_arena_is_refused)
{
	broker_fixture_do(fx, let_the_arena_have_minor_2, NULL);
	assert_hello(fx, PROTOCOL_VERSION, 1, 2, NULL);
	assert_hello(fx, PROTOCOL_VERSION, 1, 3, NULL);
	assert_hello(fx, PROTOCOL_VERSION, 1, 1,
		     "it has layout 1.2, this program knows 1.1: upgrade the program");
	assert_hello(fx, PROTOCOL_VERSION, 2, 0,
		     "it has layout 1.2, this program knows 2.0: upgrade informerd");
	assert_hello(fx, PROTOCOL_VERSION, 0, 9, "upgrade the program");
	assert_hello(fx, PROTOCOL_VERSION + 1, 1, 2, "protocol version");
}

/* ---- clients that die ---- */

/* Count the epochs that a reader holds back, on the loop's thread. */
static void
held_epochs(struct broker_fixture *fx, void *context)
{
	uint64_t epoch = store_epoch(fx->store->store);

	*(uint64_t *)context = epoch - pins_horizon(fx->store->pins, epoch);
}

/* kill -9 of a reader with a pin frees its slot and its pin. */
RUNNING(a_killed_reader_gives_its_slot_back)
{
	int ready[2], status;
	uint64_t held = 0;
	pid_t pid;

	broker_fixture_pod(fx, "a");
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct informer *inf = broker_fixture_attach(fx, 0);
		struct informer_snapshot snap;

		if (informer_begin(inf, &snap) == 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &status, 1), 1);
	broker_fixture_wait_readers(fx, 1);
	broker_fixture_pod(fx, "b");
	broker_fixture_do(fx, held_epochs, &held);
	assert_true(held > 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	broker_fixture_pass(fx, LOOK_MS);
	broker_fixture_wait_readers(fx, 0);
	broker_fixture_do(fx, held_epochs, &held);
	assert_int_equal(held, 0);
	close(ready[0]);
	close(ready[1]);
}

/* A dead reader whose child keeps the connection open is noticed by its pidfd. */
RUNNING(a_dead_reader_is_noticed_though_its_child_lives)
{
	int ready[2], status;
	pid_t pid, child = 0;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct raw_answer a;
		int fd;

		raw_attach(fx, &fd, &a, 0);
		child = fork();
		if (child == 0) {
			pause();
			_exit(0);
		}
		status = write(ready[1], &child, sizeof(child)) == sizeof(child);
		pause();
		_exit(status);
	}
	assert_int_equal(read(ready[0], &child, sizeof(child)), sizeof(child));
	broker_fixture_wait_readers(fx, 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(kill(child, 0), 0);
	broker_fixture_wait_readers(fx, 0);
	kill(child, SIGKILL);
	close(ready[0]);
	close(ready[1]);
}

/* ---- clients that misbehave ---- */

/* Garbage is refused, or ends the connection, and other readers notice nothing. */
RUNNING(garbage_is_refused)
{
	struct raw_answer honest, a;
	char noise[2000] = {0};
	int good, fd;

	raw_attach(fx, &good, &honest, 0);
	srand(3);
	for (int i = 0; i < 300; i++) {
		size_t n = (size_t)rand() % sizeof(noise) + 1;
		struct message_head *head = (struct message_head *)noise;

		for (size_t k = 0; k < n; k++)
			noise[k] = (char)rand();
		if (i % 2 && n >= sizeof(*head))
			*head = (struct message_head){PROTOCOL_MAGIC, PROTOCOL_VERSION,
						      (uint16_t)(rand() % 9),
						      i % 4 == 1 ? (uint32_t)n : (uint32_t)rand(), 0};
		if (i % 2 && head->type == MESSAGE_STAT)
			head->type = MESSAGE_REPORT;
		fd = raw_connect(fx);
		send(fd, noise, n, MSG_NOSIGNAL);
		raw_hear(fd, &a);
		assert_true(a.length == 0 || a.u.head.type == MESSAGE_REFUSED ||
			    a.u.head.type == MESSAGE_WELCOME);
		raw_close(&a);
		close(fd);
	}
	fd = raw_connect(fx);
	send(fd, "", 0, MSG_NOSIGNAL);
	raw_hear(fd, &a);
	assert_int_equal(a.length, 0);
	close(fd);
	broker_fixture_wait_readers(fx, 1);
	raw_close(&honest);
	close(good);
}

static int
descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Descriptors that a client sends do not stay open in the daemon. Newer kernels refuse them. */
TEST(descriptors_that_are_sent_are_dropped)
{
	struct message_head head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_STAT, sizeof(head), 0};
	struct broker_fixture *fx = *state;
	int passed[50], fd, before, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(passed))];
	} control = {0};
	struct iovec io = {&head, sizeof(head)};
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	struct raw_answer a;

	for (int i = 0; i < 50; i++)
		passed[i] = null;
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(passed));
	memcpy(CMSG_DATA(&control.head), passed, sizeof(passed));
	broker_fixture_start(fx);
	fd = raw_connect(fx);
	assert_int_equal(send(fd, &head, sizeof(head), 0), sizeof(head));
	raw_hear(fd, &a);
	before = descriptors();
	for (int i = 0; i < 10; i++) {
		if (sendmsg(fd, &message, MSG_NOSIGNAL) < 0) {
			assert_int_equal(errno, EPERM);
			assert_int_equal(send(fd, &head, sizeof(head), MSG_NOSIGNAL), sizeof(head));
		}
		raw_hear(fd, &a);
		assert_int_equal(a.u.head.type, MESSAGE_REPORT);
	}
	assert_int_equal(descriptors(), before);
	close(fd);
	close(null);
}

/* A connection without a HELLO is ended after its timeout. */
TEST(a_silent_connection_is_ended)
{
	struct broker_fixture *fx = *state;
	struct raw_answer a;
	int fd;

	test_clock_stop();
	broker_fixture_start(fx);
	fd = raw_connect(fx);
	broker_fixture_until(fx, broker_fixture_stats(fx).pending == 1);
	broker_fixture_pass(fx, DEADLINE_MS - 1);
	assert_int_equal(broker_fixture_stats(fx).dropped, 0);
	broker_fixture_pass(fx, 1);
	raw_hear(fd, &a);
	assert_int_equal(a.length, 0);
	assert_int_equal(broker_fixture_stats(fx).dropped, 1);
	close(fd);
}

/* The report lists readers with pins and lag. Their names are escaped. */
RUNNING(the_report_lists_readers)
{
	struct informer_snapshot snap;
	struct informer *inf;
	struct raw_answer a;
	cJSON *report, *r;
	size_t length;
	char *text;
	int fd;

	broker_fixture_pod(fx, "a");
	raw_attach(fx, &fd, &a, 0);
	inf = broker_fixture_attach(fx, 0);
	assert_int_equal(informer_begin(inf, &snap), 0);
	broker_fixture_pod(fx, "b");
	broker_fixture_pod(fx, "c");
	assert_int_equal(informer_stat_json(inf, 60000, &text, &length), 0);
	report = cJSON_Parse(text);
	assert_non_null(report);
	assert_int_equal(cJSON_GetArraySize(report), 2);
	cJSON_ArrayForEach(r, report) {
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(r, "name"));

		assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(r, "pid")), getpid());
		if (strcmp(name, "test") == 0) {
			assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(r, "pins")), 1);
			assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(r, "lag_epochs")), 2);
		} else {
			assert_string_equal(name, "raw ?[31m client");
			assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(r, "pins")), 0);
		}
	}
	cJSON_Delete(report);
	informer_free(inf, text);
	informer_end(&snap);
	informer_detach(inf);
	raw_close(&a);
	close(fd);
}

/* ---- dropped readers ---- */

/* An attached reader with a pin sends garbage, and is dropped. */
static struct raw_reader *
drop_one_that_reads(struct broker_fixture *fx, struct pin_cell **ret_cell)
{
	struct raw_reader *r = raw_reader_new(fx);
	uint64_t held = 0;

	*ret_cell = slot_claim(r->slot, 7);
	broker_fixture_pod(fx, "b");
	send(r->fd, "nonsense", 8, 0);
	raw_hear(r->fd, &r->answer);
	assert_int_equal(r->answer.length, 0);
	assert_true(slot_is_closed(r->slot));
	broker_fixture_pod(fx, "c");
	broker_fixture_do(fx, held_epochs, &held);
	assert_int_equal(held, 2);
	assert_int_equal(broker_fixture_stats(fx).readers, 1);
	assert_int_equal(broker_fixture_stats(fx).dropped, 1);
	return r;
}

static void
assert_it_goes(struct broker_fixture *fx)
{
	uint64_t held = 0;

	broker_fixture_pass(fx, LOOK_MS);
	broker_fixture_wait_readers(fx, 0);
	broker_fixture_do(fx, held_epochs, &held);
	assert_int_equal(held, 0);
}

/* A dropped reader keeps slot, pin and place while it reads, also in the report. */
TEST(a_dropped_reader_keeps_its_place_while_it_reads)
{
	struct broker_fixture *fx = *state;
	struct raw_reader *r;
	struct informer *inf;
	struct pin_cell *cell;
	cJSON *report, *first;
	size_t length;
	char *text;

	fx->options.max_readers = 1;
	broker_fixture_start(fx);
	r = drop_one_that_reads(fx, &cell);
	inf = broker_fixture_attach(fx, 0);
	assert_int_equal(broker_fixture_stats(fx).readers, 1);
	assert_int_equal(informer_stat_json(inf, 60000, &text, &length), 0);
	report = cJSON_Parse(text);
	assert_int_equal(cJSON_GetArraySize(report), 1);
	first = cJSON_GetArrayItem(report, 0);
	assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(first, "pins")), 1);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(first, "dropped")));
	cJSON_Delete(report);
	informer_free(inf, text);
	informer_detach(inf);
	slot_unpin(cell);
	assert_it_goes(fx);
	raw_reader_free(r);
}

RUNNING(a_dropped_reader_that_hangs_up_is_gone)
{
	struct pin_cell *cell;
	struct raw_reader *r;

	r = drop_one_that_reads(fx, &cell);
	send(r->fd, "more", 4, MSG_NOSIGNAL);
	shutdown(r->fd, SHUT_RDWR);
	assert_it_goes(fx);
	raw_reader_free(r);
}

/* ---- revoked readers ---- */

static void
revoke_slot(struct broker_fixture *fx, void *slot)
{
	pins_close(fx->store->pins, *(const unsigned *)slot);
	broker_revoke(fx->broker, *(const unsigned *)slot, "it held a snapshot for 61 s");
}

static int
is_let_in(void *context)
{
	struct broker_fixture *fx = context;
	struct raw_answer a;
	int fd = raw_connect(fx);

	raw_hello(fd, 0);
	raw_hear(fd, &a);
	return a.u.head.type != MESSAGE_WELCOME;
}

/*
 * A revoked reader gets the reason, and is dropped. Its place stays taken while it reads. Its process is not
 * admitted meanwhile, nor for some time after; other processes are.
 */
TEST(a_revoked_process_is_kept_out_for_a_while)
{
	struct broker_fixture *fx = *state;
	struct raw_answer a = {0};
	struct pin_cell *cell;
	struct raw_reader *r;
	unsigned slot = 0;
	pid_t child;
	int fd, status;

	test_clock_stop();
	broker_fixture_start(fx);
	r = raw_reader_new(fx);
	cell = slot_claim(r->slot, 7);
	broker_fixture_do(fx, revoke_slot, &slot);
	broker_fixture_do(fx, revoke_slot, &slot); /* once is enough */
	assert_refused(dup(r->fd), REFUSED_BUSY, "revoked: it held a snapshot for 61 s");
	assert_int_equal(broker_fixture_stats(fx).readers, 1);
	assert_int_equal(broker_fixture_stats(fx).revoked, 1);

	fd = raw_connect(fx);
	raw_hello(fd, 0);
	assert_refused(fd, REFUSED_BUSY, "still has the snapshot open");
	child = fork();
	if (child == 0)
		_exit(is_let_in(fx));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);

	slot_unpin(cell);
	assert_it_goes(fx);
	broker_fixture_pass(fx, BARRED_MS - LOOK_MS - 1);
	fd = raw_connect(fx);
	raw_hello(fd, 0);
	assert_refused(fd, REFUSED_BUSY, "revoked a moment ago");
	broker_fixture_pass(fx, 1);
	raw_attach(fx, &fd, &a, 0);
	raw_close(&a);
	close(fd);
	raw_reader_free(r);
}

/* A revoked reader that reads no more is gone at once, and kept out nevertheless. */
TEST(a_revoked_reader_without_a_pin_is_gone)
{
	struct broker_fixture *fx = *state;
	struct raw_reader *r;
	unsigned slot = 0;
	int fd;

	fx->options.barred_ms = 3600000;
	broker_fixture_start(fx);
	r = raw_reader_new(fx);
	broker_fixture_do(fx, revoke_slot, &slot);
	assert_it_goes(fx);
	assert_refused(dup(r->fd), REFUSED_BUSY, "revoked: it held");
	fd = raw_connect(fx);
	raw_hello(fd, 0);
	assert_refused(fd, REFUSED_BUSY, "revoked a moment ago");
	raw_reader_free(r);
}

/* The same pid of another user is another process: a pid may be used again. */
TEST(a_process_of_another_user_is_not_kept_out)
{
	static const uid_t users[] = {54321};
	struct broker_fixture *fx = *state;
	struct raw_answer a = {0};
	struct raw_reader *r;
	unsigned slot = 0;
	int fd;

	fx->options.barred_ms = 3600000;
	fx->options.allow_uids = users;
	fx->options.n_allow_uids = 1;
	broker_fixture_start(fx);
	r = raw_reader_new(fx);
	broker_fixture_do(fx, revoke_slot, &slot);
	fd = raw_connect_as(fx, users[0]); /* skips without root */
	raw_hello(fd, 0);
	raw_hear(fd, &a);
	assert_int_equal(a.u.head.type, MESSAGE_WELCOME);
	raw_close(&a);
	close(fd);
	raw_reader_free(r);
}

static void
revoke_and_change(struct broker_fixture *fx, void *slot)
{
	revoke_slot(fx, slot);
	assert_int_equal(store_fixture_putf(fx->store, "{\"metadata\":{\"name\":\"late\",\"namespace\":\"d\","
							"\"uid\":\"late\"}}"),
			 0);
	assert_int_equal(store_commit(fx->store->store), 0);
}

/* A revoked reader's queues get no later commit: nothing would keep its objects. */
RUNNING(a_revoked_readers_queues_take_no_more)
{
	const struct queue *q;
	struct raw_reader *r;
	unsigned slot = 0;
	uint64_t head;

	r = raw_reader_new(fx);
	slot_claim(r->slot, 7);
	q = raw_reader_subscribe(r, 0, "pods", NULL, NULL);
	broker_fixture_pod(fx, "b");
	head = atomic_load(&q->head);
	assert_true(head > 0);
	broker_fixture_do(fx, revoke_and_change, &slot);
	assert_int_equal(atomic_load(&q->head), head);
	raw_unmap_queue(q);
	raw_reader_free(r);
}

RUNNING(a_broker_ends_beside_a_dropped_reader)
{
	struct pin_cell *cell;
	struct raw_reader *r;

	r = drop_one_that_reads(fx, &cell);
	broker_fixture_stop(fx);
	raw_reader_free(r);
}

/* ---- the socket and its lock ---- */

/* Lock and broker name a path that does not fit a socket address, with both lengths. */
TEST(a_path_too_long_is_refused)
{
	struct broker_fixture *fx = *state;
	struct broker_options options = fx->options;
	struct lock lock;
	struct broker *broker;
	char path[200], *error = NULL;
	uv_loop_t loop;

	memset(path, 'p', sizeof(path));
	path[0] = '/';
	path[150] = '\0';
	options.socket_path = path;
	uv_loop_init(&loop);
	assert_int_equal(broker_new(&loop, &options, &broker, &error), -ENAMETOOLONG);
	assert_non_null(strstr(error, "150 bytes"));
	free(error);
	error = NULL;
	assert_int_equal(lock_take(path, &lock, &error), -ENAMETOOLONG);
	free(error);
	assert_int_equal(uv_loop_close(&loop), 0);
}

/* The socket of a dead writer is replaced. Any other file is left alone. */
TEST(a_stale_socket_is_replaced_and_nothing_else)
{
	struct broker_fixture *fx = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct broker *broker;
	char *error = NULL;
	uv_loop_t loop;
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fx->socket);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	broker_fixture_start(fx);
	close(raw_connect(fx));
	assert_int_equal(stat(fx->socket, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	broker_fixture_stop(fx);
	assert_int_equal(stat(fx->socket, &st), -1);
	fd = open(fx->socket, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	uv_loop_init(&loop);
	assert_int_equal(broker_new(&loop, &fx->options, &broker, &error), -EEXIST);
	assert_non_null(strstr(error, "no socket"));
	free(error);
	uv_loop_close(&loop);
	assert_int_equal(stat(fx->socket, &st), 0);
}
