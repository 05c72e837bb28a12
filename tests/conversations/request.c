/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a request with the words of a script, without what both may leave out. */
#include "tests/conversations/request.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "writer/base/message.h"

/* Cut out the text from this blank to the next blank. */
static void
cut_here(char *at)
{
	size_t length = 1 + strcspn(at + 1, " ");

	memmove(at, at + length, strlen(at + length) + 1);
}

/* Cut a word out, with the blank before it. False if it is not there. */
static bool
cut(char *text, const char *word)
{
	char *at = strstr(text, word);

	if (at)
		cut_here(at);
	return at != NULL;
}

/*
 * The request's "timeout=412" must be within the script's "timeout=300..599", or within the default range.
 * Cuts both out.
 */
static int
cut_timeout(char *asked, char *expected, char **ret_why)
{
	unsigned from = 300, to = 599, timeout = 0;
	char *at = strstr(expected, " timeout=");

	if (at) {
		if (sscanf(at, " timeout=%u..%u", &from, &to) != 2)
			return message_set(ret_why, -EINVAL, "a timeout is said as timeout=300..599");
		cut_here(at);
	}
	at = strstr(asked, " timeout=");
	if (!at || sscanf(at, " timeout=%u", &timeout) != 1 || timeout < from || timeout > to)
		return message_set(ret_why, -EINVAL, "a watch asks for a timeout of %u to %u s: %s", from, to,
				   asked);
	cut_here(at);
	return 0;
}

int
request_compare(char *asked, char *expected, char **ret_why)
{
	cut(asked, " pods");
	cut(expected, " rv=\"\"");
	if (strncmp(asked, "WATCH", 5) == 0 && strncmp(expected, "WATCH", 5) == 0) {
		cut(expected, " bookmarks");
		if (!cut(asked, " bookmarks"))
			return message_set(ret_why, -EINVAL, "a watch asks for bookmarks: %s", asked);
		if (cut_timeout(asked, expected, ret_why) < 0)
			return -EINVAL;
	}
	if (strcmp(asked, expected) != 0)
		return message_set(ret_why, -EINVAL,
				   "the client asks otherwise\n  came      %s\n  expected  %s", asked,
				   expected);
	return 0;
}
