/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a play: the lines played so far with their times, what the client logged meanwhile, and the
 * report when a line fails.
 */
#ifndef TESTS_CONVERSATIONS_RECORD_H
#define TESTS_CONVERSATIONS_RECORD_H

#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

#include "tests/conversations/script.h"
#include "tests/conversations/played_server.h"

struct record {
	FILE *lines;
	char *text;
	size_t length;
	int log;	/* the client's, from now on to record_close() */
	off_t log_seen;
};

void record_open(struct record *r);
void record_close(struct record *r);

void record_line(struct record *r, const struct script_line *line, double seconds);
/* Whether the client has logged this since it was last asked for something that it had. */
bool record_log_has(struct record *r, const char *text);

/*
 * The report of a line that fails: what was wrong, the conversation, what waits, both logs, the client's
 * store (may be NULL). Free it.
 */
char *record_report(struct record *r, const char *name, const struct script_line *line, double seconds,
		    struct talk_server *server, const char *store, const char *format, va_list arguments)
	__attribute__((format(printf, 7, 0)));

#endif
