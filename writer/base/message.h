/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages: how the writer's functions say what went wrong.
 *
 * A function that can fail for reasons a person must act on takes `char **ret_error`
 * as its last parameter. On failure it stores an allocated sentence there (what
 * happened, what to do; no newline, never a secret), which the caller frees; on
 * success it does not touch it. NULL means that nobody wants the sentence.
 * The code below the daemon's decisions never logs: it returns these.
 */
#ifndef WRITER_BASE_MESSAGE_H
#define WRITER_BASE_MESSAGE_H

#include <stddef.h>

#ifndef _cleanup_
#define _cleanup_(f) __attribute__((cleanup(f)))
#endif

/*
 * Store a formatted message and hand the code through, so that a failure is one line:
 *
 *	return message_set(ret_error, -EINVAL, "%s: not a port: '%s'", name, text);
 *
 * A message that *ret_error already holds is freed, after formatting: it may be an argument.
 * Without memory the message is NULL. errno stays as it was. A macro, so that whoever reads
 * the caller (compiler, analyzer) sees which code comes back.
 */
#define message_set(ret_error, code, ...) message_code((message_format(ret_error, __VA_ARGS__), (code)))

void message_format(char **ret_error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline int
message_code(int code)
{
	return code;
}

/*
 * For messages that quote what may be anybody's: control characters become question marks, so that it ends no
 * line, and moves no terminal's cursor. Hands the code through. NULL, and a message that is not there, are
 * fine.
 */
int message_one_line(char **error, int code);

/* for _cleanup_(message_freep) char *text = NULL; any string of malloc's */
void message_freep(char **text);

#endif
