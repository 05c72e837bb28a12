/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at a queue (ring_look) while the writer reopens it and fills it again: in every order in which their
 * loads and stores can follow one another.
 *
 * Both sides are the real code: ring.c and ring_out.c are compiled here once more, with their atomics as the
 * points at which the other side may go on. Two threads take turns as a schedule says, one bit a point; all
 * schedules are tried.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The object files of the same sources have these names already. */
#define ring_new           pointed_ring_new
#define ring_free          pointed_ring_free
#define ring_look pointed_ring_look
#define ring_usable pointed_ring_usable
#define ring_out_capacity pointed_ring_out_capacity
#define ring_out_new pointed_ring_out_new
#define ring_out_free pointed_ring_out_free
#define ring_out_begin pointed_ring_out_begin
#define ring_out_push pointed_ring_out_push
#define ring_out_publish pointed_ring_out_publish
#define ring_out_overflow pointed_ring_out_overflow
#define ring_out_page pointed_ring_out_page
#define ring_out_is_open pointed_ring_out_is_open
#define ring_out_unread pointed_ring_out_unread
#define ring_out_lowest pointed_ring_out_lowest
#define ring_out_age_ms pointed_ring_out_age_ms
#define ring_out_overflows pointed_ring_out_overflows
#define ring_out_entries pointed_ring_out_entries

#include "reader-lib/events/ring.h"
#include "writer/serve/ring_out.h"

static void point(void);

/* From here on: what the headers do is one step, what the sources do is a step for each atomic. */
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_fetch_add_explicit
#define atomic_load_explicit(from, order) (point(), *(from))
#define atomic_store_explicit(to, value, order) (point(), (void)(*(to) = (value)))
#define atomic_fetch_add_explicit(to, value, order) (point(), *(to) += (value))

/* NOLINTNEXTLINE(bugprone-suspicious-include): compiled once more, with points */
#include "reader-lib/events/ring.c"
/* NOLINTNEXTLINE(bugprone-suspicious-include): the same */
#include "writer/serve/ring_out.c"

#define SCHEDULE_BITS 16u

enum side { READER, WRITER, NOBODY };

/*
 * turn      who may go on; the other one waits at a point
 * schedule  a bit a point, the highest first: 1, the writer goes on
 * alone     the other side is through
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum side turn;
	unsigned schedule, points;
	bool alone;
} stage = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .turn = NOBODY};

static _Thread_local enum side self = NOBODY;

static void
wait_for_turn(void)
{
	while (stage.turn != self)
		pthread_cond_wait(&stage.changed, &stage.lock);
}

static void
point(void)
{
	if (self == NOBODY)
		return;
	pthread_mutex_lock(&stage.lock);
	wait_for_turn();
	if (!stage.alone) {
		stage.points++;
		stage.turn = stage.schedule >> (SCHEDULE_BITS - stage.points) & 1 ? WRITER : READER;
		pthread_cond_broadcast(&stage.changed);
		wait_for_turn();
	}
	pthread_mutex_unlock(&stage.lock);
}

static void
leave(void)
{
	pthread_mutex_lock(&stage.lock);
	wait_for_turn();
	stage.alone = true;
	stage.turn = self == READER ? WRITER : READER;
	pthread_cond_broadcast(&stage.changed);
	pthread_mutex_unlock(&stage.lock);
}

#define READ_BEFORE 3u	 /* entries of the first opening, all read when it overflowed */
#define SEQ_OF_PIN  40u	 /* the root that the reader has pinned, and the base of the second opening */

static void *
reopen_and_fill(void *context)
{
	struct ring_out *q = context;
	struct queue_entry entry = {.seq = SEQ_OF_PIN + 1, .kind = QUEUE_ADDED};

	self = WRITER;
	ring_out_begin(q, SEQ_OF_PIN);
	ring_out_push(q, &entry, 0);
	ring_out_publish(q);
	leave();
	return NULL;
}

/* A queue that overflowed, and whose reader has read all that was in it. */
static struct ring_out *
overflowed(struct queue_cursor *cursor)
{
	struct queue_entry entry = {.seq = 1, .kind = QUEUE_ADDED};
	struct ring_out *q = NULL;
	int fd = -1;

	if (ring_out_new(QUEUE_ENTRIES_MIN, cursor, 0, &q, &fd) < 0 || !q)
		abort();
	close(fd);
	for (unsigned i = 0; i < READ_BEFORE; i++)
		ring_out_push(q, &entry, 0);
	ring_out_publish(q);
	cursor->consumed = READ_BEFORE;
	ring_out_overflow(q);
	return q;
}

/* One schedule; returns how many points both had to choose at. */
static unsigned
look_while_it_reopens(unsigned schedule)
{
	struct queue_cursor cursor = {0};
	struct ring_out *q = overflowed(&cursor);
	struct ring ring = {
		.queue = (struct queue *)(uintptr_t)ring_out_page(q),
		.capacity = QUEUE_ENTRIES_MIN,
		.cursor = &cursor,
		.consumed = READ_BEFORE,
		.openings = 1,
	};
	struct ring_look look;
	pthread_t writer;
	int r;

	stage.schedule = schedule;
	stage.points = 0;
	stage.alone = false;
	stage.turn = READER;
	assert_int_equal(pthread_create(&writer, NULL, reopen_and_fill, q), 0);
	self = READER;
	r = ring_look(&ring, &look);
	leave();
	self = NOBODY;
	pthread_join(writer, NULL);

	if (r != -EAGAIN) {
		assert_int_equal(r, 0);
		/*
		 * What is overflowed is thrown away up to that head, and made up for by the pinned root. An
		 * entry that came behind that root is nowhere then.
		 */
		if (!look.open && look.head != READ_BEFORE)
			fail_msg("schedule %x: overflowed, with an entry of the next opening below its head",
				 schedule);
		if (look.open)
			assert_int_equal(look.base, SEQ_OF_PIN);
		if (look.head > READ_BEFORE)
			assert_int_equal(look.openings, 2);
	}
	ring_out_free(q);
	return stage.points;
}

/* What a look throws away as overflowed never has an entry of the next opening in it. */
static void
no_order_hides_what_came_after_reopening(void **state)
{
	unsigned most = 0, orders = 0;

	(void)state;
	for (unsigned schedule = 0; schedule < 1u << SCHEDULE_BITS; schedule++) {
		unsigned points = look_while_it_reopens(schedule);

		most = points > most ? points : most;
		assert_true(points < SCHEDULE_BITS);
		/* bits that no point came to say nothing new */
		schedule |= (1u << (SCHEDULE_BITS - points)) - 1;
		orders++;
	}
	assert_true(most >= 8);
	print_message("%u orders of at most %u steps\n", orders, most);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_hides_what_came_after_reopening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
