/* SPDX-License-Identifier: Apache-2.0 */
/* The ring that grows. */
#include "tests/room.h"
#include "writer/base/fifo_ring.h"

struct item {
	uint64_t number;
	uint32_t more;
};

static void
push(struct fifo_ring *r, uint64_t number)
{
	struct item *item;

	assert_int_equal(fifo_ring_reserve(r, sizeof(*item), 1), 0);
	item = fifo_ring_push(r, sizeof(*item));
	*item = (struct item){number, (uint32_t)~number};
}

static void
take(struct fifo_ring *r, uint64_t number)
{
	const struct item *oldest = fifo_ring_at(r, sizeof(*oldest), 0);

	assert_int_equal(oldest->number, number);
	assert_int_equal(oldest->more, (uint32_t)~number);
	fifo_ring_pop(r);
}

/* Entries come out in the order they went in, wherever the ring's end is when it grows. */
TEST_CASE(the_order_stays_when_the_ring_grows)
{
	for (uint64_t start = 0; start <= FIFO_RING_FIRST; start++) {
		struct fifo_ring r = {0};
		uint64_t in = 0, out = 0;

		while (in < start) {
			push(&r, in++);
			take(&r, out++);
		}
		while (in < start + (uint64_t)3 * FIFO_RING_FIRST)
			push(&r, in++);
		for (size_t i = 0; i < r.count; i++) {
			const struct item *item = fifo_ring_at(&r, sizeof(*item), i);

			assert_int_equal(item->number, out + i);
		}
		while (out < in)
			take(&r, out++);
		assert_int_equal(r.count, 0);
		fifo_ring_done(&r);
	}
}

/* After a reservation, pushes need no memory. A reservation that no memory can hold changes nothing. */
TEST_CASE(a_reservation_is_enough_for_its_pushes)
{
	struct fifo_ring r = {0};
	const uint8_t *items;

	push(&r, 7);
	assert_int_equal(fifo_ring_reserve(&r, sizeof(struct item), 1000), 0);
	items = r.items;
	for (uint64_t i = 0; i < 1000; i++)
		push(&r, 8 + i);
	assert_ptr_equal(r.items, items);
	assert_int_equal(fifo_ring_reserve(&r, sizeof(struct item), SIZE_MAX / 2), -ENOMEM);
	for (uint64_t i = 0; i <= 1000; i++)
		take(&r, 7 + i);
	fifo_ring_done(&r);
	assert_int_equal(r.capacity, 0);
}
