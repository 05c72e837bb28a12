/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread reads while another takes in the next generation and unmaps the old arena (PROTOCOLS.md, Move).
 * No thread reads unmapped memory, and each read is of one arena.
 */
#include <sys/eventfd.h>

#include "reader-lib/attach/snapshot.h"
#include "tests/explorer/explorer.h"
#include "tests/explorer/steps.h"
#include "tests/room.h"

/* Begin and end a snapshot; its pin is in the slot of the arena that it reads. */
static void
read_where_it_is_pinned(void)
{
	struct informer_snapshot snap;
	const struct snapshot *s = snapshot_of(&snap);
	int r = informer_begin(pair.inf, &snap);

	explorer_claim(r == 0, "begin says %s", informer_error_name(r));
	explorer_claim((uintptr_t)s->cell - (uintptr_t)s->mapping->slot < SLOT_BYTES, "pinned elsewhere");
	informer_end(&snap);
}

/* descriptors of the arena that is read, for two more mappings */
static int arrived[2][PROTOCOL_DESCRIPTORS];

/* Take in two arenas in turn. The second may reuse the struct of the mapping that is current now. */
static void
take_in_two(void)
{
	struct message_welcome welcome = {0};
	struct mapping *m;

	for (unsigned i = 0; i < 2; i++) {
		pthread_mutex_lock(&pair.inf->lock);
		explorer_claim(mapping_new(pair.inf, arrived[i], &welcome, &m) == 0, "not mapped");
		mapping_make_current(pair.inf, m);
		mapping_reap(pair.inf);
		pthread_mutex_unlock(&pair.inf->lock);
	}
}

/* Take in the WELCOME that waits in the socket. */
static void
take_in(void)
{
	struct informer_status status = {.size = sizeof(status)};

	informer_dispatch(pair.inf);
	/* a reader still holds the old mapping, or held it */
	informer_dispatch(pair.inf);
	explorer_claim(informer_status(pair.inf, &status) == 0 && status.attaches == 2, "not moved");
}

static const struct explorer_program moving = {
	.name = "read and move",
	.threads = {{"reader", steps_read}, {"dispatch", take_in}},
	.preemptions = 2,
	.old_values = 2,
};

static const struct explorer_program two_reading = {
	.name = "two read, and move",
	.threads = {{"reader", steps_read}, {"other", steps_read}, {"dispatch", take_in}},
	.preemptions = 2,
	.old_values = 0,
};

static int
set_up(void **state)
{
	(void)state;
	pair_begin();
	pair_next_writer();
	return 0;
}

/* Prepare descriptors for two mappings; they are mapped within a run. */
static void
let_two_arrive(void)
{
	const struct mapping *m = atomic_load(&pair.inf->current);

	for (unsigned i = 0; i < 2; i++) {
		arrived[i][0] = fcntl(m->arena_fd, F_DUPFD_CLOEXEC, 3);
		arrived[i][1] = memfd_create("slot", MFD_CLOEXEC);
		arrived[i][2] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		assert_int_equal(ftruncate(arrived[i][1], (off_t)SLOT_BYTES), 0);
	}
}

static const struct explorer_program moving_twice = {
	.name = "read, and move twice",
	.threads = {{"reader", read_where_it_is_pinned}, {"dispatch", take_in_two}},
	.preemptions = 2,
	.old_values = 2,
};

#define TEST(name) TEST_CASE_IN(set_up, pair_tear_down, name)

TEST(no_thread_reads_unmapped_memory)
{
	explorer_expect_good(&moving);
	explorer_expect_good(&two_reading);
}

/* The struct of a mapping is reused while a thread may still hold a pointer to it. */
TEST(a_pin_stands_in_the_slot_of_its_arena)
{
	let_two_arrive();
	explorer_expect_good(&moving_twice);
}

TEST(weaker_orders_are_found)
{
	static const struct explorer_fault faults[] = {
		{"R0 relaxed", "claim", NULL, EXPLORER_LOAD, 1, EXPLORER_RELAX},
		{"R1' dropped", "claim", NULL, EXPLORER_LOAD, 2, EXPLORER_REPEAT},
		{"R1 without its fence", "slot_claim", NULL, EXPLORER_EXCHANGE, 0, EXPLORER_RELAX},
		{"C2 without its fence", "slot_fence", "mapping_reap", EXPLORER_FENCE, 0, EXPLORER_DROP},
		{"C2: cells loaded relaxed", "mapping_pins", NULL, EXPLORER_LOAD, 0, EXPLORER_RELAX},
		{"R4 relaxed", "slot_unpin", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
		{0},
	};
	static const struct explorer_fault faults_moving_twice[] = {
		{"R1' relaxed", "claim", NULL, EXPLORER_LOAD, 2, EXPLORER_RELAX},
		{0},
	};

	explorer_expect_found(&moving, faults);
	let_two_arrive();
	explorer_expect_found(&moving_twice, faults_moving_twice);
}
