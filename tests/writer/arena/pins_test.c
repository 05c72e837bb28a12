/* SPDX-License-Identifier: Apache-2.0 */
/* The writer scans slots: of honest readers, and of readers that store anything. */
#include "tests/room.h"
#include "tests/support/steps.h"
#include "tests/support/store_fixture.h"
#include "writer/arena/pins.h"

struct world {
	struct pins *pins;
	struct slot *page;	/* the reader's mapping */
	unsigned id;
	int fd;
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->pins = pins_new(4);
	assert_int_equal(pins_add(w->pins, 10, &w->id, &w->fd), 0);
	w->page = test_map_slot(w->fd);
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	test_unmap_slot(w->page);
	pins_free(w->pins);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

static void
put(struct world *w, unsigned cell, uint64_t value)
{
	slot_touch(w->page, cell);
	atomic_store(&w->page->cells[cell].epoch, value);
}

/* "5=12" stores 12 in cell 5, as "free", "acquiring" or "max" do. "at 20: 15": horizon 15 at epoch 20. */
static void
act(void *context, const char *step)
{
	struct world *w = context;
	unsigned long cell, epoch, horizon;
	char value[16];

	if (sscanf(step, " at %lu: %lu", &epoch, &horizon) == 2) {
		if (pins_horizon(w->pins, epoch) != horizon)
			fail_msg("not so%s", step);
		return;
	}
	assert_int_equal(sscanf(step, "%lu=%15s", &cell, value), 2);
	put(w, (unsigned)cell,
	    strcmp(value, "free") == 0        ? CELL_FREE
	    : strcmp(value, "acquiring") == 0 ? CELL_ACQUIRING
	    : strcmp(value, "max") == 0       ? UINT64_MAX
					      : strtoul(value, NULL, 10));
}

static void
play(struct world *w, const char *steps)
{
	each_step(w, steps, act);
}

/* told: "2 pins, the oldest 14, revoked" */
static void
assert_stat(struct world *w, unsigned id, const char *told)
{
	struct slot_stat stat;
	char text[64];

	pins_stat(w->pins, id, &stat);
	snprintf(text, sizeof(text), "%u pins, the oldest %llu%s", stat.pins,
		 (unsigned long long)stat.oldest_epoch, stat.revoked ? ", revoked" : "");
	assert_string_equal(text, told);
}

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)
#define PLAY(name, steps)                                                                                    \
	TEST(name)                                                                                           \
	{                                                                                                    \
		play(w, steps);                                                                              \
	}                                                                                                    \
	struct world

/* A pinned cell whose bit its reader clears keeps its pin. A cell whose bit was never set has no pin. */
TEST(a_cell_counts_once_its_bit_was_set)
{
	play(w, "62=15, at 20: 15");
	atomic_store(&w->page->touched, 0);
	atomic_store(&w->page->cells[3].epoch, 15);
	play(w, "at 25: 15");
	atomic_store(&w->page->cells[62].epoch, CELL_FREE);
	play(w, "at 30: 30");
}

/* Without pins everything retired may go; with pins, what the oldest pin protects stays. */
PLAY(the_oldest_pin_is_the_horizon,
     "at 10: 10, 5=12, 62=11, at 20: 11, 62=free, at 21: 12, 5=free, at 22: 22");

/* ACQUIRING protects what was current when the cell was last seen free, for as long as it lasts. */
PLAY(a_cell_that_stays_acquiring_holds_what_it_may_have_seen,
     "at 15: 15, 0=acquiring, at 16: 15, at 900: 15, 0=16, at 901: 16, 0=acquiring, at 902: 901");

/* A pin of a future epoch counts as the present. 18 is below the horizon already given. */
PLAY(a_pin_of_the_future_counts_as_the_present,
     "3=max, at 20: 20, 4=18, at 25: 20, 4=free, at 30: 20, 3=free, at 31: 31");

/* The horizon never goes down, whatever is stored: memory below it may have been reused. */
PLAY(the_horizon_never_goes_down,
     "at 50: 50, 0=2, at 51: 50, 0=51, at 60: 51, 0=3, at 61: 60, 0=free, at 62: 62");

