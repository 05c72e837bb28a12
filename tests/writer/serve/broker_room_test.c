/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room at the broker: strangers, silent connections, many users and their queues leave room for root and for
 * whoever comes next.
 */
#include <fcntl.h>
#include <poll.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/raw_reader.h"

#define STRANGER 54400u
#define USER 54321u

static const uid_t users[] = {USER, USER + 1, USER + 2, USER + 3};

static void
allow_users(struct broker_fixture *fx)
{
	fx->options.allow_uids = users;
	fx->options.n_allow_uids = sizeof(users) / sizeof(users[0]);
}

/* The answer is a refusal with that in its sentence, then the hang-up. */
static void
assert_refusal(int fd, const struct raw_answer *a, enum refusal code, const char *part)
{
	struct raw_answer end;
	char text[300] = "";

	assert_int_equal(a->u.head.type, MESSAGE_REFUSED);
	assert_int_equal(a->u.refused.code, code);
	memcpy(text, a->u.bytes + sizeof(a->u.refused), a->u.refused.text_length);
	if (!strstr(text, part))
		print_message("%s\n", text);
	assert_non_null(strstr(text, part));
	raw_hear(fd, &end);
	assert_int_equal(end.length, 0);
}

static void
assert_root_gets_in(struct broker_fixture *fx)
{
	struct raw_answer a;
	int fd;

	raw_attach(fx, &fd, &a, 0);
	raw_close(&a);
	close(fd);
}

static void
close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

/* ---- connections ---- */

#define RUNNING(name)                                                                                        \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up_running, broker_fixture_tear_down, name)
#define TEST(name)                                                                                           \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up, broker_fixture_tear_down, name)

/* Connections of users who may not attach are told so at once, unasked, and take nobody's room. */
RUNNING(strangers_lock_nobody_out)
{
	int fds[4 * 17];
	struct raw_answer a;

	for (unsigned i = 0; i < 4 * 17; i++)
		fds[i] = raw_connect_as(fx, STRANGER + i % 4);
	for (unsigned i = 0; i < 20; i++)
		assert_root_gets_in(fx);
	for (unsigned i = 0; i < 4 * 17; i++) {
		raw_hear(fds[i], &a);
		assert_refusal(fds[i], &a, REFUSED_PERMISSION, "--allow-uid 544");
	}
	assert_int_equal(broker_fixture_stats(fx).denied, 4 * 17);
	assert_int_equal(broker_fixture_stats(fx).pending, 0);
	close_all(fds, sizeof(fds) / sizeof(fds[0]));
}

/* A stranger hears why, whenever he greets: before he was looked at, while, or after. */
RUNNING(a_stranger_hears_why)
{
	struct raw_answer a;

	for (unsigned i = 0; i < 300; i++) {
		struct message_hello hello = {
			.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_HELLO, sizeof(hello), 0},
			.layout_major = LAYOUT_MAJOR,
			.layout_minor = LAYOUT_MINOR};
		int fd = raw_connect_as(fx, STRANGER);

		if (i % 3 == 1)
			broker_fixture_turn(fx);
		for (unsigned k = 0; k < i % 5; k++)
			send(fd, &hello, sizeof(hello), MSG_NOSIGNAL);
		raw_hear(fd, &a);
		assert_refusal(fd, &a, REFUSED_PERMISSION, "--allow-uid 54400");
		close(fd);
	}
}

/* The library tells it too, though its greeting meets the hang-up. */
RUNNING(the_library_hears_why)
{
	struct informer_options options = {.size = sizeof(options), .socket_path = fx->socket};
	struct informer_status status = {.size = sizeof(status)};
	struct informer *inf;
	size_t length;
	char *text;

	close(raw_connect_as(fx, STRANGER)); /* skips without root */
	for (unsigned i = 0; i < 30; i++) {
		assert_int_equal(syscall(SYS_setresuid, -1, STRANGER, -1), 0);
		assert_int_equal(informer_attach(&options, &inf), 0);
		broker_fixture_wait_answer(inf);
		informer_status(inf, &status);
		assert_int_equal(informer_stat_json(inf, 60000, &text, &length), INFORMER_E_REFUSED);
		informer_detach(inf);
		assert_int_equal(syscall(SYS_setresuid, -1, 0, -1), 0);
		if (!strstr(status.reason, "--allow-uid 54400"))
			print_message("%s\n", status.reason);
		assert_non_null(strstr(status.reason, "--allow-uid 54400"));
	}
}

