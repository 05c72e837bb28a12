/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waking readers whose wake is dear, as they have a crowd of epoll entries on their eventfd: who pays for it,
 * who does not, and how they come back.
 */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/raw_reader.h"

/* Each pair of a descriptor and an instance is an entry: with a hundred thousand of them a wake took 10 ms.
 */
#define COPIES 200
#define INSTANCES 100
#define ROUNDS 20000

struct crowd {
	int copies[COPIES];
	int instances[INSTANCES];
};

static void
crowd_gather(struct crowd *crowd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	for (int i = 0; i < COPIES; i++)
		assert_true((crowd->copies[i] = dup(fd)) >= 0);
	for (int i = 0; i < INSTANCES; i++) {
		assert_true((crowd->instances[i] = epoll_create1(EPOLL_CLOEXEC)) >= 0);
		for (int k = 0; k < COPIES; k++)
			assert_int_equal(
				epoll_ctl(crowd->instances[i], EPOLL_CTL_ADD, crowd->copies[k], &event), 0);
	}
}

static void
crowd_leave(struct crowd *crowd)
{
	for (int i = 0; i < INSTANCES; i++)
		close(crowd->instances[i]);
	for (int i = 0; i < COPIES; i++)
		close(crowd->copies[i]);
}

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
	struct crowd crowd;
};

/*
 * Of two readers one gathers a crowd, and they are woken until it is known for that, alone: on a busy machine
 * the other may be, too, for a moment.
 */
static void
begin(struct world *w, struct broker_fixture *fx)
{
	struct standing standing = {0};

	w->fx = fx;
	w->honest = raw_reader_new(fx);
	w->dear = raw_reader_new(fx);
	for (int i = 0; i < 3; i++) { /* in good standing, before it has a crowd */
		one_round(fx, w->honest, w->dear);
		wait_for_signal(w->honest);
		wait_for_signal(w->dear);
	}
	crowd_gather(&w->crowd, w->dear->eventfd);
	for (int i = 0; i < ROUNDS && !(standing.aside && standing.readers_aside == 1); i++) {
		one_round(fx, w->honest, w->dear);
		wait_for_signal(w->honest);
		broker_fixture_do(fx, look_at_standing, &standing);
	}
}