/* A cell that goes to an older epoch protects only what a cell claimed since the last scan would. */
TEST(an_effective_pin_never_goes_down)
{
	play(w, "1=12, at 20: 12, 2=18, at 21: 12, 2=13, 1=free, at 22: 21");
	assert_stat(w, w->id, "1 pins, the oldest 21");
}

static uint64_t
since(struct world *w)
{
	struct slot_stat stat;

	pins_stat(w->pins, w->id, &stat);
	return stat.oldest_since_ns;
}

/* A pin ages as long as the same epoch is protected, whatever its reader writes into the cell. */
TEST(a_pin_that_flickers_grows_old)
{
	uint64_t first;

	play(w, "1=acquiring, at 20: 10");
	first = since(w);
	play(w, "1=3, at 21: 10"); /* below the protected epoch */
	assert_int_equal(since(w), first);
	play(w, "1=max, at 22: 22"); /* protects another epoch */
	assert_true(since(w) > first);
}

/* A cell that is written again protects only epochs since the last scan, and the root that it loaded. */
TEST(a_changed_pin_gives_up_older_epochs)
{
	uint64_t horizon = 0;

	play(w, "1=12, at 20: 12");
	for (uint64_t epoch = 21; epoch < 40; epoch++) {
		put(w, 1, horizon % 2 ? CELL_FREE : epoch - 8);
		horizon = pins_horizon(w->pins, epoch);
		assert_true(horizon >= epoch - 1);
	}
	/* a cell that was seen free, and pins an old epoch */
	play(w, "1=free, at 50: 50, 1=41, at 60: 50");
	/* a cell that is claimed, then stores the epoch that it loaded */
	play(w, "1=acquiring, at 70: 60, 1=65, at 80: 65");
}

/* Whatever a reader stores, the horizon stays between its last value and now, and other pins hold. */
TEST(garbage_in_a_slot_harms_no_other_reader)
{
	struct slot *honest;
	uint64_t last = 0, pinned = 0;
	unsigned id;
	int fd;

	srand(7);
	assert_int_equal(pins_add(w->pins, 10, &id, &fd), 0);
	honest = test_map_slot(fd);
	slot_touch(honest, 9);
	for (uint64_t epoch = 11; epoch < 3000; epoch++) {
		uint64_t horizon;

		if (epoch % 10 == 0) {
			atomic_store(&honest->cells[9].epoch, epoch);
			pinned = epoch;
		}
		for (int i = 0; i < 40; i++)
			((volatile uint8_t *)w->page)[(unsigned)rand() % SLOT_BYTES] = (uint8_t)rand();
		horizon = pins_horizon(w->pins, epoch);
		assert_true(horizon >= last && horizon <= epoch);
		if (pinned)
			assert_true(horizon <= pinned);
		last = horizon;
		pins_take_armed(w->pins, w->id, UINT32_MAX);
	}
	/* after that reader has gone, nothing is held */
	pins_remove(w->pins, w->id);
	assert_int_equal(pins_horizon(w->pins, 3000), pinned);
	test_unmap_slot(honest);
}

