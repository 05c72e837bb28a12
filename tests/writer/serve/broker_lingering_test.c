/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What readers keep open after their end counts as if they were there, for their user, until it is closed;
 * and who closes what he was given may come and go as often as he likes.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/arena_fixture.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/raw_reader.h"

#define USER 54321u
#define SHARE 7u /* of one user, of 16 readers */
#define TRIES 100u

static const uid_t users[] = {USER, USER + 1};

static void
start(struct broker_fixture *fx, unsigned max_readers)
{
	fx->options.allow_uids = users;
	fx->options.n_allow_uids = 2;
	fx->options.max_readers = max_readers;
	fx->options.queue_memory = 1u << 20;
	broker_fixture_start(fx);
}

static void
assert_text(const char *text, size_t length, const char *part)
{
	assert_non_null(memmem(text, length, part, strlen(part)));
}

/* Attach and hang up; true: it was welcome, and what it was given is in a. */
static bool
comes_and_goes(struct broker_fixture *fx, uid_t uid, struct raw_answer *a)
{
	int fd = raw_greet_as(fx, uid, a);

	close(fd);
	if (a->u.head.type == MESSAGE_WELCOME)
		return true;
	assert_int_equal(a->u.head.type, MESSAGE_REFUSED);
	assert_int_equal(a->u.refused.code, REFUSED_FULL);
	return false;
}

static void
assert_gets_in(struct broker_fixture *fx, uid_t uid)
{
	struct raw_answer a;

	assert_true(comes_and_goes(fx, uid, &a));
	raw_close(&a);
}

#define TEST(name)                                                                                           \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up, broker_fixture_tear_down, name)

/* A mapping is enough, and no descriptor. */
TEST(who_keeps_slots_keeps_places)
{
	struct slot *slots[TRIES] = {0};
	struct raw_answer a;
	unsigned n = 0;

	start(fx, 16);
	while (n < TRIES && comes_and_goes(fx, USER, &a)) {
		slots[n++] = test_map_slot(a.fds[1]);
		raw_close(&a);
	}
	assert_int_equal(n, SHARE);
	assert_text(a.u.bytes, (size_t)a.length, "7 of this user; its processes have 7 descriptors of ended");
	assert_gets_in(fx, USER + 1);
	assert_gets_in(fx, 0);
	munmap(slots[3], SLOT_BYTES);
	assert_gets_in(fx, USER);
	for (unsigned i = 0; i < n; i++)
		if (i != 3)
			munmap(slots[i], SLOT_BYTES);
}

/* The same number again and again: what was given up counts less, for its memory is back, but it counts. */
TEST(who_keeps_queues_gets_no_more)
{
	struct raw_answer a, queue;
	int kept[TRIES] = {0}, fd;
	unsigned n = 0;

	start(fx, 16);
	fd = raw_greet_as(fx, USER, &a);
	for (; n < TRIES; n++) {
		raw_subscribe(fd, 0, "pods", NULL, NULL);
		raw_hear(fd, &queue);
		if (queue.u.head.type != MESSAGE_SUBSCRIBED)
			break;
		kept[n] = queue.fds[0];
	}
	assert_in_range(n, 30, 60);
	assert_int_equal(queue.u.unsubscribed.code, REFUSED_FULL);
	assert_text(queue.u.bytes, (size_t)queue.length, "of ended ones open; raise events.maxQueueMemory");
	assert_in_range(broker_fixture_stats(fx).queue_bytes, 400u << 10, 448u << 10);
	for (unsigned i = 0; i < n; i++)
		close(kept[i]);
	raw_subscribe(fd, 0, "pods", NULL, NULL);
	raw_hear(fd, &queue);
	assert_int_equal(queue.u.head.type, MESSAGE_SUBSCRIBED);
	raw_close(&queue);
	raw_close(&a);
	close(fd);
}

TEST(who_keeps_nothing_comes_as_often_as_he_likes)
{
	start(fx, 4);
	for (unsigned i = 0; i < TRIES; i++) {
		struct raw_answer a, queue;
		int fd = raw_greet_as(fx, USER, &a);

		assert_int_equal(a.u.head.type, MESSAGE_WELCOME);
		raw_subscribe(fd, 0, "pods", NULL, NULL);
		raw_hear(fd, &queue);
		assert_int_equal(queue.u.head.type, MESSAGE_SUBSCRIBED);
		raw_close(&queue);
		raw_close(&a);
		close(fd);
	}
}
