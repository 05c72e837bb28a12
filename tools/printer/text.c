/* SPDX-License-Identifier: Apache-2.0 */
/* Growing and writing texts; see text.h. */
#include "tools/printer/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
text_done(struct text *text)
{
	free(text->data);
	text->data = NULL;
	text->length = text->size = 0;
}

int
text_flush(struct text *text)
{
	size_t at = 0;

	while (text->error == 0 && text->fd >= 0 && at < text->length) {
		ssize_t n = write(text->fd, text->data + at, text->length - at);

		if (n >= 0)
			at += (size_t)n;
		else if (errno != EINTR)
			text->error = -errno;
	}
	if (text->fd >= 0)
		text->length = 0;
	return text->error;
}

/* Space for `more` bytes behind the text; NULL: no memory. */
static char *
room(struct text *text, size_t more)
{
	size_t size = text->size ? text->size : 4096;
	char *data;

	if (text->error < 0)
		return NULL;
	if (text->fd >= 0 && text->length >= TEXT_FLUSH && text_flush(text) < 0)
		return NULL;
	while (size - text->length < more && size < SIZE_MAX / 4)
		size *= 2;
	if (size == text->size)
		return text->data + text->length;
	data = size - text->length < more ? NULL : realloc(text->data, size);
	if (!data) {
		text->error = -ENOMEM;
		return NULL;
	}
	text->data = data;
	text->size = size;
	return data + text->length;
}

void
text_add(struct text *text, const char *data, size_t length)
{
	char *at = room(text, length + 1);

	if (!at)
		return;
	memcpy(at, data, length);
	at[length] = '\0';
	text->length += length;
}

void
text_adds(struct text *text, const char *string)
{
	text_add(text, string, strlen(string));
}

void
text_addc(struct text *text, char c)
{
	text_add(text, &c, 1);
}

void
text_pad(struct text *text, char c, size_t count)
{
	char *at = room(text, count + 1);

	if (!at)
		return;
	memset(at, c, count);
	at[count] = '\0';
	text->length += count;
}

void
text_addf(struct text *text, const char *format, ...)
{
	va_list args;
	char *at;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0 || !(at = room(text, (size_t)n + 1)))
		return;
	va_start(args, format);
	vsnprintf(at, (size_t)n + 1, format, args);
	va_end(args);
	text->length += (size_t)n;
}
