/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages tell why a function of the writer failed.
 *
 * A function that can fail for reasons a person must act on takes `char **ret_error` as its last parameter.
 * On failure it stores an allocated sentence there (what happened, what to do; no newline, no secret), which
 * the caller frees. On success it does not touch it. NULL: the caller does not want the sentence. Code below
 * the daemon's decisions never logs: it returns messages.
 */
#ifndef WRITER_BASE_MESSAGE_H
#define WRITER_BASE_MESSAGE_H

#include <stddef.h>

#ifndef _cleanup_
#define _cleanup_(f) __attribute__((cleanup(f)))
#endif

/*
 * Store a formatted message and return the code, so that a failure is one line:
 *
 *	return message_set(ret_error, -EINVAL, "%s: not a port: '%s'", name, text);
 *
 * A message already in *ret_error is freed after formatting, so it may be an argument. Without memory the
 * message is NULL. errno is preserved. A macro, so that compiler and analyzer see in the caller which code
 * is returned.
 */
#define message_set(ret_error, code, ...) message_code((message_format(ret_error, __VA_ARGS__), (code)))

void message_format(char **ret_error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline int
message_code(int code)
{
	return code;
}

/*
 * For messages that quote foreign text: control characters become question marks, so the text cannot end a
 * line or move a terminal's cursor. Returns the code. error and *error may be NULL.
 */
int message_one_line(char **error, int code);

/* for _cleanup_(message_freep) char *text = NULL; any string of malloc's */
void message_freep(char **text);

#endif
