/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waking readers whose wake is dear, as a crowd of epoll entries on their eventfd makes it (here it costs
 * what the test says): who pays for it, who does not, and how they come back.
 */
#include <poll.h>
#include <semaphore.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/raw_reader.h"
#include "tests/writer/serve/given_cost.h"
#include "writer/serve/broker_internal.h"

#define COST_MS 2u
#define REST_MS (1 + COST_MS * 199) /* of the thread after a dear one */
#define ASIDE_MS 1000u              /* at least, the first time */

static bool
was_signalled(const struct raw_reader *r)
{
	uint64_t count;

	return read(r->eventfd, &count, sizeof(count)) == sizeof(count);
}

static void
wait_for_signal(const struct raw_reader *r)
{
	struct pollfd p = {.fd = r->eventfd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_true(was_signalled(r));
}

/* Both sleep, and there is a commit. */
static void
one_round(struct broker_fixture *fx, struct raw_reader *honest, struct raw_reader *dear)
{
	static unsigned number;
	char name[16];

	atomic_store(&honest->slot->armed, ARMED_COMMIT);
	atomic_store(&dear->slot->armed, ARMED_COMMIT);
	snprintf(name, sizeof(name), "p%u", number++);
	broker_fixture_pod(fx, name);
}

struct standing {
	bool aside;
	double wake_ns;
	unsigned readers_aside;
};

/* Of the reader that came last, which is the first in the report. */
static void
look_at_standing(struct broker_fixture *fx, void *context)
{
	struct standing *standing = context;
	cJSON *readers = broker_readers_json(fx->broker);
	const cJSON *reader;

	*standing = (struct standing){0};
	cJSON_ArrayForEach(reader, readers)
		if (cJSON_IsTrue(cJSON_GetObjectItem(reader, "woken_aside")))
			standing->readers_aside++;
	standing->aside = cJSON_IsTrue(cJSON_GetObjectItem(readers->child, "woken_aside"));
	standing->wake_ns = cJSON_GetNumberValue(cJSON_GetObjectItem(readers->child, "wake_ns"));
	cJSON_Delete(readers);
}

struct world {
	struct broker_fixture *fx;
	struct raw_reader *honest, *dear;
};

static void
find_newest_fd(struct broker_fixture *fx, void *context)
{
	(void)context;
	given_cost.dear_fd = fx->broker->clients->waker->fd;
}

static struct standing
standing_of(struct broker_fixture *fx)
{
	struct standing standing;

	broker_fixture_do(fx, look_at_standing, &standing);
	return standing;
}

/* While it is, no clock may move on: the watchdog would call its reader stuck. */
static void
look_at_thread(struct broker_fixture *fx, void *context)
{
	*(bool *)context = fx->broker->wake.aside.active || fx->broker->wake.writing.active;
}

static bool
thread_is_active(struct broker_fixture *fx)
{
	bool active = false;

	broker_fixture_do(fx, look_at_thread, &active);
	return active;
}

/* Of two readers in good standing one becomes dear, and is known for that, alone. */
static void
begin(struct world *w, struct broker_fixture *fx)
{
	w->fx = fx;
	w->honest = raw_reader_new(fx);
	w->dear = raw_reader_new(fx);
	broker_fixture_do(fx, find_newest_fd, NULL);
	for (int i = 0; i < 5; i++) {
		if (i == 3)
			given_cost.signal_ms = COST_MS;
		one_round(fx, w->honest, w->dear);
		wait_for_signal(w->honest);
		wait_for_signal(w->dear);
		broker_fixture_until(fx, !thread_is_active(fx));
	}
	assert_true(standing_of(fx).aside);
	assert_int_equal(standing_of(fx).readers_aside, 1);
}

static void
end(struct world *w)
{
	given_cost.signal_ms = 0;
	raw_reader_free(w->honest);
	raw_reader_free(w->dear);
}

/* ---- who goes first ---- */

struct round {
	struct world *world;
	bool honest, dear; /* was signalled when the loop had committed */
};

static void
commit_and_look(struct broker_fixture *fx, void *context)
{
	struct round *round = context;

	fx->running = false; /* this is the loop's thread: what one_round() has done there is done here */
	one_round(fx, round->world->honest, round->world->dear);
	fx->running = true;
	round->honest = was_signalled(round->world->honest);
	round->dear = was_signalled(round->world->dear);
}

static sem_t taken, let_go;

static void
take_thread(uv_work_t *work)
{
	(void)work;
	sem_post(&taken);
	sem_wait(&let_go);
}

static void
take_the_pool(struct broker_fixture *fx, void *context)
{
	assert_int_equal(uv_queue_work(&fx->loop, context, take_thread, NULL), 0);
}

/* libuv makes its pool at first use. */
static int
set_up(void **state)
{
	setenv("UV_THREADPOOL_SIZE", "1", 1);
	return given_cost_set_up(state);
}

#define TEST(name) TEST_CASE_IN(set_up, broker_fixture_tear_down, name)

/* The loop signals the honest reader at once. The dear one waits for the thread. */
TEST(a_dear_reader_delays_nobody)
{
	struct broker_fixture *fx = *state;
	struct world w;
	struct round round = {.world = &w};
	static uv_work_t blocker; /* libuv has it until the loop's next turn */

	sem_init(&taken, 0, 0);
	sem_init(&let_go, 0, 0);
	broker_fixture_start(fx);
	begin(&w, fx);
	broker_fixture_do(fx, take_the_pool, &blocker);
	sem_wait(&taken); /* the only thread of the pool */
	was_signalled(w.dear);
	broker_fixture_do(fx, commit_and_look, &round);
	sem_post(&let_go);
	assert_true(round.honest);
	assert_false(round.dear);
	wait_for_signal(w.dear);
	end(&w);
}

/* ---- the report, and the way back ---- */

/* The report names the dear reader alone. When its wake is cheap again, the loop wakes it, after a second. */
static void
is_named_and_comes_back(struct broker_fixture *fx)
{
	struct world w;

	broker_fixture_start(fx);
	begin(&w, fx);
	assert_true(standing_of(fx).wake_ns == COST_MS * 1e6);
	given_cost.signal_ms = 0;
	for (int i = 0; i < 2; i++) {
		broker_fixture_pass(fx, i == 0 ? ASIDE_MS - COST_MS - 1 : 1);
		one_round(fx, w.honest, w.dear);
		wait_for_signal(w.honest);
		wait_for_signal(w.dear);
		broker_fixture_until(fx, !thread_is_active(fx));
		assert_int_equal(standing_of(fx).readers_aside, i == 0);
	}
	end(&w);
}

TEST(a_dear_reader_is_named_and_comes_back)
{
	is_named_and_comes_back(*state);
}

/* The same where a thread writes to all of them. */
TEST(a_dear_reader_comes_back_where_eventfds_are_written)
{
	struct broker_fixture *fx = *state;

	fx->options.wake_by_writing = true;
	is_named_and_comes_back(fx);
}

/*
 * A reader that comes within a second of a dear one is woken by the thread, when that has rested: it may be
 * the dear one again. After that second the loop wakes it.
 */
TEST(newcomers_after_a_dear_one_are_woken_aside)
{
	struct broker_fixture *fx = *state;
	struct raw_reader *newcomer;
	struct world w;

	broker_fixture_start(fx);
	begin(&w, fx);
	end(&w);
	broker_fixture_wait_readers(fx, 0);
	newcomer = raw_reader_new(fx);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(standing_of(fx).aside, i < 2);
		broker_fixture_pass(fx, i == 0 ? REST_MS : ASIDE_MS);
		one_round(fx, newcomer, newcomer);
		wait_for_signal(newcomer);
		broker_fixture_until(fx, !thread_is_active(fx));
	}
	raw_reader_free(newcomer);
}

