/* SPDX-License-Identifier: Apache-2.0 */
/* How long the broker serves clients before it pauses, and that each client has its turn. */
#include "tests/room.h"
#include "tests/support/raw_reader.h"
#include "tests/writer/serve/given_cost.h"

#define WORK_NS 200000u /* more than a turn may take */
#define BURST_WORK_NS 60000000u /* more than is served without a pause */
#define ASKED 50u
#define AT_ONCE 16u

/* Belongs to the loop's thread while that runs. */
static struct watched {
	uv_prepare_t turn;
	_Atomic unsigned reports, first_report_ns;
	unsigned accepted, most_accepted;
	int fds[AT_ONCE];
	/* number of requests; the first one of "other", and of a reader that saw a connection accepted */
	_Atomic unsigned wishes;
	unsigned of_other, of_accepted;
} watched;

static void
on_turn(uv_prepare_t *turn)
{
	unsigned accepted = given_cost.accepted - watched.accepted;

	(void)turn;
	watched.accepted += accepted;
	if (accepted > watched.most_accepted)
		watched.most_accepted = accepted;
}

static char *
make_slow_report(void *context)
{
	(void)context;
	test_clock_move_ns(watched.reports++ == 0 ? watched.first_report_ns : WORK_NS);
	return strdup("{}");
}

static void
note_slowly(void *context, const char *resource, size_t length)
{
	(void)context;
	watched.wishes++;
	if (length == strlen("other") && memcmp(resource, "other", length) == 0)
		watched.of_other = watched.wishes;
	if (watched.of_accepted == 0 && given_cost.accepted > 2)
		watched.of_accepted = watched.wishes;
	test_clock_move_ns(WORK_NS);
}

static void
watch_turns(struct broker_fixture *fx, void *context)
{
	(void)context;
	uv_prepare_init(&fx->loop, &watched.turn);
	uv_prepare_start(&watched.turn, on_turn);
}

static void
start(struct broker_fixture *fx)
{
	given_cost.accepted = given_cost.accept_ms = 0;
	watched.reports = 0;
	watched.first_report_ns = WORK_NS;
	fx->options.report = make_slow_report;
	fx->options.wanted = note_slowly;
	broker_fixture_start(fx);
	broker_fixture_do(fx, watch_turns, NULL);
}

static void
close_watch(struct broker_fixture *fx, void *context)
{
	(void)fx;
	(void)context;
	uv_close((uv_handle_t *)&watched.turn, NULL);
}

static void
ask(int fd)
{
	struct message_head head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_STAT, sizeof(head), 0};

	assert_int_equal(send(fd, &head, sizeof(head), MSG_NOSIGNAL), sizeof(head));
}

static void
wish(int fd, const char *resource)
{
	struct message_want want = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_WANT, sizeof(want), 0}};

	strcpy(want.resource, resource);
	assert_int_equal(send(fd, &want, sizeof(want), MSG_NOSIGNAL), sizeof(want));
}

/* On the loop's thread: the broker finds all packets at once. */
static void
ask_at_once(struct broker_fixture *fx, void *context)
{
	(void)fx;
	(void)context;
	for (unsigned i = 0; i < AT_ONCE; i++)
		ask(watched.fds[i]);
}

static void
ask_without_pause(struct broker_fixture *fx, void *context)
{
	(void)context;
	for (unsigned i = 0; i < ASKED; i++)
		wish(watched.fds[0], "pods");
	wish(watched.fds[1], "other");
	watched.fds[2] = raw_connect(fx);
}

#define TEST(name) TEST_CASE_OF(struct broker_fixture *fx, given_cost_set_up, broker_fixture_tear_down, name)

static unsigned
reports_at_once(struct broker_fixture *fx)
{
	for (unsigned i = 0; i < AT_ONCE; i++)
		watched.fds[i] = raw_connect(fx);
	broker_fixture_until(fx, broker_fixture_stats(fx).pending == AT_ONCE);
	broker_fixture_do(fx, ask_at_once, NULL);
	broker_fixture_pass(fx, 0);
	return watched.reports;
}

