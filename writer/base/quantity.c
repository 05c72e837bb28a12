/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and times as people write them; see quantity.h. */
#include "writer/base/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/message.h"

int
quantity_size(const char *text, uint64_t *ret_bytes, char **ret_error)
{
	static const char letters[] = "KMGT";
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits;
	uint64_t number = 0, factor = 1;

	if (digits == 0 || digits > 19)
		goto wrong;
	number = strtoull(text, NULL, 10);
	if (!*unit && number > 0)
		return message_set(ret_error, -EINVAL, "'%s': say the unit, such as %sMi", text, text);
	if (*unit && strchr(letters, toupper((unsigned char)*unit))) {
		size_t power = (size_t)(strchr(letters, toupper((unsigned char)*unit)) - letters) + 1;
		uint64_t base = unit[1] == 'i' ? 1024 : 1000;

		unit += unit[1] == 'i' ? 2 : 1;
		while (power-- > 0)
			factor *= base;
	}
	if (*unit == 'B')
		unit++;
	if (*unit || number > INT64_MAX / factor)
		goto wrong;
	*ret_bytes = number * factor;
	return 0;
wrong:
	return message_set(ret_error, -EINVAL, "'%s' is not a size; write it as 512Mi or 4Gi", text);
}

/* The largest first; the first WHOLE_UNITS are whole milliseconds. */
static const struct unit {
	const char *name;
	double ms;
} units[] = {{"h", 3600e3}, {"m", 60e3}, {"s", 1e3}, {"ms", 1}, {"us", 1e-3}, {"µs", 1e-3}, {"ns", 1e-6}};
#define UNITS (sizeof(units) / sizeof(*units))
#define WHOLE_UNITS 4u

bool
quantity_duration(const char *text, double *ret_ms)
{
	double ms = 0;

	if (!*text)
		return false;
	while (*text) {
		size_t digits = strspn(text, "0123456789."), i = UNITS;
		char *end;
		double number = strtod(text, &end);

		if (digits == 0 || end != text + digits)
			return false;
		while (i > 0 && strncmp(end, units[i - 1].name, strlen(units[i - 1].name)) != 0)
			i--; /* "ms" comes before "m" */
		if (i == 0)
			return false;
		ms += number * units[i - 1].ms;
		text = end + strlen(units[i - 1].name);
	}
	*ret_ms = ms;
	return true;
}

/* As people write it: "800ms", "1h30m". */
static void
write_time(uint64_t ms, char text[32])
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < WHOLE_UNITS; i++) {
		uint64_t unit = (uint64_t)units[i].ms;

		if (ms >= unit)
			at += (size_t)snprintf(text + at, 32 - at, "%" PRIu64 "%s", ms / unit, units[i].name);
		ms %= unit;
	}
	if (at == 0)
		snprintf(text, 32, "0s");
}

int
quantity_time(const char *text, uint64_t least_ms, uint64_t most_ms, uint64_t *ret_ms, char **ret_error)
{
	char least[32], most[32];
	double ms;

	if (quantity_duration(text, &ms) && ms >= (double)least_ms && ms <= (double)most_ms) {
		*ret_ms = (uint64_t)ms;
		return 0;
	}
	write_time(least_ms, least);
	write_time(most_ms, most);
	return message_set(ret_error, -EINVAL,
			   "'%s' is not a time from %s to %s, such as 800ms, 30s or 1m30s", text, least,
			   most);
}