static void
end(struct world *w)
{
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

/*
 * The honest one is signalled by the loop before the dear one is begun, which waits for a thread, and is
 * signalled in the end.
 */
static void
a_dear_reader_delays_nobody(void **state)
{
	struct broker_fixture *fx = *state;
	struct world w;
	struct round round = {.world = &w};
	uv_work_t blocker;

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
	crowd_leave(&w.crowd);
	end(&w);
}

/* ---- the report, and the way back ---- */

/* It stands in the report, alone; and without its crowd it is woken by the loop again. */
static void
is_named_and_comes_back(struct broker_fixture *fx)
{
	struct standing standing;
	struct world w;

	broker_fixture_start(fx);
	begin(&w, fx);
	broker_fixture_do(fx, look_at_standing, &standing);
	assert_true(standing.aside);
	assert_int_equal(standing.readers_aside, 1);
	assert_true(standing.wake_ns > 100000);
	crowd_leave(&w.crowd);
	for (int i = 0; i < ROUNDS && standing.readers_aside > 0; i++) {
		one_round(fx, w.honest, w.dear);
		wait_for_signal(w.honest);
		wait_for_signal(w.dear);
		usleep(1000);
		broker_fixture_do(fx, look_at_standing, &standing);
	}
	assert_false(standing.aside);
	assert_int_equal(standing.readers_aside, 0);
	end(&w);
}

static void
a_dear_reader_is_named_and_comes_back(void **state)
{
	is_named_and_comes_back(*state);
}

/* The same where a thread writes to all of them. */
static void
a_dear_reader_comes_back_where_eventfds_are_written(void **state)
{
	struct broker_fixture *fx = *state;

	fx->options.wake_by_writing = true;
	is_named_and_comes_back(fx);
}

/*
 * Who is dear, hangs up and comes anew finds the thread waiting for him; and an honest one that comes
 * meanwhile is woken all the same, and by the loop in the end. It takes several tries where the machine is so
 * busy that an alarm is over before the next one has come.
 */
static void
newcomers_after_a_dear_one_are_woken_aside(void **state)
{
	struct broker_fixture *fx = *state;
	struct standing standing = {0};
	struct raw_reader *newcomer = NULL;
	struct world w;

	broker_fixture_start(fx);
	for (int i = 0; i < 100 && !standing.aside; i++) {
		begin(&w, fx);
		if (newcomer)
			raw_reader_free(newcomer);
		newcomer = raw_reader_new(fx);
		broker_fixture_do(fx, look_at_standing, &standing);
		crowd_leave(&w.crowd);
		end(&w);
		broker_fixture_wait_readers(fx, 1);
	}
	assert_true(standing.aside);
	assert_true(standing.wake_ns < 1);
	for (int i = 0; i < ROUNDS * 10 && standing.aside; i++) {
		one_round(fx, newcomer, newcomer);
		wait_for_signal(newcomer);
		usleep(1000);
		broker_fixture_do(fx, look_at_standing, &standing);
	}
	assert_false(standing.aside);
	raw_reader_free(newcomer);
}

/* While the thread rests from a dear one, another one of that user of whom nothing is known waits, too. */
static void
who_comes_anew_does_not_shorten_the_rest(void **state)
{
	struct broker_fixture *fx = *state;
	struct standing dear = {0}, standing = {0};
	struct raw_reader *newcomer = NULL;
	uint64_t begun_ns = 0;
	struct world w = {0};

	broker_fixture_start(fx);
	for (int i = 0; i < 100 && !standing.aside; i++) {
		if (newcomer) {
			raw_reader_free(newcomer);
			crowd_leave(&w.crowd);
			end(&w);
			broker_fixture_wait_readers(fx, 0);
		}
		begin(&w, fx);
		one_round(fx, w.honest, w.dear);
		wait_for_signal(w.dear);
		begun_ns = time_ns(CLOCK_MONOTONIC);
		broker_fixture_do(fx, look_at_standing, &dear);
		newcomer = raw_reader_new(fx);
		broker_fixture_do(fx, look_at_standing, &standing);
	}
	assert_true(standing.aside);
	one_round(fx, w.honest, newcomer);
	wait_for_signal(newcomer);
	/* 199 times what the wake took; what is known of that may be of the one before */
	assert_true((double)(time_ns(CLOCK_MONOTONIC) - begun_ns) > dear.wake_ns * 199 / 4);
	raw_reader_free(newcomer);
	crowd_leave(&w.crowd);
	end(&w);
}

/* A broker ends while a reader waits for the thread to have rested. */
static void
a_broker_ends_beside_a_dear_reader(void **state)
{
	struct broker_fixture *fx = *state;
	struct world w;

	broker_fixture_start(fx);
	begin(&w, fx);
	broker_fixture_stop(fx);
	crowd_leave(&w.crowd);
	end(&w);
}

/* libuv makes its pool at first use. */
static int
one_pool_thread(void **state)
{
	(void)state;
	return setenv("UV_THREADPOOL_SIZE", "1", 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, broker_fixture_set_up, broker_fixture_tear_down)

static const struct CMUnitTest tests[] = {
	TEST(a_dear_reader_delays_nobody),
	TEST(a_dear_reader_is_named_and_comes_back),
	TEST(a_dear_reader_comes_back_where_eventfds_are_written),
	TEST(newcomers_after_a_dear_one_are_woken_aside),
	TEST(who_comes_anew_does_not_shorten_the_rest),
	TEST(a_broker_ends_beside_a_dear_reader),
};
TEST_GROUP(tests, one_pool_thread, NULL);
