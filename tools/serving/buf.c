/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer that doubles when full and keeps a NUL after its contents. */
#include "tools/serving/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void __attribute__((noreturn)) out_of_memory(size_t bytes)
{
	fprintf(stderr, "%s: out of memory (asked for %zu bytes)\n", program_invocation_short_name, bytes);
	exit(1);
}

void *
api_alloc(size_t bytes)
{
	void *block = malloc(bytes ? bytes : 1);

	if (!block)
		out_of_memory(bytes);
	return block;
}

void *
api_realloc(void *block, size_t bytes)
{
	void *grown = realloc(block, bytes ? bytes : 1);

	if (!grown)
		out_of_memory(bytes);
	return grown;
}

char *
api_strndup(const char *text, size_t len)
{
	char *copy = api_alloc(len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static void
reserve(struct api_buf *buf, size_t more)
{
	size_t cap = buf->cap ? buf->cap : 256;

	if (buf->len + more + 1 <= buf->cap)
		return;
	while (cap < buf->len + more + 1)
		cap *= 2;
	buf->data = api_realloc(buf->data, cap);
	buf->cap = cap;
}

void
api_buf_put(struct api_buf *buf, const void *data, size_t len)
{
	reserve(buf, len);
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void
api_buf_puts(struct api_buf *buf, const char *text)
{
	api_buf_put(buf, text, strlen(text));
}

void
api_buf_printf(struct api_buf *buf, const char *format, ...)
{
	va_list args;
	int need;

	reserve(buf, 128);
	va_start(args, format);
	need = vsnprintf(buf->data + buf->len, buf->cap - buf->len, format, args);
	va_end(args);
	if (need < 0)
		return;
	if ((size_t)need >= buf->cap - buf->len) {
		reserve(buf, (size_t)need);
		va_start(args, format);
		(void)vsnprintf(buf->data + buf->len, buf->cap - buf->len, format, args);
		va_end(args);
	}
	buf->len += (size_t)need;
}

void
api_buf_json(struct api_buf *buf, const char *text, size_t len)
{
	size_t plain = 0;

	api_buf_put(buf, "\"", 1);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		api_buf_put(buf, text + plain, i - plain);
		plain = i + 1;
		if (c == '"' || c == '\\')
			api_buf_printf(buf, "\\%c", c);
		else if (c == '\n')
			api_buf_put(buf, "\\n", 2);
		else if (c == '\t')
			api_buf_put(buf, "\\t", 2);
		else if (c == '\r')
			api_buf_put(buf, "\\r", 2);
		else
			api_buf_printf(buf, "\\u%04x", c);
	}
	api_buf_put(buf, text + plain, len - plain);
	api_buf_put(buf, "\"", 1);
}

void
api_buf_json_str(struct api_buf *buf, const char *text)
{
	api_buf_json(buf, text, strlen(text));
}

int
api_buf_read_file(struct api_buf *buf, const char *path, size_t max)
{
	FILE *file = fopen(path, "re");
	char block[4096];
	size_t n;
	int r;

	if (!file)
		return -errno;
	api_buf_puts(buf, "");
	errno = 0;
	while (buf->len <= max && (n = fread(block, 1, sizeof(block), file)) > 0)
		api_buf_put(buf, block, n);
	r = ferror(file) ? -(errno ? errno : EIO) : buf->len > max ? -EFBIG : 0;
	fclose(file);
	return r;
}

void
api_buf_reset(struct api_buf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

void
api_buf_done(struct api_buf *buf)
{
	if (!buf)
		return;
	free(buf->data);
	*buf = (struct api_buf){0};
}

char *
api_buf_take(struct api_buf *buf)
{
	char *data;

	reserve(buf, 0);
	buf->data[buf->len] = '\0';
	data = buf->data;
	*buf = (struct api_buf){0};
	return data;
}

void
api_freep(char **text)
{
	free(*text);
}
