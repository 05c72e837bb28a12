/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder's public functions: they take the stream in pieces and run the parts (decoder_internal.h) in
 * turn.
 *
 * Each part stops at the beginning of an incomplete token. The decoder keeps the bytes from there on, and
 * appends the next chunk in steps that double them. The scan goes on where it stopped, so a token costs its
 * length, however small the chunks are. After the token, reading goes on in the chunk itself.
 */
#include "writer/decode/decoder_internal.h"

#include <stdlib.h>

#include "writer/decode/decoder_body.h"

#define ITEM_BYTES_DEFAULT (64u << 20)
#define CARRY_STEP_MIN 256u

/* ---- a turn ---- */

static int
run(struct decoder *d, const char *bytes, size_t length, bool final, size_t *ret_used)
{
	const char *p = bytes, *end = bytes + length;
	int r;

	d->buffer = bytes;
	do {
		if (d->skipping)
			r = decoder_skip_run(d, &p, end, final);
		else if (d->body.depth > 0)
			r = decoder_body_run(d, &p, end, final);
		else
			r = envelope_run(d, &p, end, final);
		/* (skipped bytes take no memory; the length is compared again after the skip) */
		if (r == NEED_MORE && d->item.open && !d->skipping &&
		    decoder_offset(d, end) - d->item.start > d->max_bytes)
			r = item_give_up_long(d, p);
	} while (r == GO_ON);
	*ret_used = (size_t)(p - bytes);
	d->offset += *ret_used;
	d->buffer = p;
	return r == STOPPED ? d->callback_result : r;
}

/* ---- protobuf: units with a length in front ---- */

/* Read all complete units. *ret_need: bytes that the next unit needs, from the first unused byte on. */
static int
run_frames(struct decoder *d, const uint8_t *bytes, size_t length, size_t *ret_used, size_t *ret_need)
{
	size_t used, all = 0;
	int r;

	do {
		d->buffer = (const char *)bytes + all;
		r = frames_run(d, bytes + all, length - all, &used, ret_need);
		all += used;
		d->offset += used;
	} while (r == GO_ON);
	*ret_used = all;
	return r == STOPPED ? d->callback_result : r;
}

static int
feed_frames(struct decoder *d, const uint8_t *bytes, size_t length)
{
	size_t used, need, step;
	int r;

	while (d->carry.length > 0 && length > 0) {
		step = d->carry_need - d->carry.length;
		step = step < length ? step : length;
		if (bytes_append(&d->carry, bytes, step) < 0)
			return -ENOMEM;
		bytes += step;
		length -= step;
		if (d->carry.length < d->carry_need)
			return 0;
		r = run_frames(d, d->carry.data, d->carry.length, &used, &need);
		if (r != 0)
			return r;
		/* perhaps only a head was used, and its content is incomplete */
		d->carry.length -= used;
		if (d->carry.length == 0)
			bytes_clear(&d->carry);
		else if (used > 0)
			memmove(d->carry.data, d->carry.data + used, d->carry.length);
		d->carry_need = need;
	}
	if (length == 0)
		return 0;
	r = run_frames(d, bytes, length, &used, &need);
	if (r != 0 || used == length)
		return r;
	d->carry_need = need;
	if (bytes_room(&d->carry, need) < 0)
		return -ENOMEM;
	return bytes_append(&d->carry, bytes + used, length - used);
}

int
decoder_feed(struct decoder *d, const char *bytes, size_t length)
{
	size_t used, carried, step;
	int r;

	if (d->proto_schema)
		return feed_frames(d, (const uint8_t *)bytes, length);
	while (length > 0 && d->carry.length > 0) {
		carried = d->carry.length;
		step = carried > CARRY_STEP_MIN ? carried : CARRY_STEP_MIN;
		step = step < length ? step : length;
		if (bytes_append(&d->carry, bytes, step) < 0)
			return -ENOMEM;
		r = run(d, (const char *)d->carry.data, d->carry.length, false, &used);
		if (r != 0)
			return r;
		if (used < carried) {
			d->carry.length -= used;
			if (used > 0)
				memmove(d->carry.data, d->carry.data + used, d->carry.length);
			used = carried + step;
		} else {
			bytes_clear(&d->carry);
		}
		bytes += used - carried;
		length -= used - carried;
	}
	if (length == 0)
		return 0;
	r = run(d, bytes, length, false, &used);
	if (r != 0)
		return r;
	return bytes_append(&d->carry, bytes + used, length - used);
}

