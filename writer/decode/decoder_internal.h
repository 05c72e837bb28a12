/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the decoder's parts share: the decoder itself, how they take turns, and how they fail.
 *
 *   envelope   what stands around the items: a list's head and its items' brackets, a watch event's braces
 *              (decoder_envelope.h)
 *   body       an item's text, built as it is read (decoder_body.h); what it means for the item is
 *              decoder_item.h
 *   skip       a value nobody wants: a dropped field, an unknown field of the envelope, the rest of an item
 *              that cannot be kept (decoder_skip.c, json_skip.h)
 *
 * They call down: decoder.c the envelope, the envelope a body, a body its item, and each of them skip.
 *
 * Each part reads from *p on and moves it behind what it has consumed. It answers NEED_MORE at the beginning
 * of a token that is not whole, GO_ON when it is another's turn (d->skipping, d->body.depth and d->state say
 * whose), STOPPED when a callback said so, or negative errno.
 */
#ifndef WRITER_DECODE_DECODER_INTERNAL_H
#define WRITER_DECODE_DECODER_INTERNAL_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "writer/decode/body_build.h"
#include "writer/decode/decoder.h"
#include "writer/decode/decoder_envelope.h"
#include "writer/decode/decoder_frames.h"
#include "writer/decode/decoder_item.h"
#include "writer/base/growing.h"
#include "writer/decode/json_scan.h"
#include "writer/decode/json_skip.h"
#include "writer/decode/proto_value.h"

/* What the parts answer besides negative errno. */
enum { NEED_MORE = 0, GO_ON = 1, STOPPED = INT_MIN };

struct decoder {
	enum decoder_mode mode;
	struct arena *arena;
	struct intern *intern;
	struct decoder_schema *schema;
	struct decoder_schema *own_schema;
	const struct decoder_events *events;
	void *context;
	uint64_t max_bytes;
	const char *expected_api_version, *expected_kind; /* NULL: any */

	/* where we are */
	enum json_state state;	/* of the envelope, or of the body while one is open */
	bool skipping;
	bool skipping_item;	/* the item is bad, and ends with what is skipped */
	struct bytes *skipping_to; /* where that is noted: the item's apiVersion or kind; else NULL */
	struct json_scan scan;
	struct json_skip skip;
	struct body body;
	uint64_t offset;	/* in the stream, of the bytes at `buffer` */
	const char *buffer;
	struct bytes carry;
	size_t carry_need;	/* protobuf: go on when so many bytes are there */
	struct bytes text;	/* a string without its escapes */

	struct decoder_item item;
	struct decoder_envelope envelope;

	const struct proto_schema *proto_schema; /* NULL: JSON */
	struct decoder_frames frames;
	struct proto_date date;

	int callback_result;	/* with STOPPED */
	uint64_t error_offset;
	char error[DECODER_WHY_MAX];
};

/* decoder_skip.c; JSON that stands in protobuf has such, too. */
int decoder_skip_run(struct decoder *d, const char **p, const char *end, bool final);

/* What a callback answered: go on, or stop with just that. */
static inline int
decoder_answered(struct decoder *d, int r)
{
	d->callback_result = r;
	return r == 0 ? GO_ON : STOPPED;
}

/* Where in the stream p is. */
static inline uint64_t
decoder_offset(const struct decoder *d, const char *p)
{
	return d->offset + (uint64_t)(p - d->buffer);
}

/* Malformed: why is the sentence, at is in d->buffer. Returns -EBADMSG. */
static inline int
decoder_fail(struct decoder *d, const char *at, const char *why)
{
	d->error_offset = decoder_offset(d, at);
	snprintf(d->error, sizeof(d->error), "%s", why);
	return -EBADMSG;
}

/*
 * The string at p (its quote): its text, lent until the next one is read, and what follows it. GO_ON;
 * NEED_MORE, -EBADMSG, -ENOMEM.
 */
static inline int
decoder_string(struct decoder *d, const char *p, const char *end, const char **ret_text, size_t *ret_length,
	       const char **ret_next)
{
	enum json_scan_result scanned = json_scan_string(&d->scan, p + 1, end);
	size_t length = d->scan.scanned;
	bool escapes = d->scan.escapes;

	if (scanned == JSON_SCAN_MORE)
		return NEED_MORE;
	if (scanned == JSON_SCAN_BAD)
		return decoder_fail(d, p + 1 + length, d->scan.why);
	memset(&d->scan, 0, sizeof(d->scan));
	*ret_next = p + length + 2;
	*ret_text = p + 1;
	*ret_length = length;
	if (!escapes)
		return GO_ON;
	d->text.length = 0;
	if (bytes_room(&d->text, length) < 0)
		return -ENOMEM;
	*ret_text = (const char *)d->text.data;
	*ret_length = json_unescape((char *)d->text.data, p + 1, length);
	return GO_ON;
}

#endif