/*
 * Users who may attach, but say nothing, do not keep others out, whoever they are: the oldest of who has most
 * gives way, and is told.
 */
TEST(silent_connections_give_way)
{
	struct raw_answer a;
	int fds[100], one, fd;

	allow_users(fx);
	fx->options.max_readers = 16;
	broker_fixture_start(fx);
	one = raw_connect_as(fx, users[3]);
	for (unsigned i = 0; i < 100; i++)
		fds[i] = raw_connect_as(fx, users[i % 2]);
	assert_root_gets_in(fx);
	fd = raw_greet_as(fx, users[2], &a);
	assert_int_equal(a.u.head.type, MESSAGE_WELCOME);
	raw_close(&a);
	close(fd);
	assert_true(broker_fixture_stats(fx).pending <= 64);
	raw_hear(fds[0], &a);
	assert_refusal(fds[0], &a, REFUSED_BUSY, "it had not said what it wants");
	/* who has one only keeps it */
	raw_hello(one, 0);
	raw_hear(one, &a);
	assert_int_equal(a.u.head.type, MESSAGE_WELCOME);
	raw_close(&a);
	close(one);
	close_all(fds, 100);
}

/* Where nobody else is left to give way, root's oldest does; and never while there are others. */
TEST(root_gives_way_to_nobody_else)
{
	struct raw_answer a;
	int fds[64], others[10];

	allow_users(fx);
	broker_fixture_start(fx);
	for (unsigned i = 0; i < 60; i++)
		fds[i] = raw_connect(fx);
	for (unsigned i = 0; i < 10; i++)
		others[i] = raw_connect_as(fx, users[i % 4]);
	raw_hear(others[0], &a);
	assert_refusal(others[0], &a, REFUSED_BUSY, "others came");
	raw_hello(fds[0], 0);
	raw_hear(fds[0], &a);
	assert_int_equal(a.u.head.type, MESSAGE_WELCOME);
	raw_close(&a);
	close_all(fds, 60);
	close_all(others, 10);
}

static char *
make_large_report(void *context)
{
	char *text = malloc((2u << 20) + 1);

	(void)context;
	memset(text, 'x', 2u << 20);
	text[2u << 20] = '\0';
	return text;
}

/*
 * The rest of a report, or of what was sent of it; the type of the packet that ended it. Where so much was
 * sent that the refusal found no room, the end of the connection says it.
 */
static unsigned
take_report(int fd, size_t *ret_length)
{
	struct raw_answer a;

	*ret_length = 0;
	do {
		raw_hear(fd, &a);
		if (a.length <= 0)
			return MESSAGE_REFUSED;
		*ret_length += (size_t)a.length - sizeof(a.u.head);
	} while (a.u.head.type == MESSAGE_REPORT && a.u.head.more);
	return a.u.head.type;
}