static void
take_answers(void)
{
	struct raw_answer a;

	for (unsigned i = 0; i < AT_ONCE; i++) {
		raw_hear(watched.fds[i], &a);
		assert_int_equal(a.u.head.type, MESSAGE_REPORT);
		close(watched.fds[i]);
	}
}

/*
 * Clients that ask at once after a quiet time are served without a pause. After a long burst each answer is
 * followed by a pause of 1 to 2 ms.
 */
TEST(a_flood_is_served_with_pauses)
{
	unsigned at_once, in_4_ms;

	start(fx);
	at_once = reports_at_once(fx);
	broker_fixture_pass(fx, 2ull * AT_ONCE);
	take_answers();
	watched.reports = 0;
	watched.first_report_ns = BURST_WORK_NS;
	broker_fixture_until(fx, broker_fixture_stats(fx).pending == 0);
	in_4_ms = reports_at_once(fx);
	broker_fixture_pass(fx, 4);
	in_4_ms = watched.reports - in_4_ms;
	broker_fixture_pass(fx, 2ull * AT_ONCE);
	broker_fixture_do(fx, close_watch, NULL);
	assert_int_equal(at_once, AT_ONCE);
	assert_in_range(in_4_ms, 1, 4);
	assert_int_equal(watched.reports, AT_ONCE);
	take_answers();
}

/* While a client asks without pause, other clients are served and admitted in between. */
TEST(clients_are_served_in_turn)
{
	struct raw_answer a[2];

	start(fx);
	for (unsigned i = 0; i < 2; i++)
		raw_attach(fx, &watched.fds[i], &a[i], 0);
	broker_fixture_do(fx, ask_without_pause, NULL);
	broker_fixture_pass(fx, 2 * ASKED + 4);
	broker_fixture_do(fx, close_watch, NULL);
	assert_int_equal(broker_fixture_stats(fx).pending, 1);
	assert_int_equal(watched.wishes, ASKED + 1);
	assert_in_range(watched.of_other, 1, 2);
	assert_in_range(watched.of_accepted, 1, 4);
	for (unsigned i = 0; i < 3; i++)
		close(watched.fds[i]);
	raw_close(&a[0]);
	raw_close(&a[1]);
}

static void
connect_at_once(struct broker_fixture *fx, void *context)
{
	(void)context;
	for (unsigned i = 0; i < AT_ONCE; i++)
		watched.fds[i] = raw_connect(fx);
}

/* A turn admits connections while it has time. Later turns admit the rest. */
TEST(connections_are_admitted_over_turns)
{
	start(fx);
	given_cost.accept_ms = 1;
	broker_fixture_do(fx, connect_at_once, NULL);
	broker_fixture_pass(fx, 2ull * AT_ONCE);
	broker_fixture_do(fx, close_watch, NULL);
	assert_int_equal(broker_fixture_stats(fx).pending, AT_ONCE);
	assert_int_equal(watched.most_accepted, 1);
	for (unsigned i = 0; i < AT_ONCE; i++)
		close(watched.fds[i]);
}

/* A child keeps all descriptors, so a descriptor that the broker closes stays open there. */
TEST(closed_descriptors_are_not_served)
{
	struct raw_answer a;
	pid_t child;
	int fd;

	start(fx);
	raw_attach(fx, &fd, &a, 0);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	shutdown(fd, SHUT_RDWR);
	broker_fixture_wait_readers(fx, 0);
	broker_fixture_pass(fx, 1);
	assert_int_equal(broker_fixture_stats(fx).readers, 0);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	broker_fixture_do(fx, close_watch, NULL);
	raw_close(&a);
	close(fd);
}

/* Entries in epoll instances are limited for each user. A client that cannot be watched gets the reason. */
TEST(a_client_that_cannot_be_watched_is_refused)
{
	int fd;

	start(fx);
	given_cost.watch_error = ENOSPC;
	fd = raw_connect(fx);
	raw_is_refused(fd, REFUSED_FULL, "fs.epoll.max_user_watches");
	given_cost.watch_error = 0;
	broker_fixture_do(fx, close_watch, NULL);
	close(fd);
}
