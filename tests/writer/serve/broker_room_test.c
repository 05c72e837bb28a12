/* SPDX-License-Identifier: Apache-2.0 */
/* Refused users, silent connections and many readers leave room for root and for the next user. */
#include <poll.h>
#include <sys/resource.h>

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

static void
close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

/* A connection of a user without access is refused at once, before the HELLO, and takes no place. */
RUNNING(refused_users_take_no_place)
{
	int fds[4 * 17];

	for (unsigned i = 0; i < 4 * 17; i++)
		fds[i] = raw_connect_as(fx, STRANGER + i % 4);
	for (unsigned i = 0; i < 20; i++)
		raw_visit(fx);
	for (unsigned i = 0; i < 4 * 17; i++) {
		raw_is_refused(fds[i], REFUSED_PERMISSION, "--allow-uid 544");
	}
	assert_int_equal(broker_fixture_stats(fx).denied, 4 * 17);
	assert_int_equal(broker_fixture_stats(fx).pending, 0);
	close_all(fds, sizeof(fds) / sizeof(fds[0]));
}

/* Whoever allowed 65534 because the refusal names it would let in all users of other user namespaces. */
RUNNING(the_refusal_of_nobody_does_not_say_to_allow_it)
{
	int fd = raw_connect_as(fx, 65534);

	raw_is_refused(fd, REFUSED_PERMISSION, "any user outside of informerd's user namespace");
	close(fd);
}

/* A refused user gets the reason, whether it sends HELLO before, during or after the refusal. */
RUNNING(a_refused_user_gets_the_reason)
{
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
		raw_is_refused(fd, REFUSED_PERMISSION, "--allow-uid 54400");
		close(fd);
	}
}

/* Of the user with the most silent connections, the oldest gives way, and gets the reason. */
STARTED_BY_TEST(silent_connections_give_way)
{
	struct raw_answer a;
	int fds[100], one;

	allow_users(fx);
	fx->options.max_readers = 16;
	broker_fixture_start(fx);
	one = raw_connect_as(fx, users[3]);
	for (unsigned i = 0; i < 100; i++)
		fds[i] = raw_connect_as(fx, users[i % 2]);
	raw_visit(fx);
	raw_reader_free(raw_reader_as(fx, users[2]));
	assert_true(broker_fixture_stats(fx).pending <= 64);
	raw_is_refused(fds[0], REFUSED_BUSY, "it had not said what it wants");
	/* a user with one connection keeps it */
	raw_hello(one, 0);
	raw_hear(one, &a);
	assert_int_equal(a.u.head.type, MESSAGE_WELCOME);
	raw_close(&a);
	close(one);
	close_all(fds, 100);
}

/* Root's oldest connection gives way only when no other user has one. */
STARTED_BY_TEST(root_gives_way_last)
{
	struct raw_answer a;
	int fds[64], others[10];

	allow_users(fx);
	broker_fixture_start(fx);
	for (unsigned i = 0; i < 60; i++)
		fds[i] = raw_connect(fx);
	for (unsigned i = 0; i < 10; i++)
		others[i] = raw_connect_as(fx, users[i % 4]);
	raw_is_refused(others[0], REFUSED_BUSY, "others came");
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

/* Read the rest of a report. Returns the type of its last packet, or REFUSED if that found no room. */
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

/* Four reports wait for their readers. The oldest report of the user with the most makes way for the next. */
STARTED_BY_TEST(reports_that_wait_are_few)
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
		begins.fd = fds[i]; /* one after another, so that the oldest is known */
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

/*
 * Of 16 places 2 are kept for root. A user gets half of the rest, the next user half of what is left. The
 * fourth user still gets in, and root gets the kept places.
 */
STARTED_BY_TEST(each_user_leaves_room_for_the_next)
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
		fds[n] = raw_connect_as(fx, users[u]);
		raw_hello(fds[n], 0);
		raw_is_refused(fds[n], REFUSED_FULL, "raise access.maxReaders");
		close(fds[n]);
	}
	for (unsigned i = 0; i < 2; i++) {
		raw_attach(fx, &fds[n++], &a, 0);
		raw_close(&a);
	}
	assert_int_equal(broker_fixture_stats(fx).readers, 16);
	close_all(fds, n);
}

/* Without descriptors a connection is refused with the reason. Root has a reserve. Later all recovers. */
STARTED_BY_TEST(descriptors_are_kept)
{
	struct rlimit was, few;
	int fds[300], peers[3], fd, top;
	unsigned n = 0;

	allow_users(fx);
	broker_fixture_start(fx);
	raw_visit(fx);
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
	raw_is_refused(fd, REFUSED_FULL, "too many open files");
	close(fd);
	raw_visit(fx);
	broker_fixture_wait_readers(fx, 0);
	/* now none at all; peers have their ends already, so only the broker's come and go */
	for (unsigned i = 0; i < 3; i++)
		peers[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		fds[n++] = fd;
	for (unsigned i = 0; i < 3; i++) {
		raw_connect_with(fx, peers[i]);
		raw_is_refused(peers[i], REFUSED_FULL, "too many open files");
	}
	close_all(peers, 3);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	raw_visit(fx);
	close_all(fds, n);
}

/* Subscribe as often as it succeeds. Returns the number of queues, and their entries in all. */
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
 * Memory for queues is shared. A user gets smaller queues, then is refused with the reason, at half of it.
 * The next user gets some, and root what is kept for it. Memory that is given up is available again.
 */
STARTED_BY_TEST(queues_share_their_memory)
{
	struct raw_reader *greedy, *honest, *root;
	unsigned queues, entries;

	allow_users(fx);
	fx->options.queue_memory = 1u << 20;
	fx->options.max_readers = 16;
	broker_fixture_start(fx);
	greedy = raw_reader_as(fx, users[0]);
	entries = take_queues(greedy, SLOT_QUEUES, &queues);
	assert_in_range(queues, 8, SLOT_QUEUES - 1);
	assert_in_range(entries * sizeof(struct queue_entry), 100 << 10, 448 << 10);
	raw_reader_is_refused(greedy, queues, "pods", NULL, REFUSED_FULL, "raise events.maxQueueMemory");
	assert_in_range(broker_fixture_stats(fx).queue_bytes, 400 << 10, 448 << 10);
	honest = raw_reader_as(fx, users[1]);
	take_queues(honest, 8, &queues);
	assert_int_equal(queues, 8);
	root = raw_reader_new(fx);
	take_queues(root, 8, &queues);
	assert_int_equal(queues, 8);
	assert_true(broker_fixture_stats(fx).queue_bytes <= 1u << 20);
	assert_int_equal(broker_fixture_stats(fx).queues_refused, 2);
	raw_reader_free(greedy);
	broker_fixture_wait_readers(fx, 2);
	greedy = raw_reader_as(fx, users[0]);
	take_queues(greedy, 8, &queues);
	assert_int_equal(queues, 8);
	raw_reader_free(greedy);
	raw_reader_free(honest);
	raw_reader_free(root);
	broker_fixture_pass(fx, 1000);
	broker_fixture_until(fx, broker_fixture_stats(fx).queue_bytes == 0);
}
