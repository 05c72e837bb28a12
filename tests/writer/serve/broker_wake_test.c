/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers whose wake-up is slow, as many epoll entries on their eventfd make it, and readers that block it:
 * which are refused. The test decides what a wake-up costs.
 */
#include "tests/room.h"
#include "tests/support/raw_reader.h"
#include "tests/writer/serve/given_cost.h"
#include "writer/serve/broker_internal.h"

#define BARRED_MS 5000u
#define OTHER 54321u

static const uid_t others[] = {OTHER};

struct world {
	struct raw_reader *honest, *slow;
};

static void
find_newest_fd(struct broker_fixture *fx, void *context)
{
	(void)context;
	given_cost.slow_fd = fx->broker->clients->event_fd;
}

/* Two admitted readers. */
static struct world
begin(struct broker_fixture *fx)
{
	struct world w;

	given_cost.cpu_ms = given_cost.wall_ms = 0;
	fx->options.allow_uids = others;
	fx->options.n_allow_uids = 1;
	broker_fixture_start(fx);
	w.honest = raw_reader_new(fx);
	w.slow = raw_reader_new(fx);
	broker_fixture_do(fx, find_newest_fd, NULL);
	return w;
}

static void
end(struct world *w)
{
	raw_reader_free(w->honest);
	raw_reader_free(w->slow);
}

/* Both readers sleep, and a commit wakes the honest reader. True if it wakes the other reader, too. */
static bool
one_round(struct broker_fixture *fx, struct world *w)
{
	static unsigned number;
	char name[16];

	atomic_store(&w->honest->slot->armed, ARMED_COMMIT);
	atomic_store(&w->slow->slot->armed, ARMED_COMMIT);
	snprintf(name, sizeof(name), "p%u", number++);
	broker_fixture_pod(fx, name);
	assert_true(raw_reader_was_woken(w->honest));
	return raw_reader_was_woken(w->slow);
}

static void
rounds(struct broker_fixture *fx, struct world *w, unsigned count, unsigned cost_ms)
{
	given_cost.cpu_ms = given_cost.wall_ms = cost_ms;
	for (unsigned i = 0; i < count; i++)
		assert_true(one_round(fx, w));
}

static void
is_refused(struct broker_fixture *fx, struct world *w, const char *part)
{
	assert_int_equal(broker_fixture_stats(fx).wakes_refused, 1);
	raw_is_refused(w->slow->fd, REFUSED_FULL, part);
	broker_fixture_wait_readers(fx, 1);
	assert_false(one_round(fx, w));
}

/* Each wake-up takes so much CPU time, while the clocks stand. */
static void
become_refused(struct broker_fixture *fx, struct world *w, unsigned cpu_ms)
{
	given_cost.cpu_ms = cpu_ms;
	for (unsigned i = 0; i < 3; i++)
		assert_true(one_round(fx, w));
	is_refused(fx, w, "its wake-ups take informerd too long");
}

#define TEST(name) TEST_CASE_OF(struct broker_fixture *fx, given_cost_set_up, broker_fixture_tear_down, name)

struct in_a_turn {
	struct world *world;
	bool woken[2];
};

static void
two_rounds(struct broker_fixture *fx, void *context)
{
	struct in_a_turn *turn = context;

	fx->running = false; /* this is the loop's thread: what one_round() did there is done here */
	for (unsigned i = 0; i < 2; i++)
		turn->woken[i] = one_round(fx, turn->world);
	fx->running = true;
}

TEST(a_refused_reader_is_not_woken_in_the_same_turn)
{
	struct world w = begin(fx);
	struct in_a_turn turn = {.world = &w};

	rounds(fx, &w, 2, 1);
	broker_fixture_do(fx, two_rounds, &turn);
	assert_true(turn.woken[0]);
	assert_false(turn.woken[1]);
	is_refused(fx, &w, "");
	end(&w);
}

/* A long-admitted reader is measured from the first slow wake-up on. */
TEST(a_reader_that_becomes_slow_is_refused)
{
	struct world w = begin(fx);

	rounds(fx, &w, 3, 0);
	rounds(fx, &w, 3, 1);
	assert_int_equal(broker_fixture_stats(fx).wakes_refused, 0);
	rounds(fx, &w, 1, 1);
	is_refused(fx, &w, "its wake-ups take informerd too long");
	end(&w);
}

