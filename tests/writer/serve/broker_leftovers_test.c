/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots and eventfds that readers keep open after their end count for their user until they are closed. A
 * reader that closes them may attach as often as it likes.
 */
#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/raw_reader.h"

#define USER 54321u
#define SHARE 7u /* share of one user, of 16 readers */
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

/* Attach and hang up. True if the reader was admitted; `a` has the answer. */
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

/* A mapping without a descriptor keeps the slot. */
STARTED_BY_TEST(kept_slots_count_as_readers)
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
	raw_reader_free(raw_reader_as(fx, USER + 1));
	raw_visit(fx);
	munmap(slots[3], SLOT_BYTES);
	raw_reader_free(raw_reader_as(fx, USER));
	for (unsigned i = 0; i < n; i++)
		if (i != 3)
			munmap(slots[i], SLOT_BYTES);
}

/* Queues that are given up but kept open count less, for their memory is back, but they count. */
STARTED_BY_TEST(kept_queues_count_for_their_user)
{
	struct raw_reader *r;
	int kept[TRIES] = {0};
	unsigned n = 0;

	start(fx, 16);
	r = raw_reader_as(fx, USER);
	for (; n < TRIES; n++) {
		raw_subscribe(r->fd, 0, "pods", NULL, NULL);
		raw_hear(r->fd, &r->answer);
		if (r->answer.u.head.type != MESSAGE_SUBSCRIBED)
			break;
		kept[n] = r->answer.fds[0];
	}
	assert_in_range(n, 30, 60);
	assert_int_equal(r->answer.u.unsubscribed.code, REFUSED_FULL);
	assert_text(r->answer.u.bytes, (size_t)r->answer.length,
		    "of ended ones open; raise events.maxQueueMemory");
	assert_in_range(broker_fixture_stats(fx).queue_bytes, 400u << 10, 448u << 10);
	for (unsigned i = 0; i < n; i++)
		close(kept[i]);
	raw_unmap_queue(raw_reader_subscribe(r, 0, "pods", NULL, NULL));
	raw_reader_free(r);
}

STARTED_BY_TEST(a_reader_that_keeps_nothing_may_come_again)
{
	start(fx, 4);
	for (unsigned i = 0; i < TRIES; i++) {
		struct raw_reader *r = raw_reader_as(fx, USER);

		raw_unmap_queue(raw_reader_subscribe(r, 0, "pods", NULL, NULL));
		raw_reader_free(r);
	}
}
