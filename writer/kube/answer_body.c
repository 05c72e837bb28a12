/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libcurl hands on of one answer, see answer_body.h.
 */
#include "writer/kube/answer_body.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Is this line of that name, and with that word in it? It ends at its length. */
static bool
says(const char *line, size_t length, const char *name, const char *word)
{
	size_t n = strlen(name);

	return length >= n && strncasecmp(line, name, n) == 0 &&
	       memmem(line + n, length - n, word, strlen(word));
}

void
answer_body_line(struct answer_body *body, const char *line, size_t length)
{
	if (says(line, length, "HTTP/", "")) /* another header begins */
		body->packed = false;
	else if (says(line, length, "Content-Encoding:", "gzip"))
		body->packed = body->asks_gzip;
}

int
answer_body_begin(struct answer_body *body)
{
	if (!body->packed)
		return 0;
	body->gunzip = gunzip_new();
	return body->gunzip ? 0 : -ENOMEM;
}

/* Bytes of gzip, which may become many more. What was used of them before a pause is passed over. */
static int
unpack(struct answer_body *body, const uint8_t *data, size_t length)
{
	size_t skip = body->unpacked < length ? body->unpacked : length, left = length - skip, n;
	const uint8_t *p = data + skip, *piece;
	int r;

	body->unpacked -= skip;
	while ((r = gunzip_next(body->gunzip, &p, &left, &piece, &n)) > 0) {
		r = body->give(body->ctx, piece, n);
		if (r < 0)
			return r;
		if (body->paused) {
			body->unpacked += length - left;
			return ANSWER_BODY_WAITS;
		}
	}
	body->damaged = r == -EPROTO;
	return r;
}

int
answer_body_feed(struct answer_body *body, const void *data, size_t length)
{
	if (body->paused)
		return ANSWER_BODY_WAITS;
	if (length == 0)
		return 0;
	return body->gunzip ? unpack(body, data, length) : body->give(body->ctx, data, length);
}

bool
answer_body_is_cut(const struct answer_body *body)
{
	return body->gunzip && !gunzip_is_whole(body->gunzip);
}

void
answer_body_done(struct answer_body *body)
{
	gunzip_free(body->gunzip);
	body->gunzip = NULL;
}
