/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers. */
#include <errno.h>

#include "tests/room.h"
#include "writer/base/message.h"
#include "writer/base/number.h"

/* Digits alone are a number, up to the largest that fits. */
TEST_CASE(digits_are_a_number_up_to_the_limit)
{
	uint64_t n = 1;

	assert_int_equal(number_parse("0", 0, &n, NULL), 0);
	assert_true(n == 0);
	assert_int_equal(number_parse("007", 9, &n, NULL), 0);
	assert_true(n == 7);
	assert_int_equal(number_parse("18446744073709551615", UINT64_MAX, &n, NULL), 0);
	assert_true(n == UINT64_MAX);
}

/* What is no number, or too large, is refused with a message that quotes it. */
TEST_CASE(all_else_is_refused)
{
	static const char *const wrong[] = {"", "-1", "+1", " 1", "1 ", "0x1", "1.5", "1e3"};
	_cleanup_(message_freep) char *error = NULL;
	uint64_t n;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(number_parse(wrong[i], UINT64_MAX, &n, NULL), -EINVAL);
	assert_int_equal(number_parse("18446744073709551616", UINT64_MAX, &n, NULL), -EINVAL);
	assert_int_equal(number_parse("5", 4, &n, NULL), -EINVAL);
	assert_int_equal(number_parse("x", 9, &n, &error), -EINVAL);
	assert_string_equal(error, "'x' is not a whole number");
	assert_int_equal(number_parse("10", 9, &n, &error), -EINVAL);
	assert_string_equal(error, "'10' is more than 9");
}
