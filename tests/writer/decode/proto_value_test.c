/* SPDX-License-Identifier: Apache-2.0 */
/* Values that JSON writes in another form than protobuf: invalid UTF-8, times, and small messages. */
#include <limits.h>

#include "tests/room.h"
#include "tests/support/proto_text.h"
#include "writer/decode/proto_value.h"

/* ---- texts ---- */

#define FFFD "\xef\xbf\xbd"

static const struct {
	const char *text, *repaired; /* NULL: valid as it is */
} texts[] = {
	{"", NULL},
	{"twelve bytes", NULL},
	{"\x7f \xc2\x80 \xdf\xbf", NULL},
	{"\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80", NULL},
	{"\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", NULL},
	{"1234567890\xc3\xa9", NULL},
	{"\x80", FFFD},
	{"\xff", FFFD},
	{"\xc0\xaf", FFFD FFFD},
	{"\xc1\xbf", FFFD FFFD},
	{"\xe0\x9f\xbf", FFFD FFFD FFFD},
	{"\xed\xa0\x80", FFFD FFFD FFFD}, /* a surrogate */
	{"\xf0\x8f\xbf\xbf", FFFD FFFD FFFD FFFD},
	{"\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD},
	{"\xf5\x80\x80\x80", FFFD FFFD FFFD FFFD},
	{"a\xe2\x82", "a" FFFD FFFD}, /* cut */
	{"\xe2\x82z", FFFD FFFD "z"},
	{"12345678\xff", "12345678" FFFD},
	{"1234567\xff-", "1234567" FFFD "-"},
	{"\xff-12345678", FFFD "-12345678"},
};

TEST_CASE(each_invalid_byte_becomes_a_replacement)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *repaired = texts[i].repaired ? texts[i].repaired : texts[i].text;
		size_t length = strlen(texts[i].text), room = proto_text_repaired_max(length), n;
		/* exact size, so that a sanitizer sees accesses beyond the end */
		char *text = malloc(length ? length : 1), *to = malloc(room ? room : 1);

		assert_true(text && to);
		memcpy(text, texts[i].text, length);
		assert_int_equal(proto_text_is_good(text, length), !texts[i].repaired);
		n = proto_text_repair(to, text, length);
		assert_int_equal(n, strlen(repaired));
		assert_true(n <= room);
		assert_memory_equal(to, repaired, n);
		free(text);
		free(to);
	}
}

/* ---- times ---- */

