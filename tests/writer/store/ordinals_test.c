/* SPDX-License-Identifier: Apache-2.0 */
/* Free ordinals. */
#include "tests/room.h"
#include "writer/store/ordinals.h"

static uint32_t
take(struct ordinals *o, uint64_t published, uint64_t *next)
{
	uint32_t ordinal;

	assert_int_equal(ordinals_take(o, published, next, &ordinal), 0);
	return ordinal;
}

/* An ordinal given back in a commit is not used again before that commit is published. */
TEST_CASE(an_ordinal_waits_for_its_epoch)
{
	struct ordinals o = {0};
	uint64_t next = 0;

	assert_int_equal(take(&o, 7, &next), 0);
	assert_int_equal(take(&o, 7, &next), 1);
	ordinals_give(&o, 8, 0);
	assert_int_equal(take(&o, 7, &next), 2);
	assert_int_equal(take(&o, 8, &next), 0);
	assert_int_equal(take(&o, 8, &next), 3);
	ordinals_done(&o);
}

/* There are 2^31 - 1 ordinals; the next is an error. */
TEST_CASE(the_last_number_is_the_last)
{
	struct ordinals o = {0};
	uint64_t next = 0x7ffffffe;
	uint32_t ordinal;

	assert_int_equal(take(&o, 1, &next), 0x7ffffffe);
	assert_true(ordinals_take(&o, 1, &next, &ordinal) < 0);
}