/* Of reports that nobody takes four are kept: the oldest of who has most makes way for the next one. */
TEST(reports_that_wait_are_few)
{
	struct message_head head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_STAT, sizeof(head), 0};
	size_t length;
	int fds[9];

	allow_users(fx);
	fx->options.report = make_large_report;
	broker_fixture_start(fx);
	fds[0] = raw_connect_as(fx, users[1]);
	assert_int_equal(send(fds[0], &head, sizeof(head), 0), sizeof(head));
	for (unsigned i = 1; i < 9; i++) {
		struct pollfd begins = {.events = POLLIN};

		fds[i] = raw_connect_as(fx, users[0]);
		assert_int_equal(send(fds[i], &head, sizeof(head), 0), sizeof(head));
		begins.fd = fds[i]; /* one after another: who is the oldest is certain */
		assert_int_equal(poll(&begins, 1, -1), 1);
	}
	for (unsigned i = 1; i < 9; i++) {
		unsigned type = take_report(fds[i], &length);

		if (type == MESSAGE_REPORT)
			assert_int_equal(length, 2u << 20);
		else
			assert_int_equal(type, MESSAGE_REFUSED);
		assert_int_equal(type, i < 6 ? MESSAGE_REFUSED : MESSAGE_REPORT);
	}
	assert_int_equal(take_report(fds[0], &length), MESSAGE_REPORT);
	assert_int_equal(length, 2u << 20);
	close_all(fds, 9);
}

/* ---- readers ---- */

/*
 * Of 16 places, 2 are kept for root; one user gets half of the rest, the next half of what is left then, so
 * that the fourth user still gets in; and root gets what nobody else may have.
 */
TEST(each_user_leaves_room_for_the_next)
{
	static const unsigned expected[] = {7, 4, 2, 1};
	struct raw_answer a;
	int fds[16];
	unsigned n = 0;

	allow_users(fx);
	fx->options.max_readers = 16;
	broker_fixture_start(fx);
	for (unsigned u = 0; u < 4; u++) {
		for (unsigned i = 0; i < expected[u]; i++) {
			fds[n++] = raw_greet_as(fx, users[u], &a);
			assert_int_equal(a.u.head.type, MESSAGE_WELCOME);
			raw_close(&a);
		}
		fds[n] = raw_greet_as(fx, users[u], &a);
		assert_refusal(fds[n], &a, REFUSED_FULL, "raise access.maxReaders");
		close(fds[n]);
	}
	for (unsigned i = 0; i < 2; i++) {
		raw_attach(fx, &fds[n++], &a, 0);
		raw_close(&a);
	}
	assert_int_equal(broker_fixture_stats(fx).readers, 16);
	close_all(fds, n);
}

/* ---- descriptors ---- */

/*
 * Out of descriptors, a connection is refused in words; those kept for root are not given to others; and all
 * is well when there are some again.
 */
TEST(descriptors_are_kept)
{
	struct rlimit was, few;
	struct raw_answer a;
	int fds[300], peers[3], fd, top;
	unsigned n = 0;

	allow_users(fx);
	broker_fixture_start(fx);
	assert_root_gets_in(fx);
	broker_fixture_wait_readers(fx, 0);
	fds[n++] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	/* both ends of each connection are this process's */
	top = fds[0];
	few = was;
	few.rlim_cur = (rlim_t)top + 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 && fd < top + 80)
		fds[n++] = fd;
	close(fd);
	fd = raw_connect_as(fx, users[1]);
	raw_hear(fd, &a);
	assert_refusal(fd, &a, REFUSED_FULL, "too many open files");
	close(fd);
	assert_root_gets_in(fx);
	broker_fixture_wait_readers(fx, 0);
	/* now none at all: peers have their ends from before, so that only the broker's come and go */
	for (unsigned i = 0; i < 3; i++)
		peers[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		fds[n++] = fd;
	for (unsigned i = 0; i < 3; i++) {
		raw_connect_with(fx, peers[i]);
		raw_hear(peers[i], &a);
		assert_refusal(peers[i], &a, REFUSED_FULL, "too many open files");
	}
	close_all(peers, 3);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_root_gets_in(fx);
	close_all(fds, n);
}

/* ---- queues ---- */

static struct raw_reader *
reader_as(struct broker_fixture *fx, uid_t uid)
{
	struct raw_reader *r = calloc(1, sizeof(*r));

	r->fd = raw_greet_as(fx, uid, &r->answer);
	assert_int_equal(r->answer.u.head.type, MESSAGE_WELCOME);
	r->slot = test_map_slot(r->answer.fds[1]);
	r->eventfd = r->answer.fds[2];
	close(r->answer.fds[0]);
	close(r->answer.fds[1]);
	return r;
}

