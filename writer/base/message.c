/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: formatting; see message.h. */
#include "writer/base/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
