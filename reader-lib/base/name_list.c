/* SPDX-License-Identifier: Apache-2.0 */
/* Adds names to a list; see name_list.h. */
#include "reader-lib/base/name_list.h"

#include <stdio.h>

void
name_list_add(struct name_list *list, const char *what, const char *name, size_t length)
{
	size_t room = sizeof(list->text) - list->length;
	int n;

	if (length >= room)
		return;
	n = snprintf(list->text + list->length, room, "%s%s%.*s", list->length ? ", " : "", what, (int)length,
		     name);
	if (n > 0 && (size_t)n < room)
		list->length += (size_t)n;
	else
		list->text[list->length] = '\0';
}