static const struct {
	int64_t seconds, nanos;
	const char *text, *micro; /* NULL: prints null */
} times[] = {
	{0, 0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"},
	{1795351905, 123456789, "2026-11-22T12:51:45Z", "2026-11-22T12:51:45.123456Z"},
	{-1, 999999999, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999Z"},
	/* the zero time prints null, also with nanoseconds that the form does not print */
	{-62135596800, 0, NULL, NULL},
	{-62135596800, 999, NULL, NULL},
	{-62135596800, 1000, NULL, "0001-01-01T00:00:00.000001Z"},
	{-62167219200, 0, "0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000000Z"},
	{253402300799, 0, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000000Z"},
	/* beyond what JSON's times hold, printed as Go does (apimachinery v0.37.2) */
	{-62167219201, 0, "-0001-12-31T23:59:59Z", "-0001-12-31T23:59:59.000000Z"},
	{253402300800, 0, "10000-01-01T00:00:00Z", "10000-01-01T00:00:00.000000Z"},
	{5939543980799, 5000, "190186-08-27T23:59:59Z", "190186-08-27T23:59:59.000005Z"},
	{-377705116800, 0, "-9999-01-01T00:00:00Z", "-9999-01-01T00:00:00.000000Z"},
	{-377705116801, 0, "-10000-12-31T23:59:59Z", "-10000-12-31T23:59:59.000000Z"},
	{-9223371966579724801, 0, "-292277020431-12-31T23:59:59Z", "-292277020431-12-31T23:59:59.000000Z"},
	{INT64_MAX, 0, "292277026596-12-04T15:30:07Z", "292277026596-12-04T15:30:07.000000Z"},
	{INT64_MIN, 0, "292277026596-12-04T15:30:08Z", "292277026596-12-04T15:30:08.000000Z"},
	{INT64_MAX, 1000000000, "292277026596-12-04T15:30:07Z", "292277026596-12-04T15:30:08.000000Z"},
	/* fractions of more than a second, or negative */
	{1, 1000000000, "1970-01-01T00:00:01Z", "1970-01-01T00:00:02.000000Z"},
	{0, INT32_MAX, "1970-01-01T00:00:00Z", "1970-01-01T00:00:02.147483Z"},
	{1, -1, "1970-01-01T00:00:01Z", "1970-01-01T00:00:01.000000Z"},
	{1, -1999, "1970-01-01T00:00:01Z", "1970-01-01T00:00:00.999999Z"},
	{1, -2000000000, "1970-01-01T00:00:01Z", "1969-12-31T23:59:59.000000Z"},
	{-62135596801, 1000000000, "0000-12-31T23:59:59Z", NULL},
	{-62135596800, -999, NULL, NULL},
	{-62135596800, -1000, NULL, "0000-12-31T23:59:59.999999Z"},
};

TEST_CASE(a_time_is_printed_as_the_server_prints_it)
{
	char to[PROTO_TIME_TEXT_MAX];
	struct proto_date date = {0};

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct proto_small time = {
			.number = {0, (uint64_t)times[i].seconds, (uint64_t)times[i].nanos}};

		for (int micro = 0; micro < 2; micro++) {
			const char *want = micro ? times[i].micro : times[i].text;
			size_t n = proto_time_text(&date, to, &time, micro);

			assert_in_range(n, 1, sizeof(to));
			assert_int_equal(proto_time_is_zero(&time, micro), !want);
			if (want) {
				assert_int_equal(n, strlen(want));
				assert_memory_equal(to, want, n);
			}
		}
	}
}

/* Each day is counted by the calendar's rules, and has another time of day. */
TEST_CASE(every_day_is_printed_as_the_calendar_has_it)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t midnight = -62167219200; /* 0000-01-01 */
	struct proto_date date = {0};

	for (int year = 0; year < 10000; year++) {
		bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

		for (int month = 1; month <= 12; month++) {
			int days = lengths[month - 1] + (month == 2 && leap);

			for (int day = 1; day <= days; day++, midnight += 86400) {
				int of_day = (int)((year * 366 + month * 31 + day) * 7919LL % 86400);
				struct proto_small time = {.number = {0, (uint64_t)(midnight + of_day), 0}};
				char want[80], to[PROTO_TIME_TEXT_MAX];

				if (day > 2 && day < 28)
					continue; /* an error would show at the ends of months */
				snprintf(want, sizeof(want), "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month,
					 day, of_day / 3600, of_day / 60 % 60, of_day % 60);
				assert_int_equal(proto_time_text(&date, to, &time, false), 20);
				assert_memory_equal(to, want, 20);
			}
		}
	}
	assert_int_equal(midnight, 253402300800);
}

/* ---- small messages ---- */

static const struct {
	enum proto_type type;
	const char *text;
	int result;
	unsigned number; /* of an -EPROTO: the unknown field */
} smalls[] = {
	{PROTO_QUANTITY, "", 0, 0},
	{PROTO_QUANTITY, "1:'5Gi'", 0, 0},
	{PROTO_QUANTITY, "1=5", -EBADMSG, 0},
	{PROTO_QUANTITY, "1:'1' 2:''", -EPROTO, 2},
	{PROTO_INT_OR_STRING, "1=1 2=-7 3:'http'", 0, 0},
	{PROTO_INT_OR_STRING, "3=1", -EBADMSG, 0},
	{PROTO_INT_OR_STRING, "2:'7'", -EBADMSG, 0},
	{PROTO_INT_OR_STRING, "4=0", -EPROTO, 4},
	{PROTO_TIME, "1=1 2=2", 0, 0},
	{PROTO_TIME, "1:''", -EBADMSG, 0},
	{PROTO_TIME, "3=0", -EPROTO, 3},
	{PROTO_MICRO_TIME, "1=1 2=2", 0, 0},
	{PROTO_MICRO_TIME, "3=0", -EPROTO, 3},
	{PROTO_RAW, "1:'{}'", 0, 0},
	{PROTO_RAW, "2:''", -EPROTO, 2},
	{PROTO_RAW, "1000:''", -EPROTO, 1000},
	{PROTO_RAW, "raw 0a 05 7b", -EBADMSG, 0},
	{PROTO_RAW, "raw 00 00", -EBADMSG, 0},
	{PROTO_RAW, "raw 0d 00 00 00 00", -EBADMSG, 0}, /* of fixed width */
};

TEST_CASE(a_small_message_has_the_fields_of_its_form)
{
	struct bytes in = {0};
	struct proto_small s;
	uint64_t number;

	for (size_t i = 0; i < sizeof(smalls) / sizeof(*smalls); i++) {
		struct proto_span span;

		proto_text(&in, smalls[i].text);
		span = (struct proto_span){in.data, in.data + in.length};
		assert_int_equal(proto_small_read(smalls[i].type, span, &s, &number), smalls[i].result);
		if (smalls[i].result == -EPROTO)
			assert_int_equal(number, smalls[i].number);
	}
	proto_text(&in, "1=1 2=-7 3:'http'");
	assert_int_equal(proto_small_read(PROTO_INT_OR_STRING,
					  (struct proto_span){in.data, in.data + in.length}, &s, &number),
			 0);
	assert_int_equal(s.number[1], 1);
	assert_int_equal((int64_t)s.number[2], -7);
	assert_int_equal(s.bytes[3].end - s.bytes[3].at, 4);
	assert_memory_equal(s.bytes[3].at, "http", 4);
	bytes_done(&in);
}

static const struct {
	const char *text;
	bool at_once;
} plain_times[] = {
	{"1=1795351905 2=0", true},
	{"1=-62135596800 2=0", true},
	{"1=5 2=999999999", true},
	{"1=5 2=-1", true},
	{"", false},
	{"1=5", false},
	{"2=5", false},
	{"2=5 1=5", false},
	{"1=5 2=5 2=6", false},
	{"1=5 2=5 3=0", false},
	{"1:'' 2=5", false},
	{"1=5 2:''", false},
	{"raw 08 05 10", false},
	{"raw 08 85 10 00", false},
	{"raw 08 05 10 80", false},
};

/* The fast path reads times as servers write them. Other times are left to proto_small_read(). */
TEST_CASE(the_fast_path_reads_the_same_time)
{
	struct bytes in = {0};

	for (size_t i = 0; i < sizeof(plain_times) / sizeof(*plain_times); i++) {
		struct proto_small at_once = {0}, s;
		struct proto_span span;
		uint64_t number;
		uint8_t *text;

		proto_text(&in, plain_times[i].text);
		/* exact size, so that a sanitizer sees a read beyond the end */
		text = malloc(in.length + 1);
		assert_non_null(text);
		memcpy(text + 1, in.data ? in.data : text, in.length);
		span = (struct proto_span){text + 1, text + 1 + in.length};
		assert_int_equal(proto_time_read(span, &at_once), plain_times[i].at_once);
		if (plain_times[i].at_once) {
			assert_int_equal(proto_small_read(PROTO_TIME, span, &s, &number), 0);
			assert_true(at_once.number[1] == s.number[1] && at_once.number[2] == s.number[2]);
		}
		free(text);
	}
	bytes_done(&in);
}
