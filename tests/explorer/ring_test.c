/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of a queue (PROTOCOLS.md, Queue). A reader looks while the writer reopens the ring and fills it
 * again: what the reader discards as overflowed contains no entry of the next opening. A reader empties a
 * full ring whose places are refilled: no unread entry is overwritten.
 */
#include "reader-lib/events/ring.h"
#include "tests/explorer/explorer.h"
#include "tests/room.h"
#include "writer/serve/ring_out.h"

#define READ_BEFORE 3u /* entries of the first opening, all read before the overflow */
#define SEQ_OF_PIN 40u /* the root that the reader has pinned, and the base of the second opening */

static struct queue_cursor cursor;
static struct ring ring;
static struct ring_out *out;

static void
push(unsigned entries)
{
	struct queue_entry entry = {.seq = 1, .kind = QUEUE_ADDED};

	for (unsigned i = 0; i < entries; i++)
		ring_out_push(out, &entry, 0);
	ring_out_publish(out);
}

static void
reopen_and_fill(void)
{
	struct queue_entry entry = {.seq = SEQ_OF_PIN + 1, .kind = QUEUE_ADDED};

	ring_out_begin(out, SEQ_OF_PIN);
	ring_out_push(out, &entry, 0);
	ring_out_publish(out);
}

static void
look(void)
{
	struct ring_look look;
	int r = ring_look(&ring, &look);

	if (r == -EAGAIN)
		return;
	explorer_claim(r == 0, "the look says %d", r);
	/*
	 * The reader discards an overflowed ring up to this head and catches up from the pinned root. An
	 * entry newer than that root would be lost.
	 */
	explorer_claim(look.open || look.head == READ_BEFORE,
		       "overflowed, with an entry of the next opening below its head");
	explorer_claim(!look.open || look.base == SEQ_OF_PIN, "open, with the base of before");
	explorer_claim(look.head == READ_BEFORE || look.openings == 2, "an entry of an opening not seen");
	if (look.open && look.head > READ_BEFORE)
		explorer_claim(ring_entry(&ring, READ_BEFORE).seq == SEQ_OF_PIN + 1, "half an entry");
}

/* A queue that overflowed after its reader had read everything in it. */
static void
overflow(void)
{
	push(READ_BEFORE);
	ring.consumed = cursor.consumed = READ_BEFORE;
	ring_out_overflow(out);
}

static void
fill(void)
{
	push(QUEUE_ENTRIES_MIN);
}

static const struct explorer_program reopening = {
	.name = "look and reopening",
	.begin = overflow,
	.threads = {{"reader", look}, {"writer", reopen_and_fill}},
	.preemptions = 4,
	.old_values = 3,
};

/* Read the first place of a full ring, which is refilled with the next entry. */
static void
read_first(void)
{
	explorer_claim(ring_entry(&ring, 0).seq == 1, "not the entry that stood there");
	ring.next = 1;
	ring_consume(&ring);
}

static void
push_one_more(void)
{
	struct queue_entry entry = {.seq = 2, .kind = QUEUE_ADDED};

	ring_out_push(out, &entry, 0);
	ring_out_publish(out);
}

static const struct explorer_program full = {
	.name = "a full ring",
	.begin = fill,
	.threads = {{"reader", read_first}, {"writer", push_one_more}},
	.preemptions = 4,
	.old_values = 3,
};

static int
set_up(void **state)
{
	int fd = -1;

	(void)state;
	if (ring_out_new(QUEUE_ENTRIES_MIN, &cursor, 0, &out, &fd) < 0 || !out)
		return -1;
	close(fd);
	ring = (struct ring){
		.queue = (struct queue *)(uintptr_t)ring_out_page(out),
		.capacity = QUEUE_ENTRIES_MIN,
		.cursor = &cursor,
		.openings = 1,
	};
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	ring_out_free(out, false);
	return 0;
}

#define TEST(name) TEST_CASE_IN(set_up, tear_down, name)

TEST_GOOD(no_order_hides_what_came_after_reopening, reopening)
TEST_GOOD(no_unread_entry_is_overwritten, full)

TEST_FOUND(weaker_orders_are_found_at_reopening, reopening,
	   {"P2: head relaxed", "ring_out_publish", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
	   {"Q2: head relaxed", "ring_look", NULL, EXPLORER_LOAD, 1, EXPLORER_RELAX},
	   {"P1: OPEN relaxed", "ring_out_begin", NULL, EXPLORER_STORE, 2, EXPLORER_RELAX})

TEST_FOUND(weaker_orders_are_found_in_a_full_ring, full,
	   {"Q5: consumed relaxed", "ring_consume", NULL, EXPLORER_STORE, 2, EXPLORER_RELAX},
	   {"P2: consumed loaded relaxed", "take_consumed", NULL, EXPLORER_LOAD, 0, EXPLORER_RELAX})