TEST(two_slow_wake_ups_are_forgiven)
{
	struct world w = begin(fx);

	for (unsigned i = 0; i < 3; i++) {
		rounds(fx, &w, 2, 1);
		rounds(fx, &w, 1, 0);
	}
	assert_int_equal(broker_fixture_stats(fx).wakes_refused, 0);
	assert_int_equal(broker_fixture_stats(fx).readers, 2);
	end(&w);
}

/* CPU time that other processes take does not count for the reader. */
TEST(a_busy_machine_refuses_no_reader)
{
	struct world w = begin(fx);

	given_cost.wall_ms = 50;
	for (unsigned i = 0; i < 9; i++)
		assert_true(one_round(fx, &w));
	assert_int_equal(broker_fixture_stats(fx).wakes_refused, 0);
	end(&w);
}

/* A reader that sleeps for its queue alone is measured, too. */
TEST(a_subscriber_is_refused)
{
	struct world w = begin(fx);
	const struct queue *q = raw_reader_subscribe(w.slow, 0, "pods", NULL, NULL);

	given_cost.cpu_ms = 1;
	for (unsigned i = 0; i < 3; i++) {
		static const char *const names[] = {"a", "b", "c"};

		atomic_store(&w.slow->slot->armed, ARMED_QUEUE);
		broker_fixture_pod(fx, names[i]);
		assert_true(raw_reader_was_woken(w.slow));
	}
	is_refused(fx, &w, "its wake-ups take informerd too long");
	raw_unmap_queue(q);
	end(&w);
}

/* True if another process of this user is admitted. */
static bool
comes_in(struct broker_fixture *fx)
{
	struct raw_answer a;
	int fd, status;
	pid_t pid = fork();

	if (pid != 0) {
		assert_int_equal(waitpid(pid, &status, 0), pid);
		broker_fixture_wait_readers(fx, 1);
		return WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	fd = raw_connect(fx);
	raw_hello(fd, 0);
	raw_hear(fd, &a);
	_exit(a.u.head.type == MESSAGE_WELCOME ? 0 : 1);
}

/*
 * A new reader is measured at once: its third slow wake-up is its last. No process of its user is admitted
 * for 5 s, or for 200 times the cost of the wake-up. Other users are.
 */
static void
is_kept_out_for(struct broker_fixture *fx, unsigned cpu_ms, uint64_t barred_ms)
{
	struct world w = begin(fx);

	become_refused(fx, &w, cpu_ms);
	assert_false(comes_in(fx));
	raw_reader_free(raw_reader_as(fx, OTHER));
	broker_fixture_pass(fx, barred_ms - 1);
	assert_false(comes_in(fx));
	broker_fixture_pass(fx, 1);
	assert_true(comes_in(fx));
	end(&w);
}

TEST(a_user_whose_reader_was_refused_comes_again_later)
{
	is_kept_out_for(fx, 1, BARRED_MS);
}

TEST(the_user_of_a_very_slow_reader_is_kept_out_longer)
{
	is_kept_out_for(fx, 100, 3ull * 100 * 200);
}

/* A reader clears O_NONBLOCK of its eventfd and fills the counter. The write is interrupted. */
TEST(a_reader_that_blocks_its_wake_up_is_refused)
{
	uint64_t full = 0xfffffffffffffffeull;
	struct world w = begin(fx);

	assert_int_equal(fcntl(w.slow->eventfd, F_SETFL, 0), 0);
	assert_int_equal(write(w.slow->eventfd, &full, sizeof(full)), sizeof(full));
	one_round(fx, &w);
	is_refused(fx, &w, "its event descriptor blocks");
	end(&w);
}

/* With O_NONBLOCK a full counter is a wake-up that was not read yet. */
TEST(a_full_counter_refuses_no_reader)
{
	uint64_t full = 0xfffffffffffffffeull;
	struct world w = begin(fx);

	assert_int_equal(write(w.slow->eventfd, &full, sizeof(full)), sizeof(full));
	assert_true(one_round(fx, &w));
	assert_int_equal(broker_fixture_stats(fx).wakes_refused, 0);
	end(&w);
}
