/* SPDX-License-Identifier: Apache-2.0 */
/* Prometheus' text format, and the counters of rest_client_*. */
#include <math.h>

#include "tests/room.h"
#include "writer/kube/request_stats.h"
#include "writer/base/metrics_text.h"

static void
assert_text(struct metrics_text *m, const char *expected)
{
	size_t length;
	char *text = metrics_take(m, &length);

	assert_non_null(text);
	assert_int_equal(length, strlen(expected));
	assert_string_equal(text, expected);
	free(text);
}

/*
 * A family's head comes once, before its first sample. A family without samples is left out. Any label value
 * is escaped; a label without a value is left out. Whole numbers up to 2^53 have no exponent and no point;
 * fractions keep their digits.
 */
TEST_CASE(the_text_is_what_prometheus_reads)
{
	struct metrics_text m = {0};

	assert_text(&m, "");
	metrics_family(&m, "a_total", "counter", "Nothing yet.");
	metrics_family(&m, "b", "gauge", "Some of them.");
	metrics_sample(&m, "", 1, NULL);
	metrics_sample(&m, "", 2, LABELS("x", "y"));
	metrics_sample(&m, "", 3, LABELS("x", "a\"b\\c\nd\x01\xffz"));
	metrics_sample(&m, "", 4, LABELS("x", NULL, "y", "1"));
	metrics_sample(&m, "", 5, LABELS("x", NULL));
	metrics_sample(&m, "", 9007199254740992.0, NULL);
	metrics_sample(&m, "", -1, NULL);
	metrics_sample(&m, "", 0.005, NULL);
	assert_text(&m, "# HELP b Some of them.\n# TYPE b gauge\n"
			"b 1\n"
			"b{x=\"y\"} 2\n"
			"b{x=\"a\\\"b\\\\c\\nd??z\"} 3\n"
			"b{y=\"1\"} 4\n"
			"b 5\n"
			"b 9007199254740992\n"
			"b -1\n"
			"b 0.005\n");
}

/* A duration falls into the first bucket whose bound it does not exceed, else into +Inf. */
TEST_CASE(durations_fall_into_buckets)
{
	struct request_stats stats = {0};

	request_stats_duration(&stats, 0.005);
	request_stats_duration(&stats, 0.0051);
	request_stats_duration(&stats, 61);
	assert_int_equal(stats.buckets[0], 1);
	assert_int_equal(stats.buckets[1], 1);
	assert_int_equal(stats.buckets[REQUEST_BUCKETS], 1);
	assert_int_equal(stats.count, 3);
	assert_true(fabs(stats.seconds - 61.0101) < 1e-9);
}

/* An impossible status code counts as no answer. */
TEST_CASE(impossible_codes_count_as_none)
{
	struct request_stats stats = {0};

	request_stats_answer(&stats, 200);
	request_stats_answer(&stats, -1);
	request_stats_answer(&stats, 1000);
	assert_int_equal(stats.codes[200], 1);
	assert_int_equal(stats.codes[0], 2);
}
