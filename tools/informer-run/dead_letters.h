/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters: events that handlers crashed on too often, appended to a file for people, one line of JSON
 * each.
 *
 *	{"time":"2026-11-21T06:40:00Z","consumer":"net","resource":"pods",
 *	 "why":"signal 11 (Segmentation fault)","crashes":3,"event":{…}}
 *
 * `event` is the line that the handler got. To replay: jq -c .event FILE | ./handler
 */
#ifndef TOOLS_INFORMER_RUN_DEAD_LETTERS_H
#define TOOLS_INFORMER_RUN_DEAD_LETTERS_H

#include "tools/informer-run/event.h"

/* Open for appending, mode 0600; creates the folder. Returns the descriptor or a negative errno. */
int
dead_letters_open(const char *path);

/* Append a whole line or nothing, and wait until it is on disk. Returns 0 or a negative errno. */
int dead_letters_add(int fd, const char *consumer, const char *resource, const struct event *event,
		     const char *why);

#endif
