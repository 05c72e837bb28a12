/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a slot. (tests/explorer/pins_test.c proves that nothing is reused under a pin.) */
#include "tests/room.h"
#include "writer/arena/pins.h"

/* A freed cell is found wherever the search begins. */
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
