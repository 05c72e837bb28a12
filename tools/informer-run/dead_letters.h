/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that handlers crashed on too often, kept for people: one line of JSON each, appended to a file.
 *
 *	{"time":"2026-11-21T06:40:00Z","consumer":"net","resource":"pods",
 *	 "why":"signal 11 (Segmentation fault)","crashes":3,"event":{…}}
 *
 * `event` is the line that the handler got: jq -c .event FILE | ./handler gives them to it again.
 */
#ifndef TOOLS_INFORMER_RUN_DEAD_LETTERS_H
#define TOOLS_INFORMER_RUN_DEAD_LETTERS_H

#include "tools/informer-run/event.h"

/*
 * Open for appending, mode 0600; makes the folder that it stands in. Returns the descriptor or a negative
 * errno.
 */
int
dead_letters_open(const char *path);

/* Append, whole or not at all, and wait until it is on the disk. Returns 0 or a negative errno. */
int dead_letters_add(int fd, const char *consumer, const char *resource, const struct event *event,
		     const char *why);

#endif
