/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pin protocol, both sides as threads of one process, which ThreadSanitizer can follow (make test
 * SAN=thread).
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "writer/arena/pins.h"

/*
 * Every cell can be claimed, the next claim gets none, and a freed one is found wherever the search
 * begins.
 */
TEST_CASE(all_cells_can_be_claimed_and_no_more)
{
	struct slot *slot = aligned_alloc(64, sizeof(*slot));
	struct pin_cell *cells[SLOT_CELLS];

	memset(slot, 0, sizeof(*slot));
	for (unsigned i = 0; i < SLOT_CELLS; i++) {
		cells[i] = slot_claim(slot, i * 7919);
		assert_non_null(cells[i]);
		assert_int_equal(atomic_load(&cells[i]->epoch), CELL_ACQUIRING);
		for (unsigned k = 0; k < i; k++)
			assert_ptr_not_equal(cells[i], cells[k]);
	}
	assert_null(slot_claim(slot, 0));
	assert_null(slot_claim(slot, 0xffffffffu));
	slot_unpin(cells[40]);
	assert_ptr_equal(slot_claim(slot, 0xfffffff0u), cells[40]);
	free(slot);
}

/*
 * A world in miniature: the root is a number r, its version stands in blocks[r % BLOCKS], and a block is
 * overwritten with nonsense once the horizon says that no reader can see it. A reader that finds anything but
 * its root's own number has been shown memory that was reused under it.
 */
#define BLOCKS                                                                                               \
	1024 /* the writer goes around them once, then waits for readers that hold a pin and no processor */
#define VERSIONS (100 * BLOCKS)
#define DANGERS 1000			/* moments below in which a reader gives its processor away */
#define READERS 3

struct world {
	_Atomic uint64_t root;		/* 2, 3, … : stands for header.root */
	uint64_t blocks[BLOCKS];	/* plain memory, as blocks are */
	struct slot *slot;
	_Atomic bool stop;
	_Atomic uint64_t wrong, looks;
	_Atomic unsigned started, dangers;
};

static void *
read_on(void *context)
{
	struct world *w = context;
	unsigned hint = (unsigned)(uintptr_t)&hint;
	uint64_t looks = 0;

	atomic_fetch_add(&w->started, 1);
	while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
		struct pin_cell *cell = slot_claim(w->slot, hint);			/* R1 */
		uint64_t root = atomic_load_explicit(&w->root, memory_order_acquire);	/* R2 */

		/* the dangerous moment: the root is known, its epoch does not stand in the cell yet */
		if (looks % 1024 == 0) {
			atomic_fetch_add(&w->dangers, 1);
			sched_yield();
		}
		if (w->blocks[root % BLOCKS] != root)
			atomic_fetch_add(&w->wrong, 1);
		slot_pin(cell, root);							/* R3 */
		for (int i = 0; i < 20; i++)
			if (w->blocks[root % BLOCKS] != root)
				atomic_fetch_add(&w->wrong, 1);
		slot_unpin(cell);
		if (++looks % 64 == 0)
			sched_yield();
	}
	atomic_fetch_add(&w->looks, looks);
	return NULL;
}

/* Whatever the interleaving, a block is not reused while a reader can see it. */
TEST_CASE(no_block_is_reused_under_a_reader)
{
	static struct world w;
	struct pins *pins = pins_new(1);
	pthread_t threads[READERS];
	uint64_t published = EPOCH_FIRST, freed = EPOCH_FIRST - 1;
	unsigned id;
	int fd;

	memset(&w, 0, sizeof(w));
	atomic_store(&w.root, published);
	w.blocks[published % BLOCKS] = published;
	assert_int_equal(pins_add(pins, published, &id, &fd), 0);
	w.slot = pins_page(pins, id);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_on, &w), 0);
	while (atomic_load(&w.started) < READERS)
		sched_yield();
	while (published < EPOCH_FIRST + VERSIONS || atomic_load(&w.dangers) < DANGERS) {
		uint64_t horizon;

		/* the next version takes a block that was freed; without one the writer has to wait */
		if (published + 1 - freed < BLOCKS) {
			w.blocks[(published + 1) % BLOCKS] = published + 1;
			published++;
			atomic_store_explicit(&w.root, published, memory_order_release);	/* W1 */
		} else {
			sched_yield();
		}
		horizon = pins_horizon(pins, published);					/* W2 */
		/* version e was retired by the commit of e + 1 */
		while (freed + 1 < horizon) {
			freed++;
			w.blocks[freed % BLOCKS] = ~freed;					/* W3 */
		}
	}
	atomic_store(&w.stop, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&w.wrong), 0);
	assert_true(atomic_load(&w.looks) > 0);
	pins_free(pins);
}
