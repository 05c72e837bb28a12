/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, sizes and times as people write them. */
#include "tests/room.h"
#include "writer/base/message.h"
#include "writer/base/number.h"
#include "writer/base/quantity.h"

/* Only digits are a number, up to the largest that fits. Other text is refused and quoted. */
TEST_CASE(digits_are_a_number_up_to_the_limit)
{
	static const char *const wrong[] = {
		"", "-1", "+1", " 1", "1 ", "0x1", "1.5", "1e3", "18446744073709551616"};
	_cleanup_(message_freep) char *error = NULL;
	uint64_t n = 1;

	assert_int_equal(number_parse("0", 0, &n, NULL), 0);
	assert_true(n == 0);
	assert_int_equal(number_parse("007", 9, &n, NULL), 0);
	assert_true(n == 7);
	assert_int_equal(number_parse("18446744073709551615", UINT64_MAX, &n, NULL), 0);
	assert_true(n == UINT64_MAX);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(number_parse(wrong[i], UINT64_MAX, &n, NULL), -EINVAL);
	assert_int_equal(number_parse("5", 4, &n, NULL), -EINVAL);
	assert_int_equal(number_parse("x", 9, &n, &error), -EINVAL);
	assert_string_equal(error, "'x' is not a whole number");
	assert_int_equal(number_parse("10", 9, &n, &error), -EINVAL);
	assert_string_equal(error, "'10' is more than 9");
}

static void
assert_size(const char *text, uint64_t bytes)
{
	uint64_t got;

	assert_int_equal(quantity_size(text, &got, NULL), 0);
	assert_int_equal(got, bytes);
}

/* A size is bytes, powers of 1000, or powers of 1024, with or without a B behind that. */
TEST_CASE(sizes_have_units)
{
	assert_size("0", 0);
	assert_size("7B", 7);
	assert_size("3k", 3000);
	assert_size("3Ki", 3072);
	assert_size("2MB", 2000000);
	assert_size("4GiB", UINT64_C(4) << 30);
	assert_size("1Ti", UINT64_C(1) << 40);
}

/* A bad or too large size is refused, and the message begins with it. */
TEST_CASE(bad_sizes_are_refused)
{
	static const char *const wrong[] = {
		"", "Mi", "10", "1.5Gi", "-1", "5 Mi", "9999999Ti", "12345678901234567890"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		_cleanup_(message_freep) char *error = NULL;
		uint64_t got;

		assert_int_equal(quantity_size(wrong[i], &got, &error), -EINVAL);
		assert_int_equal(strncmp(error + 1, wrong[i], strlen(wrong[i])), 0);
	}
}

/* 10 could be bytes or MiB: it is refused, with an example of what may be meant. */
TEST_CASE(a_size_without_a_unit_is_refused)
{
	_cleanup_(message_freep) char *error = NULL;
	uint64_t got = 5;

	assert_int_equal(quantity_size("10", &got, &error), -EINVAL);
	assert_string_equal(error, "'10': say the unit, such as 10Mi");
	assert_int_equal(quantity_size("1073741824", &got, &error), -EINVAL);
	assert_int_equal(got, 5);
}

/* A time may have several units. A time beyond its bounds is refused, and the message names them. */
TEST_CASE(times_stay_between_their_bounds)
{
	_cleanup_(message_freep) char *error = NULL;
	uint64_t ms;

	assert_int_equal(quantity_time("1m30s", 1, 90000, &ms, NULL), 0);
	assert_int_equal(ms, 90000);
	assert_int_equal(quantity_time("800ms", 800, 90000, &ms, NULL), 0);
	assert_int_equal(quantity_time("799ms", 800, 90000, &ms, NULL), -EINVAL);
	assert_int_equal(quantity_time("91s", 800, 90000, &ms, &error), -EINVAL);
	assert_string_equal(error, "'91s' is not a time from 800ms to 1m30s, such as 800ms, 30s or 1m30s");
	assert_int_equal(quantity_time("30", 1, 90000, &ms, NULL), -EINVAL);
	assert_int_equal(quantity_time("s", 1, 90000, &ms, NULL), -EINVAL);
}
