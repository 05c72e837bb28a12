/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a play: the lines played so far with their times, and the client's log. It makes the report
 * of a line that fails.
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
	int log;	/* receives the client's log until record_close() */
	off_t log_seen;
};

void record_open(struct record *r);
void record_close(struct record *r);

void record_line(struct record *r, const struct script_line *line, double seconds);
/* True if the client has logged this text since the last call that found its text. */
bool record_log_has(struct record *r, const char *text);

/*
 * The report of a line that fails: the fault, the conversation, held requests, both logs, the client's store
 * (may be NULL). Free it.
 */
char *record_report(struct record *r, const char *name, const struct script_line *line, double seconds,
		    struct talk_server *server, const char *store, const char *format, va_list arguments)
	__attribute__((format(printf, 7, 0)));

#endif