/* As many queues as it gets; how many entries they have in all. */
static unsigned
take_queues(struct raw_reader *r, unsigned most, unsigned *ret_queues)
{
	unsigned entries = 0;

	*ret_queues = 0;
	for (unsigned i = 0; i < most; i++) {
		raw_subscribe(r->fd, i, "pods", NULL, NULL);
		raw_hear(r->fd, &r->answer);
		if (r->answer.u.head.type != MESSAGE_SUBSCRIBED)
			break;
		entries += r->answer.u.subscribed.entries;
		raw_close(&r->answer);
		++*ret_queues;
	}
	return entries;
}

/*
 * Memory for queues is shared out: a user gets smaller queues and then none, in words, when half is his; the
 * next one gets some all the same, and root what is kept for it. What is given up can be had again.
 */
TEST(queues_share_their_memory)
{
	struct raw_reader *greedy, *honest, *root;
	unsigned queues, entries;

	allow_users(fx);
	fx->options.queue_memory = 1u << 20;
	fx->options.max_readers = 16;
	broker_fixture_start(fx);
	greedy = reader_as(fx, users[0]);
	entries = take_queues(greedy, SLOT_QUEUES, &queues);
	assert_in_range(queues, 8, SLOT_QUEUES - 1);
	assert_in_range(entries * sizeof(struct queue_entry), 100 << 10, 448 << 10);
	raw_reader_is_refused(greedy, queues, "pods", NULL, REFUSED_FULL, "raise events.maxQueueMemory");
	assert_in_range(broker_fixture_stats(fx).queue_bytes, 400 << 10, 448 << 10);
	honest = reader_as(fx, users[1]);
	take_queues(honest, 8, &queues);
	assert_int_equal(queues, 8);
	root = raw_reader_new(fx);
	take_queues(root, 8, &queues);
	assert_int_equal(queues, 8);
	assert_true(broker_fixture_stats(fx).queue_bytes <= 1u << 20);
	assert_int_equal(broker_fixture_stats(fx).queues_refused, 2);
	raw_reader_free(greedy);
	broker_fixture_wait_readers(fx, 2);
	greedy = reader_as(fx, users[0]);
	take_queues(greedy, 8, &queues);
	assert_int_equal(queues, 8);
	raw_reader_free(greedy);
	raw_reader_free(honest);
	raw_reader_free(root);
	broker_fixture_pass(fx, 1000);
	broker_fixture_until(fx, broker_fixture_stats(fx).queue_bytes == 0);
}

/*
 * A queue that ends gives its memory back, whoever keeps its descriptor: a reader that subscribes the same
 * number again and again, and one that comes and goes, keep the head of each.
 */
RUNNING(kept_descriptors_keep_no_memory)
{
	int kept[40];
	struct stat st;

	for (unsigned readers = 0, n = 0; readers < 4; readers++) {
		struct raw_reader *r = raw_reader_new(fx);

		for (unsigned i = 0; i < 10; i++, n++) {
			raw_subscribe(r->fd, 3, "pods", NULL, NULL);
			raw_hear(r->fd, &r->answer);
			assert_int_equal(r->answer.u.head.type, MESSAGE_SUBSCRIBED);
			kept[n] = r->answer.fds[0];
			assert_int_equal(fstat(kept[n], &st), 0);
			assert_true((size_t)st.st_blocks * 512 >= queue_bytes(QUEUE_ENTRIES_DEFAULT));
		}
		raw_reader_free(r);
	}
	broker_fixture_wait_readers(fx, 0);
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(fstat(kept[i], &st), 0);
		assert_in_range(st.st_blocks * 512, 0, QUEUE_ENTRIES_OFFSET);
	}
	close_all(kept, 40);
}
