/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages: formatting, and the nearest name to a mistyped one (optimal string
 * alignment: insert, remove, replace and swap of neighbours cost one each).
 */
#include "writer/base/message.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAREST_MAX_LEN 64

void
message_format(char **ret_error, const char *format, ...)
{
	int saved_errno = errno;
	char *text = NULL;
	va_list ap;

	if (!ret_error)
		return;
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	free(*ret_error); /* after formatting: it may be one of the arguments */
	*ret_error = text;
	errno = saved_errno;
}

int
message_one_line(char **error, int code)
{
	for (char *c = error ? *error : NULL; c && *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return code;
}

void
message_freep(char **text)
{
	free(*text);
	*text = NULL;
}

static size_t
distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][NEAREST_MAX_LEN + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		above[j] = before[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
			size_t best = above[j - 1] + (ca != cb);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
			    cb == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		size_t *oldest = before;
		before = above;
		above = row;
		row = oldest;
	}
	return above[b_len];
}

const char *
message_nearest(const char *typed, const char *const *names, size_t n)
{
	size_t len = strlen(typed), best = len / 3 > 1 ? len / 3 : 1;
	const char *nearest = NULL;

	if (len == 0 || len > NEAREST_MAX_LEN)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t name_len = strlen(names[i]), d;

		if (name_len > NEAREST_MAX_LEN)
			continue;
		d = distance(typed, len, names[i], name_len);
		if (d < best || (d == best && !nearest && d < len)) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}
