/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ration of the writer's time: a user who asks without pause is heard less, and nobody else is; a turn of
 * the loop hears few; and connections are let in at a limited rate.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/raw_reader.h"
#include "tests/writer/serve/given_cost.h"

#define USER 54321u
#define BURST_MS 20u /* of work, at once; then a tenth of the time */
#define REPORT_MS 2u
#define ASKED 100u
#define AT_ONCE 16u

static const uid_t users[] = {USER, USER + 1};

static _Atomic unsigned reports, reports_in_a_turn, most_in_a_turn;

static void
on_turn(uv_prepare_t *turn)
{
	(void)turn;
	reports_in_a_turn = 0;
}

static char *
make_dear_report(void *context)
{
	(void)context;
	test_work(REPORT_MS * 1000000ull);
	reports++;
	if (++reports_in_a_turn > most_in_a_turn)
		most_in_a_turn = reports_in_a_turn;
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

#define TEST(name) TEST_CASE_OF(struct broker_fixture *fx, given_cost_set_up, broker_fixture_tear_down, name)

/*
 * What a user asks takes a tenth of the time, over all his connections: it is all answered in the end, and
 * meanwhile others are heard at once.
 */
TEST(who_asks_without_pause_waits)
{
	int fds[4], root, other;

	start(fx);
	for (unsigned i = 0; i < 4; i++)
		fds[i] = raw_connect_as(fx, users[0]);
	root = raw_connect(fx);
	other = raw_connect_as(fx, users[1]);
	for (unsigned i = 0; i < ASKED; i++)
		ask(fds[i % 4]);
	broker_fixture_until(fx, broker_fixture_stats(fx).paused == 4);
	assert_int_equal(reports, BURST_MS / REPORT_MS);
	ask(root);
	take_answers(root, 1);
	ask(other);
	take_answers(other, 1);
	reports = 0;
	broker_fixture_pass(fx, 1000);
	assert_in_range(reports, 1000 / 10 / REPORT_MS - 1, 1000 / 10 / REPORT_MS + 1);
	broker_fixture_pass(fx, (uint64_t)ASKED * REPORT_MS * 10);
	for (unsigned i = 0; i < 4; i++)
		take_answers(fds[i], ASKED / 4);
	/* a connection that waits is not looked at: each pause of the four ends with an answer */
	assert_in_range(broker_fixture_stats(fx).paused, 4, 4 * (ASKED + 1));
	for (unsigned i = 0; i < 4; i++)
		close(fds[i]);
	close(root);
	close(other);
}

/* A user asks more than his burst; returns a connection of his that is not heard. */
static int
ask_too_much(struct broker_fixture *fx)
{
	int fd;

	start(fx);
	fd = raw_connect_as(fx, users[0]);
	for (unsigned i = 0; i < ASKED; i++)
		ask(fd);
	broker_fixture_until(fx, broker_fixture_stats(fx).paused > 0);
	return fd;
}

/* A connection that hangs up while it waits is gone at once, with what it still had to say. */
TEST(who_hangs_up_while_he_waits_is_gone)
{
	close(ask_too_much(fx));
	broker_fixture_until(fx, broker_fixture_stats(fx).pending == 0);
}

/* The broker may end beside a connection that is not heard. */
TEST(a_broker_ends_beside_one_that_waits)
{
	int fd = ask_too_much(fx);

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
TEST(a_turn_hears_one_that_is_dear)
{
	static struct asking all;

	start(fx);
	for (unsigned i = 0; i < AT_ONCE; i++)
		all.fds[i] = raw_connect(fx);
	broker_fixture_until(fx, broker_fixture_stats(fx).pending == AT_ONCE);
	broker_fixture_do(fx, ask_at_once, &all);
	for (unsigned i = 0; i < AT_ONCE; i++)
		take_answers(all.fds[i], 1);
	broker_fixture_do(fx, end_asking, &all);
	assert_int_equal(broker_fixture_stats(fx).paused, 0);
	assert_int_equal(most_in_a_turn, 1);
	for (unsigned i = 0; i < AT_ONCE; i++)
		close(all.fds[i]);
}

/* Connections cost the loop a tenth of its time, whoever makes them; the next one is let in behind them. */
TEST(who_only_connects_waits)
{
	int other;

	given_cost.accept_us = 1000;
	start(fx);
	for (unsigned i = 0; i < ASKED; i++)
		close(raw_connect(fx));
	other = raw_connect(fx);
	broker_fixture_until(fx, broker_fixture_stats(fx).held == 1);
	assert_int_equal(given_cost.accepted, BURST_MS);
	broker_fixture_pass(fx, 500);
	assert_in_range(given_cost.accepted, BURST_MS + 500 / 10 - 1, BURST_MS + 500 / 10 + 1);
	broker_fixture_pass(fx, 1000);
	assert_int_equal(given_cost.accepted, ASKED + 1);
	ask(other);
	take_answers(other, 1);
	close(other);
}
