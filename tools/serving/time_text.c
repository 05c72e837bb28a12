/* SPDX-License-Identifier: Apache-2.0 */
/* Times by the C library's calendar; see time_text.h. */
#include "tools/serving/time_text.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TIME_LENGTH 20 /* 2026-01-02T03:04:05Z */

int
api_time_parse(const char *text, size_t len, int64_t *ret_seconds)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:dd";
	struct tm tm = {0};
	int part[6] = {0}, n = 0;

	if (len < sizeof(shape) - 1)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(shape) - 1; i++) {
		if (shape[i] != 'd') {
			if (text[i] != shape[i])
				return -EINVAL;
			n++;
		} else if (text[i] < '0' || text[i] > '9') {
			return -EINVAL;
		} else {
			part[n] = part[n] * 10 + (text[i] - '0');
		}
	}
	tm.tm_year = part[0] - 1900;
	tm.tm_mon = part[1] - 1;
	tm.tm_mday = part[2];
	tm.tm_hour = part[3];
	tm.tm_min = part[4];
	tm.tm_sec = part[5];
	*ret_seconds = (int64_t)timegm(&tm);
	return 0;
}

/* The zone at the end of a time, in seconds; false: there is none. */
static bool
read_zone(const char *text, size_t len, int *ret_offset)
{
	int hours, minutes;
	char sign;

	*ret_offset = 0;
	if (len == 1 && text[0] == 'Z')
		return true;
	if (len != 6 || sscanf(text, "%c%2d:%2d", &sign, &hours, &minutes) != 3 || !strchr("+-", sign))
		return false;
	*ret_offset = (hours * 60 + minutes) * (sign == '-' ? -60 : 60);
	return true;
}

bool
api_time_read(const char *text, size_t len, int64_t *ret_seconds, unsigned *ret_micros)
{
	size_t at = TIME_LENGTH - 1;
	unsigned digits = 0;
	int offset;

	*ret_micros = 0;
	if (len < TIME_LENGTH || api_time_parse(text, len, ret_seconds) < 0)
		return false;
	if (text[at] == '.') {
		for (at++; at < len && isdigit((unsigned char)text[at]); at++)
			if (digits++ < 6)
				*ret_micros = *ret_micros * 10 + (unsigned)(text[at] - '0');
		for (; digits < 6; digits++)
			*ret_micros *= 10;
	}
	if (!read_zone(text + at, len - at, &offset))
		return false;
	*ret_seconds -= offset;
	return true;
}
