/* SPDX-License-Identifier: Apache-2.0 */
/* Ages and times as kubectl prints them, and durations in flags. */
#include "tests/room.h"
#include "tools/printer/age.h"
#include "tools/informerctl/cli.h"

#define MINUTE INT64_C(60)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define YEAR (365 * DAY)

static void
assert_age(int64_t seconds, const char *text)
{
	char buffer[AGE_TEXT_MAX];

	assert_string_equal(age_format(seconds * NS_PER_S, buffer), text);
}

/* Each range of ages has its two units. The cases are those of Kubernetes' test of HumanDuration. */
TEST_CASE(ages_are_printed_as_kubectl_does)
{
	assert_age(0, "0s");
	assert_age(1, "1s");
	assert_age(70, "70s");
	assert_age(119, "119s");
	assert_age(2 * MINUTE, "2m");
	assert_age(190, "3m10s");
	assert_age(10 * MINUTE - 1, "9m59s");
	assert_age(10 * MINUTE + 5, "10m");
	assert_age(70 * MINUTE, "70m");
	assert_age(3 * HOUR - 1, "179m");
	assert_age(3 * HOUR, "3h");
	assert_age(3 * HOUR + 10 * MINUTE, "3h10m");
	assert_age(8 * HOUR - 1, "7h59m");
	assert_age(8 * HOUR + 10 * MINUTE, "8h");
	assert_age(47 * HOUR + 59 * MINUTE, "47h");
	assert_age(2 * DAY, "2d");
	assert_age(2 * DAY + 3 * HOUR, "2d3h");
	assert_age(8 * DAY - 1, "7d23h");
	assert_age(8 * DAY + 5 * HOUR, "8d");
	assert_age(2 * YEAR - 1, "729d");
	assert_age(2 * YEAR, "2y");
	assert_age(2 * YEAR + 78 * DAY, "2y78d");
	assert_age(8 * YEAR - 1, "7y364d");
	assert_age(8 * YEAR + 200 * DAY, "8y");
}

/* A time less than 2 s in the future has the age 0s, a later one <invalid>. */
TEST_CASE(a_future_time_is_invalid)
{
	char buffer[AGE_TEXT_MAX];

	assert_age(-1, "0s");
	assert_string_equal(age_format(-NS_PER_S - NS_PER_S / 2, buffer), "0s");
	assert_age(-2, "<invalid>");
}

static int64_t
seconds_of(const char *text)
{
	int64_t ns;

	return age_parse((struct field_text){text, strlen(text)}, &ns) ? ns / NS_PER_S : -1;
}

/* Times may be in UTC, have an offset, or have fractions. */
TEST_CASE(times_of_rfc3339_are_read)
{
	assert_int_equal(seconds_of("1970-01-01T00:00:00Z"), 0);
	assert_int_equal(seconds_of("2026-03-01T12:00:00Z"), 1772366400);
	assert_int_equal(seconds_of("2026-03-01T14:00:00+02:00"), 1772366400);
	assert_int_equal(seconds_of("2026-03-01T12:00:00.999999Z"), 1772366400);
}

TEST_CASE(a_malformed_time_is_refused)
{
	static const char whole[] = "2026-03-01T12:00:00+02:00";

	for (size_t i = 0; i < sizeof(whole) - 1; i++) {
		int64_t ns;

		assert_false(age_parse((struct field_text){whole, i}, &ns));
	}
	assert_int_equal(seconds_of("2026-13-01T12:00:00Z"), -1);
	assert_int_equal(seconds_of("2026-03-01T12:00:00Zx"), -1);
	assert_int_equal(seconds_of("0001-01-01T00:00:00Z"), -1);
	assert_int_equal(seconds_of("9999-01-01T00:00:00Z"), -1);
}

static int
ms_of(const char *text)
{
	int ms;

	return cli_duration(text, &ms) ? ms : -77;
}

TEST_CASE(timeouts_are_read_as_gos_durations)
{
	assert_int_equal(ms_of("30s"), 30000);
	assert_int_equal(ms_of("500ms"), 500);
	assert_int_equal(ms_of("1h30m"), 5400000);
	assert_int_equal(ms_of("1.5s"), 1500);
	assert_int_equal(ms_of("0"), 0);
	assert_int_equal(ms_of("-1s"), -1);
	assert_int_equal(ms_of("30"), -77);
	assert_int_equal(ms_of("s"), -77);
	assert_int_equal(ms_of(""), -77);
	assert_int_equal(ms_of("-"), -77);
	assert_int_equal(ms_of("1x"), -77);
}
