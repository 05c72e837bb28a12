/* SPDX-License-Identifier: Apache-2.0 */
/* Which resource versions can be compared, and how: as apimachinery's CompareResourceVersion. */
#include "shm-layout/resource_version.h"
#include "tests/room.h"

static bool
comparable(const char *text)
{
	return resource_version_is_comparable(text, strlen(text));
}

static bool
less(const char *a, const char *b)
{
	return resource_version_is_less(a, strlen(a), b, strlen(b));
}

/* Only digits without leading zeros can be compared: no sign, no blank, not "0", which means any. */
TEST_CASE(digits_can_be_compared)
{
	static const char *const not[] = {"", "0", "007", "-1", "+1", " 1", "1 ", "1a", "0x1", "1.0"};

	assert_true(comparable("1"));
	assert_true(comparable("10"));
	assert_true(comparable("99999999999999999999999999999999999999999999999999999999999999"));
	for (size_t i = 0; i < sizeof(not) / sizeof(*not); i++)
		if (comparable(not[i]))
			fail_msg("'%s'", not[i]);
}

/* A version that cannot be compared is neither less nor greater. */
TEST_CASE(versions_are_compared_as_numbers)
{
	assert_true(less("9", "10"));
	assert_false(less("10", "9"));
	assert_false(less("10", "10"));
	assert_true(less("18446744073709551615", "18446744073709551616"));
	assert_true(less("18446744073709551616", "28446744073709551615"));
	assert_false(less("0", "1"));
	assert_false(less("", "1"));
	assert_false(less("1", "02"));
	assert_false(less("1", "b"));
	assert_false(less("a", "b"));
}
