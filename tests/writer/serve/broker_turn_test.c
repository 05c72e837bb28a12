/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a turn of the loop the clients get, and that each of them gets a part of it.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/raw_reader.h"
#include "tests/writer/serve/given_cost.h"

#define WORK_MS 1u /* more than a turn has */
#define ASKED 50u
#define AT_ONCE 16u

/* The loop's thread has it, while it runs. */
static struct watched {
	uv_prepare_t turn;
	unsigned in_this_turn, most_in_a_turn;
	unsigned accepted, most_accepted;
	int fds[AT_ONCE];
	/* how many wishes there were; the first one of "other", and of one that saw a connection accepted */
	_Atomic unsigned wishes;
	unsigned of_other, of_accepted;
} watched;

static void
on_turn(uv_prepare_t *turn)
{
	unsigned accepted = given_cost.accepted - watched.accepted;

	(void)turn;
	watched.in_this_turn = 0;
	watched.accepted += accepted;
	if (accepted > watched.most_accepted)
		watched.most_accepted = accepted;
}

static char *
make_slow_report(void *context)
{
	(void)context;
	test_clock_move(WORK_MS);
	if (++watched.in_this_turn > watched.most_in_a_turn)
		watched.most_in_a_turn = watched.in_this_turn;
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
	test_clock_move(WORK_MS);
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

static void
take_answer(int fd)
{
	struct raw_answer a;

	raw_hear(fd, &a);
	assert_int_equal(a.u.head.type, MESSAGE_REPORT);
}

/* On the loop's thread: it finds all of it at once. */
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

/* The loop does not do all of it before it looks at anything else. */
TEST(a_turn_hears_one_that_is_slow)
{
	start(fx);
	for (unsigned i = 0; i < AT_ONCE; i++)
		watched.fds[i] = raw_connect(fx);
	broker_fixture_until(fx, broker_fixture_stats(fx).pending == AT_ONCE);
	broker_fixture_do(fx, ask_at_once, NULL);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		take_answer(watched.fds[i]);
		close(watched.fds[i]);
	}
	broker_fixture_do(fx, close_watch, NULL);
	assert_int_equal(watched.most_in_a_turn, 1);
}

/* Those behind a client that asks without pause are heard, and let in, amid its questions. */
TEST(clients_are_heard_in_turn)
{
	struct raw_answer a[2];

	start(fx);
	for (unsigned i = 0; i < 2; i++)
		raw_attach(fx, &watched.fds[i], &a[i], 0);
	broker_fixture_do(fx, ask_without_pause, NULL);
	broker_fixture_until(fx, broker_fixture_stats(fx).pending == 1 && watched.wishes == ASKED + 1);
	broker_fixture_do(fx, close_watch, NULL);
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

/* A turn lets in those for whom it has time, and later ones the rest. */
TEST(connections_are_let_in_over_turns)
{
	start(fx);
	given_cost.accept_ms = 1;
	broker_fixture_do(fx, connect_at_once, NULL);
	broker_fixture_until(fx, broker_fixture_stats(fx).pending == AT_ONCE);
	broker_fixture_do(fx, close_watch, NULL);
	assert_int_equal(watched.most_accepted, 1);
	for (unsigned i = 0; i < AT_ONCE; i++)
		close(watched.fds[i]);
}