/* A slot's page cannot be resized by its reader, and other users cannot open it. */
TEST(a_slot_cannot_be_resized)
{
	struct stat st;

	assert_int_equal(ftruncate(w->fd, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(w->fd, 3l * SLOT_BYTES), -1);
	assert_int_equal(fcntl(w->fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_int_equal(fstat(w->fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_size, SLOT_BYTES);
	assert_true(fcntl(w->fd, F_GETFD) & FD_CLOEXEC);
}

/* At most so many slots are given out. A returned slot is given out again. */
TEST(pins_are_given_out_up_to_the_limit)
{
	unsigned id, other;
	int fd;

	for (int i = 0; i < 3; i++)
		assert_int_equal(pins_add(w->pins, 10, &id, &fd), 0);
	assert_int_equal(pins_add(w->pins, 10, &other, &fd), -EUSERS);
	pins_remove(w->pins, id);
	pins_remove(w->pins, id);
	assert_int_equal(pins_add(w->pins, 10, &other, &fd), 0);
	assert_int_equal(other, id);
}

/* An armed bit is taken once, by its own wake-up. Other bits stay armed; unknown bits wake no reader. */
TEST(armed_is_taken_once)
{
	assert_false(pins_take_armed(w->pins, w->id, ARMED_COMMIT));
	atomic_store(&w->page->armed, ARMED_COMMIT);
	assert_false(pins_take_armed(w->pins, w->id, ARMED_QUEUE));
	assert_true(pins_take_armed(w->pins, w->id, ARMED_COMMIT));
	assert_false(pins_take_armed(w->pins, w->id, ARMED_COMMIT));
	atomic_store(&w->page->armed, ARMED_COMMIT | ARMED_QUEUE);
	assert_true(pins_take_armed(w->pins, w->id, ARMED_COMMIT));
	assert_true(pins_take_armed(w->pins, w->id, ARMED_COMMIT | ARMED_QUEUE));
	assert_int_equal(atomic_load(&w->page->armed), 0);
	atomic_store(&w->page->armed, ~(uint32_t)(ARMED_COMMIT | ARMED_QUEUE));
	assert_false(pins_take_armed(w->pins, w->id, ARMED_COMMIT | ARMED_QUEUE));
	assert_false(pins_take_armed(w->pins, 3, ARMED_COMMIT));
	assert_false(pins_take_armed(w->pins, 77, ARMED_COMMIT));
}

/* The reader that holds the horizon back is found, with the time since when. */
TEST(the_oldest_reader_is_found)
{
	struct slot_stat stat;
	struct slot *other;
	unsigned id;
	int fd;

	assert_int_equal(pins_oldest(w->pins, &stat), -1);
	assert_int_equal(pins_add(w->pins, 10, &id, &fd), 0);
	other = test_map_slot(fd);
	slot_touch(other, 7);
	play(w, "0=15, 1=14");
	atomic_store(&other->cells[7].epoch, 13);
	pins_horizon(w->pins, 20);
	assert_int_equal(pins_oldest(w->pins, &stat), (int)id);
	assert_true(stat.oldest_since_ns > 0);
	assert_stat(w, id, "1 pins, the oldest 13");
	assert_stat(w, w->id, "2 pins, the oldest 14");
	test_unmap_slot(other);
}

/* A closed slot counts until its cells are free. Its reader sees that it is closed. */
TEST(a_closed_slot_counts_until_its_cells_are_free)
{
	play(w, "62=15, 3=16");
	assert_false(slot_is_closed(w->page));
	pins_close(w->pins, w->id);
	assert_true(slot_is_closed(w->page));
	assert_false(pins_are_free(w->pins, w->id));
	play(w, "at 20: 15");
	atomic_store(&w->page->touched, 0);
	play(w, "62=free");
	assert_false(pins_are_free(w->pins, w->id));
	play(w, "3=acquiring");
	assert_false(pins_are_free(w->pins, w->id));
	play(w, "3=free");
	assert_true(pins_are_free(w->pins, w->id));
	assert_true(pins_are_free(w->pins, 3));
	pins_close(w->pins, 3);
}

/* A revoked reader's pins hold nothing back, but are reported. Its slot is scanned until it is free. */
TEST(a_revoked_slot_does_not_count)
{
	struct slot_stat stat;
	unsigned other;
	int fd;

	assert_int_equal(pins_add(w->pins, 12, &other, &fd), 0);
	play(w, "5=15, at 20: 15");
	assert_int_equal(pins_oldest(w->pins, &stat), w->id);
	assert_int_equal(pins_revoked(w->pins), 0);
	pins_revoke(w->pins, w->id);
	pins_revoke(w->pins, w->id);
	assert_int_equal(pins_revoked(w->pins), 1);
	assert_true(slot_is_closed(w->page));
	play(w, "6=16, at 21: 21");
	assert_int_equal(pins_oldest(w->pins, &stat), -1);
	assert_stat(w, w->id, "2 pins, the oldest 15, revoked");
	assert_false(pins_are_free(w->pins, w->id));
	play(w, "5=free, 6=free");
	assert_true(pins_are_free(w->pins, w->id));
	pins_remove(w->pins, other);
	assert_int_equal(pins_revoked(w->pins), 1);
	pins_remove(w->pins, w->id);
	assert_int_equal(pins_revoked(w->pins), 0);
	pins_revoke(w->pins, w->id);
	assert_int_equal(pins_revoked(w->pins), 0);
	assert_int_equal(pins_add(w->pins, 21, &w->id, &fd), 0);
	assert_false(slot_is_closed(pins_page(w->pins, w->id)));
	assert_stat(w, w->id, "0 pins, the oldest 0");
}
