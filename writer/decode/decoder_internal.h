/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the decoder's parts share: the decoder itself, how parts take turns, and how they fail.
 *
 * envelope  what surrounds the items: a list's head and its items' brackets, a watch event's braces
 *           (decoder_envelope.h)
 * body      an item's text, built as it is read (decoder_body.h); decoder_item.h decides what it means for
 *           the item
 * skip      an unwanted value: a dropped field, an unknown field of the envelope, the rest of an item that
 *           cannot be kept (decoder_skip.c, json_skip.h)
 *
 * Calls go down only: decoder.c calls the envelope, the envelope a body, a body its item, and each of them
 * skip.
 *
 * Each part reads from *p on, and moves *p behind what it has consumed. It returns
 *
 * NEED_MORE       at the beginning of an incomplete token
 * GO_ON           it is another part's turn (d->skipping, d->body.depth and d->state say which)
 * STOPPED         a callback stopped the decoder
 * negative errno  failure
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

/* Results of the parts, besides negative errno. */
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

	/* position and state */
	enum json_state state; /* of the envelope, or of the open body */
	bool skipping;
	bool skipping_item;        /* the item is bad, and ends with the skipped value */
	struct bytes *skipping_to; /* the item's apiVersion or kind that gets the skipped text; else NULL */
	struct json_scan scan;
	struct json_skip skip;
	struct body body;
	uint64_t offset; /* offset in the stream of `buffer` */
	const char *buffer;
	struct bytes carry;
	size_t carry_need; /* protobuf: bytes needed to go on */
	struct bytes text; /* an unescaped string */

	struct decoder_item item;
	struct decoder_envelope envelope;

	const struct proto_schema *proto_schema; /* NULL: JSON */
	struct decoder_frames frames;
	struct proto_date date;

	int callback_result;	/* with STOPPED */
	uint64_t error_offset;
	char error[DECODER_WHY_MAX];
};

/* decoder_skip.c; protobuf may contain JSON, so this serves both. */
int decoder_skip_run(struct decoder *d, const char **p, const char *end, bool final);

/* Turn a callback's result into GO_ON or STOPPED. */
static inline int
decoder_answered(struct decoder *d, int r)
{
	d->callback_result = r;
	return r == 0 ? GO_ON : STOPPED;
}

/* The offset of p in the stream. */
static inline uint64_t
decoder_offset(const struct decoder *d, const char *p)
{
	return d->offset + (uint64_t)(p - d->buffer);
}

/* Fail as malformed. why: a sentence; at: in d->buffer. Returns -EBADMSG. */
static inline int
decoder_fail(struct decoder *d, const char *at, const char *why)
{
	d->error_offset = decoder_offset(d, at);
	snprintf(d->error, sizeof(d->error), "%s", why);
	return -EBADMSG;
}

/*
 * Read the string whose quote is at p: its text, lent until the next string is read, and what follows it.
 * Returns GO_ON; NEED_MORE, -EBADMSG, -ENOMEM.
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
