/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a Reflector's status with a script's words; what the script does not name is not compared. */
#include "tests/conversations/told_stat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/message.h"

static int
find_number(const struct reflector_status *s, const char *name, size_t length, uint64_t *ret)
{
	const struct { const char *name; uint64_t value;
	} numbers[] = {
		{"lists", s->lists},         {"watch-lists", s->watch_lists},
		{"watches", s->watches},     {"events", s->events},
		{"bookmarks", s->bookmarks}, {"bad", s->bad_events},
		{"failures", s->failures},   {"code", (uint64_t)s->last_code},
		{"items", s->list_items},    {"remaining", (uint64_t)s->list_remaining},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strlen(numbers[i].name) == length && strncmp(numbers[i].name, name, length) == 0) {
			*ret = numbers[i].value;
			return 0;
		}
	}
	for (int kind = 0; length > 10 && strncmp(name, "lists-for-", 10) == 0 && kind < RESULT_KINDS;
	     kind++) {
		const char *reason = request_result_name((enum request_result_kind)kind);

		if (strlen(reason) == length - 10 && strncmp(reason, name + 10, length - 10) == 0) {
			*ret = s->lists_for[kind];
			return 0;
		}
	}
	return -ENOENT;
}

static int
compare_word(const struct reflector_status *s, const char *word, size_t length, char **ret_why)
{
	const char *state = reflector_state_name(s->state), *equals = memchr(word, '=', length);
	uint64_t number;

	if (!equals) {
		if (strlen(state) == length && strncmp(state, word, length) == 0)
			return 0;
		return message_set(ret_why, -EINVAL, "the client is %s, and not %.*s", state, (int)length,
				   word);
	}
	if (strncmp(word, "reason=", 7) == 0) {
		if (strlen(s->last_reason) == length - 7 &&
		    strncmp(s->last_reason, word + 7, length - 7) == 0)
			return 0;
		return message_set(ret_why, -EINVAL, "the reason is \"%s\"", s->last_reason);
	}
	if (find_number(s, word, (size_t)(equals - word), &number) < 0)
		return message_set(ret_why, -EINVAL, "a status has no %.*s", (int)(equals - word), word);
	if (strtoull(equals + 1, NULL, 10) != number)
		return message_set(ret_why, -EINVAL, "%.*s is %" PRIu64, (int)(equals - word), word, number);
	return 0;
}

int
stat_compare(const struct reflector_status *status, const char *expected, char **ret_why)
{
	int r = 0;

	while (r == 0 && *expected) {
		size_t length = strcspn(expected, " ");

		if (strncmp(expected, "error=", 6) == 0) {
			if (strstr(status->last_error, expected + 6))
				return 0;
			return message_set(ret_why, -EINVAL, "the error is \"%s\"", status->last_error);
		}
		r = compare_word(status, expected, length, ret_why);
		expected += length;
		expected += *expected == ' ';
	}
	return r;
}
