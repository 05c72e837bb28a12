/* SPDX-License-Identifier: Apache-2.0 */
/* The types of plain YAML scalars; see scalar_resolve.h. */
#include "tools/informerctl/scalar_resolve.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A longer text counts as a string. */
#define LENGTH_MAX 400

static const char *const words[] = {
	"",     "~",     "null",  "Null",  "NULL",  "y",     "Y",     "yes",   "Yes",   "YES",
	"true", "True",  "TRUE",  "on",    "On",    "ON",    "n",     "N",     "no",    "No",
	"NO",   "false", "False", "FALSE", "off",   "Off",   "OFF",   ".nan",  ".NaN",  ".NAN",
	".inf", ".Inf",  ".INF",  "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
};

static bool
digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t
digits(const char *at)
{
	size_t n = 0;

	while (digit(at[n]))
		n++;
	return n;
}

/* Whether a text is not empty and has only characters of the set. */
static bool
all_of(const char *text, const char *set)
{
	return *text && text[strspn(text, set)] == '\0';
}

/* A whole number in Go's notation that 64 bits hold: 12, -0x1f, 0b101, 0b-1, 0o17, 017. */
static bool
is_integer(const char *text)
{
	bool negative = *text == '-';
	const char *set = "0123456789";
	int base = 10;

	/* Go accepts a sign behind "0b" */
	if (strncmp(text, "0b-", 3) == 0 || strncmp(text, "0b+", 3) == 0)
		return all_of(text + 3, "01");
	text += *text == '-' || *text == '+';
	if (text[0] == '0' && text[1]) {
		char c = (char)(text[1] | 0x20);

		base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
		set = c == 'x' ? "0123456789abcdefABCDEF" : c == 'b' ? "01" : "01234567";
		text += c == 'x' || c == 'b' || c == 'o' ? 2 : 1;
	}
	if (!all_of(text, set))
		return false;
	errno = 0;
	if (strtoull(text, NULL, base) > (uint64_t)INT64_MAX + 1 && negative)
		return false;
	return errno == 0;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?, within the range of double */
static bool
is_float(const char *text)
{
	const char *at = text;
	size_t whole, fraction = 0;

	at += *at == '-' || *at == '+';
	whole = digits(at);
	at += whole;
	if (*at == '.') {
		fraction = digits(at + 1);
		at += 1 + fraction;
	}
	if (whole + fraction == 0)
		return false;
	if (*at == 'e' || *at == 'E') {
		at++;
		at += *at == '-' || *at == '+';
		if (digits(at) == 0)
			return false;
		at += digits(at);
	}
	if (*at)
		return false;
	return isfinite(strtod(text, NULL));
}

/* Each '_' stands between digits, as Go's ParseFloat() requires: .5_7, but not .5__7 or .5_ */
static bool
parts_digits(const char *text)
{
	for (const char *at = strchr(text, '_'); at; at = strchr(at + 1, '_'))
		if (at == text || !digit(at[-1]) || !digit(at[1]))
			return false;
	return true;
}

/* Take one or two digits, and check their range. */
static bool
part(const char **at, long low, long high)
{
	size_t n = digits(*at);
	long value = 0;

	if (n == 0)
		return false;
	n = n > 2 ? 2 : n;
	for (size_t i = 0; i < n; i++)
		value = value * 10 + (*(*at)++ - '0');
	return value >= low && value <= high;
}

static bool
is_zone(const char *at)
{
	if (*at == 'Z')
		return at[1] == '\0';
	if (*at != '+' && *at != '-')
		return false;
	return digits(at + 1) == 2 && at[3] == ':' && digits(at + 4) == 2 && at[6] == '\0' &&
	       strtol(at + 1, NULL, 10) <= 24 && strtol(at + 4, NULL, 10) <= 60;
}

/* 2026-1-2, alone or with a time: behind 'T' or 't' with a zone, behind a space without. */
static bool
is_time(const char *text)
{
	static const char days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const char *at = text + 5;
	long year, month, day;
	char separator;

	if (digits(text) != 4 || text[4] != '-')
		return false;
	year = strtol(text, NULL, 10);
	month = strtol(at, NULL, 10);
	if (!part(&at, 1, 12) || *at++ != '-')
		return false;
	day = strtol(at, NULL, 10);
	if (!part(&at, 1, days[month - 1]))
		return false;
	if (month == 2 && day == 29 && (year % 4 != 0 || (year % 100 == 0 && year % 400 != 0)))
		return false;
	if (!*at)
		return true;
	separator = *at++;
	if ((separator != 'T' && separator != 't' && separator != ' ') || !part(&at, 0, 23) || *at++ != ':' ||
	    !part(&at, 0, 59) || *at++ != ':' || !part(&at, 0, 59))
		return false;
	if (*at == '.' && digits(at + 1) > 0)
		at += 1 + digits(at + 1);
	return separator == ' ' ? *at == '\0' : is_zone(at);
}

/* [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?: YAML 1.1 reads 12:30:45 as a number. */
static bool
is_sexagesimal(const char *at)
{
	bool any = false;

	at += *at == '-' || *at == '+';
	if (!digit(*at))
		return false;
	at += strspn(at, "0123456789_");
	for (; *at == ':'; any = true) {
		size_t n = digits(++at);

		if (n == 0 || n > 2 || (n == 2 && *at > '5'))
			return false;
		at += n;
	}
	if (*at == '.')
		at += 1 + strspn(at + 1, "0123456789_");
	return any && *at == '\0';
}

bool
scalar_resolves(struct field_text text)
{
	char copy[LENGTH_MAX + 1], plain[LENGTH_MAX + 1];
	size_t n = 0;

	if (text.length > LENGTH_MAX || (text.length > 0 && memchr(text.data, '\0', text.length)))
		return false;
	memcpy(copy, text.data, text.length);
	copy[text.length] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(copy, words[i]) == 0)
			return true;
	if (*copy != '.' && *copy != '-' && *copy != '+' && !digit(*copy))
		return false;
	for (const char *at = copy; *at; at++)
		if (*at != '_')
			plain[n++] = *at;
	plain[n] = '\0';
	if (*copy == '.')
		return parts_digits(copy) && is_float(plain);
	return is_time(copy) || is_integer(plain) || is_float(plain) || is_sexagesimal(copy);
}
