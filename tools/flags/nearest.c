/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance: letters inserted, deleted, replaced or swapped. */
#include "tools/flags/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define LENGTH_MAX 62
#define BEGINNING_MIN 3

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t
distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), rows[3][LENGTH_MAX + 2];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	if (n > LENGTH_MAX || m > LENGTH_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= m; j++)
		above[j] = j;
	memcpy(before, above, sizeof(rows[0]));
	for (size_t i = 1; i <= n; i++) {
		size_t *free_row = before;

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);

			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]))
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = free_row;
	}
	return above[m];
}

static const char *
only_beginning(const char *word, const char *const *names, size_t count)
{
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (strncmp(names[i], word, strlen(word)) != 0)
			continue;
		if (found)
			return NULL;
		found = names[i];
	}
	return found;
}

const char *
nearest(const char *word, const char *const *names, size_t count)
{
	const char *found = strlen(word) >= BEGINNING_MIN ? only_beginning(word, names, count) : NULL;
	size_t best = strlen(word) / 3 + 1, d;

	if (found)
		return found;
	for (size_t i = 0; i < count; i++) {
		d = distance(word, names[i]);
		if (d < best || (d == best && !found && d < strlen(word))) {
			best = d;
			found = names[i];
		}
	}
	return found;
}
