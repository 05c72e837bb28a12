/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing and formatting times; see age.h. */
#include "tools/printer/age.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* One or two units: "5d" or "5d3h". */
static const char *
two(char *buffer, int64_t big, char big_unit, int64_t small, char small_unit)
{
	if (small == 0)
		snprintf(buffer, AGE_TEXT_MAX, "%" PRId64 "%c", big, big_unit);
	else
		snprintf(buffer, AGE_TEXT_MAX, "%" PRId64 "%c%" PRId64 "%c", big, big_unit, small,
			 small_unit);
	return buffer;
}

const char *
age_format(int64_t ns, char buffer[AGE_TEXT_MAX])
{
	int64_t seconds = ns / NS_PER_S, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

	if (seconds < -1)
		snprintf(buffer, AGE_TEXT_MAX, "<invalid>");
	else if (seconds < 0)
		snprintf(buffer, AGE_TEXT_MAX, "0s");
	else if (seconds < 120)
		two(buffer, seconds, 's', 0, 0);
	else if (minutes < 10)
		two(buffer, minutes, 'm', seconds % 60, 's');
	else if (minutes < 180)
		two(buffer, minutes, 'm', 0, 0);
	else if (hours < 8)
		two(buffer, hours, 'h', minutes % 60, 'm');
	else if (hours < 48)
		two(buffer, hours, 'h', 0, 0);
	else if (hours < 24ll * 8)
		two(buffer, days, 'd', hours % 24, 'h');
	else if (hours < 24ll * 365 * 2)
		two(buffer, days, 'd', 0, 0);
	else if (hours < 24ll * 365 * 8)
		two(buffer, days / 365, 'y', days % 365, 'd');
	else
		two(buffer, days / 365, 'y', 0, 0);
	return buffer;
}

/* Parse exactly `digits` digits at *at; -1: other characters. */
static int
number(const char **at, int digits)
{
	int value = 0;

	for (int i = 0; i < digits; i++, (*at)++) {
		if (**at < '0' || **at > '9')
			return -1;
		value = value * 10 + (**at - '0');
	}
	return value;
}

/* Parse "Z" or "+02:00", at the end of the text, into seconds east of UTC. False: neither. */
static bool
parse_zone(const char *at, int64_t *ret_seconds)
{
	int sign = *at == '-' ? -1 : 1, hours, minutes;

	*ret_seconds = 0;
	if ((*at == 'Z' || *at == 'z') && at[1] == '\0')
		return true;
	if (*at != '+' && *at != '-')
		return false;
	at++;
	hours = number(&at, 2);
	if (hours < 0 || hours > 23 || *at++ != ':')
		return false;
	minutes = number(&at, 2);
	*ret_seconds = (int64_t)sign * (hours * 3600 + minutes * 60);
	return minutes >= 0 && minutes < 60 && *at == '\0';
}

bool
age_read(struct field_text time, int64_t *ret_seconds, unsigned *ret_ns)
{
	int64_t zone;
	unsigned fraction = 0;
	char text[64];
	const char *at = text;
	struct tm tm = {0};

	if (time.length >= sizeof(text))
		return false;
	memcpy(text, time.data, time.length);
	text[time.length] = '\0';
	tm.tm_year = number(&at, 4) - 1900;
	if (tm.tm_year < -1900 || *at++ != '-')
		return false;
	tm.tm_mon = number(&at, 2) - 1;
	if (tm.tm_mon < 0 || tm.tm_mon > 11 || *at++ != '-')
		return false;
	tm.tm_mday = number(&at, 2);
	if (tm.tm_mday < 1 || tm.tm_mday > 31 || (*at != 'T' && *at != 't'))
		return false;
	at++;
	tm.tm_hour = number(&at, 2);
	if (tm.tm_hour < 0 || tm.tm_hour > 23 || *at++ != ':')
		return false;
	tm.tm_min = number(&at, 2);
	if (tm.tm_min < 0 || tm.tm_min > 59 || *at++ != ':')
		return false;
	tm.tm_sec = number(&at, 2);
	if (tm.tm_sec < 0 || tm.tm_sec > 60)
		return false;
	if (*at == '.') {
		unsigned unit = (unsigned)NS_PER_S / 10;

		for (at++; *at >= '0' && *at <= '9'; at++, unit /= 10)
			fraction += unit * (unsigned)(*at - '0');
	}
	if (!parse_zone(at, &zone))
		return false;
	*ret_seconds = timegm(&tm) - zone;
	*ret_ns = fraction;
	return true;
}

bool
age_parse(struct field_text time, int64_t *ret_ns)
{
	const int64_t most = INT64_MAX / NS_PER_S - 1;
	int64_t seconds;
	unsigned ns;

	if (!age_read(time, &seconds, &ns) || seconds < -most || seconds > most)
		return false;
	*ret_ns = seconds * NS_PER_S + ns;
	return true;
}

const char *
age_since(struct field time, int64_t now_ns, char buffer[AGE_TEXT_MAX])
{
	int64_t then;

	if (age_parse(field_string(time), &then))
		return age_format(now_ns - then, buffer);
	snprintf(buffer, AGE_TEXT_MAX, "<unknown>");
	return buffer;
}

int64_t
age_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}
