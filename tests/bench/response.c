/* SPDX-License-Identifier: Apache-2.0 */
/* Reads HTTP/1.1 responses; see response.h. */
#include "tests/bench/response.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
read_head(struct response *r)
{
	const char *length = strcasestr(r->text, "\r\ncontent-length:");

	if (strncmp(r->text, "HTTP/1.1 ", 9) != 0)
		return -EPROTO;
	r->status = (unsigned)strtoul(r->text + 9, NULL, 10);
	r->gzip = strcasestr(r->text, "\r\ncontent-encoding: gzip") != NULL;
	r->length = 0;
	if (strcasestr(r->text, "\r\ntransfer-encoding: chunked")) {
		r->at = RESPONSE_SIZE;
		return 0;
	}
	if (!length)
		return -EPROTO;
	r->left = strtoull(strchr(length + 2, ':') + 1, NULL, 10);
	r->at = r->left > 0 ? RESPONSE_BODY : RESPONSE_END;
	return 0;
}

/* A chunk's size. Before all but the first ends the line of the one before. */
static int
read_size(struct response *r)
{
	const char *digits = r->text[0] == '\r' ? r->text + 2 : r->text;
	char *end;

	r->left = strtoull(digits, &end, 16);
	if (end == digits)
		return -EPROTO;
	r->length = 0;
	r->at = r->left > 0 ? RESPONSE_CHUNK : RESPONSE_TRAILER;
	return 0;
}

/* Behind the last chunk: lines, up to an empty one. */
static void
read_trailer(struct response *r)
{
	if (r->length == 2)
		r->at = RESPONSE_END;
	r->length = 0;
}

/* One more byte of the head, or of the line before a chunk. */
static int
take_text(struct response *r, char c)
{
	if (r->length + 1 == sizeof(r->text))
		return -EPROTO;
	r->text[r->length++] = c;
	r->text[r->length] = '\0';
	if (c != '\n')
		return 0;
	if (r->at == RESPONSE_HEAD)
		return r->length >= 4 && memcmp(r->text + r->length - 4, "\r\n\r\n", 4) == 0 ? read_head(r)
											     : 0;
	if (r->at == RESPONSE_TRAILER)
		read_trailer(r);
	else if (r->length > 2)
		return read_size(r);
	return 0;
}

int
response_take(struct response *r, const char *bytes, size_t length, response_body *body, void *ctx)
{
	int error = 0;

	while (error == 0 && length > 0 && r->at != RESPONSE_END) {
		size_t n = 1;

		if (r->at == RESPONSE_BODY || r->at == RESPONSE_CHUNK) {
			n = length < r->left ? length : (size_t)r->left;
			r->left -= n;
			r->bytes += n;
			if (body)
				body(ctx, bytes, n);
			if (r->left == 0)
				r->at = r->at == RESPONSE_BODY ? RESPONSE_END : RESPONSE_SIZE;
		} else {
			error = take_text(r, *bytes);
		}
		bytes += n;
		length -= n;
	}
	return error;
}