/* While the thread rests from a dear one, a reader of that user that was never measured waits, too. */
TEST(who_comes_anew_does_not_shorten_the_rest)
{
	struct broker_fixture *fx = *state;
	struct raw_reader *newcomer;
	struct world w;

	broker_fixture_start(fx);
	begin(&w, fx);
	one_round(fx, w.honest, w.dear);
	wait_for_signal(w.dear);
	broker_fixture_until(fx, !thread_is_active(fx));
	newcomer = raw_reader_new(fx);
	assert_true(standing_of(fx).aside);
	one_round(fx, w.honest, newcomer);
	broker_fixture_pass(fx, REST_MS - 1);
	assert_false(thread_is_active(fx));
	assert_false(was_signalled(newcomer));
	broker_fixture_pass(fx, 1);
	wait_for_signal(newcomer);
	raw_reader_free(newcomer);
	end(&w);
}

/* A broker ends while a reader waits for the thread to have rested. */
TEST(a_broker_ends_beside_a_dear_reader)
{
	struct broker_fixture *fx = *state;
	struct world w;

	broker_fixture_start(fx);
	begin(&w, fx);
	one_round(fx, w.honest, w.dear);
	wait_for_signal(w.dear);
	one_round(fx, w.honest, w.dear);
	broker_fixture_stop(fx);
	end(&w);
}
