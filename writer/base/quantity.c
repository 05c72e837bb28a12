/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and times as people write them; see quantity.h. */
#include "writer/base/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
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
	return message_set(ret_error, -EINVAL, "'%s' is not a size; write it as 512Mi, 4Gi or in bytes",
			   text);
}

static const struct unit {
	const char *name;
	uint64_t ms;
} units[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
#define UNITS (sizeof(units) / sizeof(*units))

/* The unit in front of *text, which is behind it then; NULL: there is none. */
static const struct unit *
take_unit(const char **text)
{
	for (size_t i = UNITS; i-- > 0;) { /* "ms" before "m" */
		size_t length = strlen(units[i].name);

		if (strncmp(*text, units[i].name, length) == 0) {
			*text += length;
			return &units[i];
		}
	}
	return NULL;
}

/* "800ms", "1h30m": as one would write it. */
static void
write_time(uint64_t ms, char text[32])
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < UNITS; i++) {
		const struct unit *unit = &units[i];

		if (ms >= unit->ms)
			at += (size_t)snprintf(text + at, 32 - at, "%" PRIu64 "%s", ms / unit->ms,
					       unit->name);
		ms %= unit->ms;
	}
}

int
quantity_time(const char *text, uint64_t least_ms, uint64_t most_ms, uint64_t *ret_ms, char **ret_error)
{
	const char *at = text;
	char least[32], most[32];
	uint64_t ms = 0;
	bool is_time = true;

	while (*at && is_time) {
		size_t digits = strspn(at, "0123456789");
		uint64_t number = strtoull(at, NULL, 10);
		const struct unit *unit;

		at += digits;
		unit = take_unit(&at);
		is_time = unit && digits > 0 && digits <= 9;
		ms += is_time ? number * unit->ms : 0;
	}
	if (is_time && ms >= least_ms && ms <= most_ms) {
		*ret_ms = ms;
		return 0;
	}
	write_time(least_ms, least);
	write_time(most_ms, most);
	return message_set(ret_error, -EINVAL,
			   "'%s' is not a time from %s to %s, such as 800ms, 30s or 1m30s", text, least,
			   most);
}