int
decoder_finish(struct decoder *d)
{
	size_t used;
	int r;

	if (d->proto_schema)
		return d->carry.length == 0 && !frames_is_cut(d)
			       ? 0
			       : decoder_fail(d, d->buffer, "it ends in the middle of a document");
	r = run(d, d->carry.data ? (const char *)d->carry.data : "", d->carry.length, true, &used);
	if (r != 0)
		return r;
	if (used < d->carry.length || d->envelope.place != BETWEEN_DOCUMENTS || d->item.open) {
		d->offset += d->carry.length - used;
		return decoder_fail(d, d->buffer, "it ends in the middle of a document");
	}
	d->carry.length = 0;
	if (d->mode != DECODE_WATCH && d->envelope.documents == 0)
		return decoder_fail(d, d->buffer, "there is no document");
	if (d->mode != DECODE_DOCUMENT || !d->item.has_draft)
		return 0;
	r = item_hand_over(d, "", 0);
	return r == STOPPED ? d->callback_result : r == GO_ON ? 0 : r;
}

/* ---- creating and freeing ---- */

struct decoder *
decoder_new(enum decoder_mode mode, struct arena *arena, struct intern *in, struct decoder_schema *schema,
	    const struct decoder_events *events, void *context, uint64_t max_bytes)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	if (!schema)
		schema = d->own_schema = decoder_schema_new(NULL, 0, NULL);
	if (!schema || schema_bind(schema, in) < 0) {
		decoder_schema_free(d->own_schema);
		free(d);
		return NULL;
	}
	d->mode = mode;
	d->arena = arena;
	d->intern = in;
	d->schema = schema;
	d->events = events;
	d->context = context;
	d->max_bytes = max_bytes == 0                 ? ITEM_BYTES_DEFAULT
		       : max_bytes < BLOCK_LENGTH_MAX ? max_bytes
						      : BLOCK_LENGTH_MAX;
	body_init(&d->body, arena, in, schema);
	decoder_reset(d);
	return d;
}

void
decoder_reset(struct decoder *d)
{
	item_reset(d);
	envelope_reset(d);
	frames_reset(d);
	body_clear(&d->body);
	d->state = JSON_VALUE;
	d->skipping = false;
	d->skipping_item = false;
	d->skipping_to = NULL;
	memset(&d->scan, 0, sizeof(d->scan));
	d->offset = 0;
	d->buffer = NULL;
	bytes_clear(&d->carry);
	bytes_clear(&d->text);
	d->error[0] = '\0';
	d->error_offset = 0;
}

void
decoder_free(struct decoder *d)
{
	if (!d)
		return;
	decoder_reset(d);
	item_done(d);
	envelope_done(d);
	frames_done(d);
	body_done(&d->body);
	json_skip_done(&d->skip);
	bytes_done(&d->carry);
	bytes_done(&d->text);
	decoder_schema_free(d->own_schema);
	free(d);
}

void
decoder_use_protobuf(struct decoder *d, const struct proto_schema *schema)
{
	d->proto_schema = schema;
	decoder_reset(d);
}

const char *
decoder_error(const struct decoder *d, uint64_t *ret_offset)
{
	if (ret_offset)
		*ret_offset = d->error_offset;
	return d->error;
}

bool
decoder_is_foreign(const struct decoder *d)
{
	return d->mode == DECODE_WATCH && d->item.foreign;
}

void
decoder_expect_type(struct decoder *d, const char *api_version, const char *kind)
{
	d->expected_api_version = api_version;
	d->expected_kind = kind;
}

const char *
decoder_list_kind(const struct decoder *d, size_t *ret_length, bool *ret_has_items)
{
	*ret_length = d->envelope.list_kind.length;
	*ret_has_items = d->envelope.has_items;
	return d->envelope.list_kind.data ? (const char *)d->envelope.list_kind.data : "";
}
