/* SPDX-License-Identifier: Apache-2.0 */
/* What is learnt about sharing from streams of new, of repeated and of mixed values, and after a change. */
#include "tests/room.h"
#include "tests/support/json_random.h"
#include "writer/decode/sharing.h"

/* Feed values: fresh_per_mille of them new, the rest of `kinds`. Returns how many were looked up. */
static unsigned
source(struct sharing *s, struct json_random *r, unsigned count, uint32_t bytes, unsigned kinds,
       unsigned fresh_per_mille, uint8_t *seen)
{
	unsigned looked_up = 0;

	for (unsigned i = 0; i < count; i++) {
		bool fresh = json_random_below(r, 1000) < fresh_per_mille;
		uint32_t kind = kinds ? json_random_below(r, kinds) : 0;

		if (!sharing_wanted(s))
			continue;
		looked_up++;
		sharing_note(s, !fresh && seen[kind], bytes);
		if (!fresh)
			seen[kind] = 1;
	}
	return looked_up;
}

/* Values that never repeat are soon left inline, and are tried again ever more seldom. */
TEST_CASE(values_that_never_repeat_are_inline)
{
	struct json_random r = {.seed = 3};
	uint8_t seen[1] = {0};
	struct sharing s = {0};
	unsigned looked_up = source(&s, &r, 1000, 36, 0, 1000, seen);

	assert_in_range(looked_up, 32, 100);
	source(&s, &r, 100000, 36, 0, 1000, seen);
	assert_true(source(&s, &r, 100000, 36, 0, 1000, seen) < 400);
}

/* Values of 35 kinds are shared from the first repeat on, in any size and order. */
TEST_CASE(repeated_values_are_shared)
{
	static const uint32_t sizes[] = {20, 40, 200, 3000};

	for (uint64_t seed = 1; seed <= 200; seed++)
		for (unsigned i = 0; i < 4; i++) {
			struct json_random r = {.seed = seed};
			uint8_t seen[35] = {0};
			struct sharing s = {0};
			unsigned looked_up = source(&s, &r, 10000, sizes[i], 35, 0, seen);

			/* a short string's first trial may fail; the second succeeds */
			assert_true(looked_up > (sizes[i] < 40 ? 9000 : 9999));
		}
}

/* If one value in five repeats, sharing pays for large values, and not for short strings. */
TEST_CASE(the_size_decides_where_few_values_repeat)
{
	struct json_random r = {.seed = 8};
	uint8_t seen[8] = {0}, seen_too[8] = {0};
	struct sharing large = {0}, small = {0};

	assert_true(source(&large, &r, 20000, 1000, 8, 800, seen) > 19900);
	assert_true(source(&small, &r, 20000, 24, 8, 800, seen_too) < 4000);
}

/* Values that stop repeating stop being shared. They are shared again when they repeat again. */
TEST_CASE(a_change_is_noticed)
{
	struct json_random r = {.seed = 21};
	uint8_t seen[20] = {0};
	struct sharing s = {0};

	assert_int_equal(source(&s, &r, 5000, 60, 20, 0, seen), 5000);
	source(&s, &r, 2000, 60, 20, 1000, seen);
	assert_true(source(&s, &r, 5000, 60, 20, 1000, seen) < 1000);
	source(&s, &r, 20000, 60, 20, 0, seen);
	assert_int_equal(source(&s, &r, 5000, 60, 20, 0, seen), 5000);
}
