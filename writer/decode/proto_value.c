/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/decode/proto_value.h"

#include <errno.h>
#include <string.h>

#include "shm-layout/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define DAY 86400u
#define YEAR_ONE (-62135596800) /* Go's zero time, in seconds since 1970-01-01 */
#define ERA_YEARS 400u
#define ERA_DAYS 146097u
/*
 * As in Go, days count from 1 March of the year -400 * ERAS_BEFORE_ZERO. Times in the first 257 years after
 * INT64_MIN are before that day and wrap around.
 */
#define ERAS_BEFORE_ZERO 730692556u
#define DAYS_BEFORE_1970 (ERAS_BEFORE_ZERO * (uint64_t)ERA_DAYS + 719468)

/* ---- texts ---- */

bool
proto_text_is_utf8(const char *text, size_t length)
{
	int n;

	for (size_t i = 0; i < length; i += (size_t)n) {
		n = utf8_length(text + i, length - i);
		if (n <= 0)
			return false;
	}
	return true;
}

size_t
proto_text_repair(char *to, const char *text, size_t length)
{
	char *out = to;

	for (size_t i = 0; i < length;) {
		int n = utf8_length(text + i, length - i);

		memcpy(out, n > 0 ? text + i : REPLACEMENT, n > 0 ? (size_t)n : 3);
		out += n > 0 ? n : 3;
		i += n > 0 ? (size_t)n : 1;
	}
	return (size_t)(out - to);
}

/* ---- small messages ---- */

/* Bits by field number: the fields of the message, and those that are numbers. */
static const struct {
	uint8_t known, numbers;
} forms[] = {
	[PROTO_INT_OR_STRING] = {0x0e, 0x06}, [PROTO_QUANTITY] = {0x02, 0}, [PROTO_TIME] = {0x06, 0x06},
	[PROTO_MICRO_TIME] = {0x06, 0x06},    [PROTO_RAW] = {0x02, 0},
};

int
proto_small_read(enum proto_type type, struct proto_span in, struct proto_small *ret, uint64_t *ret_number)
{
	struct proto_token t;

	memset(ret, 0, sizeof(*ret));
	while (in.at < in.end) {
		if (!proto_next(&in.at, in.end, &t))
			return -EBADMSG;
		*ret_number = t.number;
		if (t.number >= PROTO_SMALL_FIELDS || !(forms[type].known >> t.number & 1))
			return -EPROTO;
		if ((t.wire == PROTO_WIRE_NUMBER) != (forms[type].numbers >> t.number & 1))
			return -EBADMSG;
		ret->number[t.number] = t.value;
		ret->bytes[t.number] = t.bytes;
	}
	return 0;
}

/* A time as Go reads it: Time has no fraction; MicroTime's nanoseconds may exceed a second. */
struct moment {
	int64_t seconds;
	uint32_t micros; /* below 1,000,000 */
};

static struct moment
read_moment(const struct proto_small *time, bool micro)
{
	int32_t micros = micro ? (int32_t)time->number[2] / 1000 : 0, carry = micros / 1000000;

	micros -= carry * 1000000;
	if (micros < 0) {
		micros += 1000000;
		carry--;
	}
	return (struct moment){(int64_t)(time->number[1] + (uint64_t)(int64_t)carry), (uint32_t)micros};
}

bool
proto_time_is_zero(const struct proto_small *time, bool micro)
{
	struct moment at = read_moment(time, micro);

	return at.seconds == YEAR_ONE && at.micros == 0;
}

/* Write the `digits` lowest decimal digits. */
static char *
put_digits(char *to, uint32_t value, unsigned digits)
{
	for (unsigned i = digits; i > 0; i--, value /= 10)
		to[i - 1] = (char)('0' + value % 10);
	return to + digits;
}

/* Write at least four digits. */
static char *
put_year(char *to, int64_t year)
{
	uint64_t value = (uint64_t)year;
	unsigned digits = 0;

	if (year < 0) {
		*to++ = '-';
		value = -value;
	}
	if (value >= 10000) {
		for (uint64_t left = value / 10000; left > 0; left /= 10)
			digits++;
		to = put_digits(to, (uint32_t)(value / 10000), digits);
	}
	return put_digits(to, (uint32_t)(value % 10000), 4);
}

/*
 * Write "2026-01-31". Here years begin in March, so that a leap day is the last of its year. An era has 400
 * years and ERA_DAYS days; it begins in a year that 400 divides.
 */
static char *
put_date(char *to, uint64_t days)
{
	uint64_t era = days / ERA_DAYS;
	uint32_t day = (uint32_t)(days % ERA_DAYS),
		 year = (day - day / 1460 + day / 36524 - day / 146096) / 365, month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	to = put_year(to, ((int64_t)era - ERAS_BEFORE_ZERO) * ERA_YEARS + year + (month >= 10));
	*to++ = '-';
	to = put_digits(to, month < 10 ? month + 3 : month - 9, 2);
	*to++ = '-';
	return put_digits(to, day - (153 * month + 2) / 5 + 1, 2);
}

/* "07:" */
static char *
put_two(char *to, uint32_t value, char after)
{
	to[0] = (char)('0' + value / 10);
	to[1] = (char)('0' + value % 10);
	to[2] = after;
	return to + 3;
}

size_t
proto_time_text(struct proto_date *date, char to[PROTO_TIME_TEXT_MAX], const struct proto_small *time,
		bool micro)
{
	struct moment moment = read_moment(time, micro);
	uint64_t since = (uint64_t)moment.seconds + DAYS_BEFORE_1970 * DAY, day = since / DAY;
	uint32_t of_day = (uint32_t)(since % DAY);
	char *at = to;

	if (date->length == 0 || date->day != day) {
		char *end = put_date(date->text, day);

		*end++ = 'T';
		date->length = (uint8_t)(end - date->text);
		date->day = day;
	}
	memcpy(at, date->text, sizeof(date->text));
	at = put_two(at + date->length, of_day / 3600, ':');
	at = put_two(at, of_day / 60 % 60, ':');
	at = put_two(at, of_day % 60, micro ? '.' : 'Z');
	if (micro) {
		at = put_digits(at, moment.micros, 6);
		*at++ = 'Z';
	}
	return (size_t)(at - to);
}
