/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ration of the writer's time: a user who asks without pause is heard less, and nobody else is; a turn of
 * the loop hears few; and who only connects is not let in without end.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/raw_reader.h"

#define USER 54321u
#define COST_NS 2000000u /* of one report */
#define ASKED 100u
#define AT_ONCE 16u
#define FLOOD_NS 1500000000u

static const uid_t users[] = {USER, USER + 1};

static unsigned reports, reports_in_a_turn; /* the loop's */

static void
on_turn(uv_prepare_t *turn)
{
	(void)turn;
	reports = 0;
}

static char *
make_dear_report(void *context)
{
	uint64_t end = time_ns(CLOCK_THREAD_CPUTIME_ID) + COST_NS;

	(void)context;
	while (time_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	if (++reports > reports_in_a_turn)
		reports_in_a_turn = reports;
	return strdup("{}");
}

static void
start(struct broker_fixture *fx)
{
	fx->options.allow_uids = users;
	fx->options.n_allow_uids = 2;
	fx->options.report = make_dear_report;
	broker_fixture_start(fx);
}

static void
ask(int fd)
{
	struct message_head head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_STAT, sizeof(head), 0};

	assert_int_equal(send(fd, &head, sizeof(head), MSG_NOSIGNAL), sizeof(head));
}

static void
take_answers(int fd, unsigned count)
{
	struct raw_answer a;

	for (unsigned i = 0; i < count; i++) {
		raw_hear(fd, &a);
		assert_int_equal(a.u.head.type, MESSAGE_REPORT);
	}
}

/*
 * What a user asks takes a tenth of the time, over all his connections: it is all answered, and all the while
 * others are heard at once.
 */
static void
who_asks_without_pause_waits(void **state)
{
	struct broker_fixture *fx = *state;
	int fds[4], root, other;
	uint64_t begin;

	start(fx);
	for (unsigned i = 0; i < 4; i++)
		fds[i] = raw_connect_as(fx, users[0]);
	root = raw_connect(fx);
	other = raw_connect_as(fx, users[1]);
	begin = time_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < ASKED; i++)
		ask(fds[i % 4]);
	ask(root);
	take_answers(root, 1);
	ask(other);
	take_answers(other, 1);
	for (unsigned i = 0; i < 4; i++)
		take_answers(fds[i], ASKED / 4);
	/* 200 ms of work, of which 20 ms at once, and the rest at a tenth of the time; other work only delays
	 * it */
	assert_true(time_ns(CLOCK_MONOTONIC) - begin > 1500000000u);
	assert_true(broker_fixture_stats(fx).paused > 0);
	/* who waits is not looked at meanwhile: pauses of all four end with something that is heard */
	assert_true(broker_fixture_stats(fx).paused <= 4ull * (ASKED + 1));
	for (unsigned i = 0; i < 4; i++)
		close(fds[i]);
	close(root);
	close(other);
}

/* Who hangs up while he is not heard is gone at once, with what he still had to say. */
static void
who_hangs_up_while_he_waits_is_gone(void **state)
{
	struct broker_fixture *fx = *state;
	int fd;

	start(fx);
	fd = raw_connect_as(fx, users[0]);
	for (unsigned i = 0; i < ASKED; i++)
		ask(fd);
	while (broker_fixture_stats(fx).paused == 0)
		usleep(1000);
	close(fd);
	while (broker_fixture_stats(fx).pending > 0)
		usleep(1000);
}

/* The broker may end while somebody is not heard. */
static void
a_broker_ends_beside_one_that_waits(void **state)
{
	struct broker_fixture *fx = *state;
	int fd;

	start(fx);
	fd = raw_connect_as(fx, users[0]);
	for (unsigned i = 0; i < ASKED; i++)
		ask(fd);
	while (broker_fixture_stats(fx).paused == 0)
		usleep(1000);
	broker_fixture_stop(fx);
	close(fd);
}

struct asking {
	uv_prepare_t turn;
	int fds[AT_ONCE];
};

/* On the loop's thread: it finds all of it at once. */
static void
ask_at_once(struct broker_fixture *fx, void *context)
{
	struct asking *all = context;

	uv_prepare_init(&fx->loop, &all->turn);
	uv_prepare_start(&all->turn, on_turn);
	for (unsigned i = 0; i < AT_ONCE; i++)
		ask(all->fds[i]);
}

static void
end_asking(struct broker_fixture *fx, void *context)
{
	struct asking *all = context;

	(void)fx;
	uv_close((uv_handle_t *)&all->turn, NULL);
}

/* The loop does not do all of it before it looks at anything else, though the user has time left. */
static void
a_turn_hears_one_that_is_dear(void **state)
{
	static struct asking all;
	struct broker_fixture *fx = *state;

	start(fx);
	for (unsigned i = 0; i < AT_ONCE; i++)
		all.fds[i] = raw_connect(fx);
	while (broker_fixture_stats(fx).pending < AT_ONCE)
		usleep(1000);
	reports_in_a_turn = 0;
	broker_fixture_do(fx, ask_at_once, &all);
	for (unsigned i = 0; i < AT_ONCE; i++)
		take_answers(all.fds[i], 1);
	broker_fixture_do(fx, end_asking, &all);
	assert_int_equal(broker_fixture_stats(fx).paused, 0);
	assert_int_equal(reports_in_a_turn, 1);
	for (unsigned i = 0; i < AT_ONCE; i++)
		close(all.fds[i]);
}

/* Connects and goes, until it is ended. */
static void
flood(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memcpy(address.sun_path, path, strlen(path) + 1);
	for (;;) {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

		if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
			_exit(1);
		close(fd);
	}
}

static uint64_t
loop_ns(const struct broker_fixture *fx)
{
	struct timespec t;
	clockid_t clock;

	assert_int_equal(pthread_getcpuclockid(fx->thread, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* It costs the loop little, whoever it is; others are let in behind it. */
static void
who_only_connects_waits(void **state)
{
	struct broker_fixture *fx = *state;
	uint64_t begin, took;
	int other, status;
	pid_t child;

	start(fx);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		flood(fx->socket);
	begin = time_ns(CLOCK_MONOTONIC);
	took = loop_ns(fx);
	while (time_ns(CLOCK_MONOTONIC) - begin < FLOOD_NS)
		usleep(10000);
	took = loop_ns(fx) - took;
	/* a tenth and what was at once, and what the loop itself and these questions take */
	assert_true(took < (time_ns(CLOCK_MONOTONIC) - begin) / 4);
	assert_true(broker_fixture_stats(fx).held > 0);
	other = raw_connect(fx);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	ask(other);
	take_answers(other, 1);
	close(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, broker_fixture_set_up, broker_fixture_tear_down)

static const struct CMUnitTest tests[] = {
	TEST(who_asks_without_pause_waits),
	TEST(who_hangs_up_while_he_waits_is_gone),
	TEST(a_broker_ends_beside_one_that_waits),
	TEST(a_turn_hears_one_that_is_dear),
	TEST(who_only_connects_waits),
};
TEST_GROUP(tests, NULL, NULL);
