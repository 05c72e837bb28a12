/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the envelope in protobuf, unit by unit.
 */
#include "writer/decode/decoder_frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "writer/decode/decoder_internal.h"
#include "writer/decode/decoder_proto.h"
#include "writer/base/proto_wire.h"

#define MAGIC "k8s"	/* with its NUL */
#define MAGIC_BYTES 4u
#define FRAME_HEAD_BYTES 4u
#define ENVELOPE_PART_MAX 65536u /* bytes of a part that is no item */
#define SHOWN_MAX 64u            /* bytes of a name in a message */

struct unit {
	const uint8_t *at, *end; /* the bytes that are there */
	size_t used, need;
};

/* An object or a list: its type and its message. */
struct document {
	struct proto_span api_version, kind, raw;
};

void
frames_reset(struct decoder *d)
{
	struct decoder_frames *f = &d->frames;

	f->place = d->mode == DECODE_WATCH ? FRAMES_EVENTS : FRAMES_MAGIC;
	f->has_list = false;
	f->left = 0;
	f->skip = 0;
	f->message = NULL;
	bytes_clear(&f->api_version);
	bytes_clear(&f->kind);
}

void
frames_done(struct decoder *d)
{
	bytes_done(&d->frames.api_version);
	bytes_done(&d->frames.kind);
}

static int
malformed(struct decoder *d, const uint8_t *at, const char *why)
{
	return decoder_fail(d, (const char *)at, why);
}

static size_t
span_length(struct proto_span s)
{
	return (size_t)(s.end - s.at);
}

/* ---- documents ---- */

/* {1: apiVersion, 2: kind} */
static int
read_type(struct decoder *d, struct proto_span in, struct document *ret)
{
	while (in.at < in.end) {
		const uint8_t *at = in.at;
		struct proto_token t;

		if (!proto_next(&in.at, in.end, &t) || t.wire != PROTO_WIRE_BYTES || t.number > 2)
			return malformed(d, at, "apiVersion and kind are malformed");
		*(t.number == 1 ? &ret->api_version : &ret->kind) = t.bytes;
	}
	return 0;
}

/* Fail: the envelope has a contentEncoding, a contentType or an unknown field. */
static int
unknown_envelope(struct decoder *d, const uint8_t *at)
{
	malformed(d, at, "it stands in an envelope that is not known");
	return -EPROTO;
}

/* Read a complete OBJECT. */
static int
read_document(struct decoder *d, struct proto_span in, struct document *ret)
{
	const uint8_t *start = in.at;
	int r = 0;

	*ret = (struct document){.raw = {in.end, in.end}};
	if (span_length(in) < MAGIC_BYTES || memcmp(in.at, MAGIC, MAGIC_BYTES) != 0)
		return malformed(d, start, "an object does not begin as protobuf of Kubernetes does");
	in.at += MAGIC_BYTES;
	while (r == 0 && in.at < in.end) {
		const uint8_t *at = in.at;
		struct proto_token t;

		if (!proto_next(&in.at, in.end, &t) || t.wire != PROTO_WIRE_BYTES)
			return malformed(d, at, "what stands around an object is malformed");
		if (t.number == 1)
			r = read_type(d, t.bytes, ret);
		else if (t.number == 2)
			ret->raw = t.bytes;
		else if (t.number > 4 || t.value > 0)
			r = unknown_envelope(d, start);
	}
	return r;
}

/* How many bytes of a text a message shows. */
static int
shown(struct proto_span s)
{
	size_t length = span_length(s);

	return (int)(length < SHOWN_MAX ? length : SHOWN_MAX);
}

static int
unknown_kind(struct decoder *d, const uint8_t *at, struct proto_span api_version, struct proto_span kind)
{
	char why[DECODER_WHY_MAX];

	snprintf(why, sizeof(why), "kind %.*s of %.*s is not known", shown(kind), (const char *)kind.at,
		 shown(api_version), (const char *)api_version.at);
	malformed(d, at, why);
	return -EPROTO;
}

/* ---- items ---- */

/* Note a text of the item's type in quotes, as JSON has it. */
static int
note_type(struct bytes *to, struct proto_span text)
{
	to->length = 0;
	if (text.at == text.end)
		return 0;
	if (item_add_type(to, "\"", 1) < 0 ||
	    item_add_type(to, (const char *)text.at, span_length(text)) < 0 || item_add_type(to, "\"", 1) < 0)
		return -ENOMEM;
	return 0;
}

/* Build the item in doc->raw; doc's type is empty in a list. A list's item is then handed over. */
static int
take_item(struct decoder *d, const struct proto_message *m, const struct document *doc)
{
	const char *start = (const char *)doc->raw.at;
	int r = item_begin(d, start);

	if (r == 0)
		r = note_type(&d->item.api_version, doc->api_version);
	if (r == 0)
		r = note_type(&d->item.kind, doc->kind);
	if (r == 0)
		r = decoder_proto_item(d, m, doc->raw, doc->api_version, doc->kind);
	if (r == -E2BIG) {
		item_refuse(d, "it is too large for one block, or nested deeper than 128 levels");
		r = 0;
	}
	return r < 0 ? r : item_end(d, (const char *)doc->raw.end);
}

/* Leave out an item or a frame that is too long, and skip its bytes. */
static int
refuse_long(struct decoder *d, const uint8_t *at, uint64_t bytes)
{
	char why[96];
	int r = item_begin(d, (const char *)at);

	if (r < 0)
		return r;
	snprintf(why, sizeof(why), "it is longer than %" PRIu64 " bytes", d->max_bytes);
	item_refuse(d, why);
	d->frames.skip = bytes;
	r = item_end(d, (const char *)at);
	return d->mode == DECODE_WATCH && r == GO_ON ? envelope_event_end(d, (const char *)at) : r;
}

/* ---- a list ---- */

/* Read the head of a field: its number and the length of its content. NEED_MORE: it is incomplete. */
static int
read_head(struct decoder *d, struct unit *u, uint64_t *ret_number, uint64_t *ret_length,
	  const uint8_t **ret_content)
{
	const uint8_t *p = u->at;
	uint64_t tag;

	if (!proto_varint(&p, u->end, &tag) || !proto_varint(&p, u->end, ret_length)) {
		if (u->end - u->at >= 2 * (ptrdiff_t)PROTO_VARINT_MAX)
			return malformed(d, u->at, "what stands around the items is malformed");
		u->need = (size_t)(u->end - u->at) + 1;
		return NEED_MORE;
	}
	if ((tag & 7) != PROTO_WIRE_BYTES || tag >> 3 == 0)
		return malformed(d, u->at, "what stands around the items is malformed");
	*ret_number = tag >> 3;
	*ret_content = p;
	return GO_ON;
}

/* Take a part whose head was read, when all of it is there. */
static int
read_part(struct decoder *d, struct unit *u, const uint8_t *content, uint64_t length, struct proto_span *ret)
{
	if (length > ENVELOPE_PART_MAX)
		return malformed(d, u->at, "a part of the list's head is too long");
	u->need = (size_t)(content - u->at) + length;
	if ((uint64_t)(u->end - content) < length)
		return NEED_MORE;
	*ret = (struct proto_span){content, content + length};
	u->used = u->need;
	return GO_ON;
}

/* The first bytes of a kept text, which may be empty. */
static struct proto_span
kept(const struct bytes *b, size_t length)
{
	return length > 0 ? (struct proto_span){b->data, b->data + length} : (struct proto_span){0};
}

/* Find the message type of the items from the kind of the list. */
static int
begin_list(struct decoder *d, const uint8_t *at)
{
	static const char suffix[] = "List";
	struct decoder_frames *f = &d->frames;
	size_t length = f->kind.length, list = sizeof(suffix) - 1;
	const char *kind = (const char *)f->kind.data, *version = (const char *)f->api_version.data;
	struct bytes *told = &d->envelope.list_kind;

	if (length <= list || memcmp(kind + length - list, suffix, list) != 0)
		return malformed(d, at, "it is not a list");
	if (bytes_append(told, kind, length) < 0)
		return -ENOMEM;
	d->envelope.has_items = true;
	f->message = proto_schema_kind(d->proto_schema, version, f->api_version.length, kind, length - list);
	if (!f->message)
		return unknown_kind(d, at, kept(&f->api_version, f->api_version.length),
				    kept(&f->kind, length - list));
	f->place = FRAMES_LIST;
	return GO_ON;
}

static int
envelope_unit(struct decoder *d, struct unit *u)
{
	struct decoder_frames *f = &d->frames;
	struct proto_span part;
	struct document doc = {0};
	const uint8_t *content;
	uint64_t number, length;
	int r = read_head(d, u, &number, &length, &content);

	if (r != GO_ON)
		return r;
	if (number == 2 && !f->has_list) {
		f->left = length;
		u->used = (size_t)(content - u->at);
		return begin_list(d, u->at);
	}
	if (number == 2)
		return malformed(d, u->at, "there are two lists");
	if (number > 4 || (number > 2 && length > 0))
		return unknown_envelope(d, u->at);
	r = read_part(d, u, content, length, &part);
	if (r != GO_ON || number != 1)
		return r;
	r = read_type(d, part, &doc);
	f->api_version.length = f->kind.length = 0;
	if (r == 0 && (bytes_append(&f->api_version, doc.api_version.at, span_length(doc.api_version)) < 0 ||
		       bytes_append(&f->kind, doc.kind.at, span_length(doc.kind)) < 0))
		r = -ENOMEM;
	return r < 0 ? r : GO_ON;
}

static int
capture(struct decoder *d, struct bytes *to, struct proto_span text)
{
	to->length = 0;
	if (text.at != text.end && memchr(text.at, '\0', span_length(text)))
		return malformed(d, text.at, "the list's metadata is malformed");
	return bytes_append(to, text.at, span_length(text)) < 0 ? -ENOMEM : 0;
}

/* {1: selfLink, 2: resourceVersion, 3: continue, 4: remainingItemCount}; other fields are ignored */
static int
read_list_meta(struct decoder *d, struct proto_span in)
{
	struct decoder_envelope *e = &d->envelope;
	int r = 0;

	while (r == 0 && in.at < in.end) {
		const uint8_t *at = in.at;
		struct proto_token t;

		if (!proto_next(&in.at, in.end, &t) ||
		    (t.number <= 4 && (t.number == 4) != (t.wire == PROTO_WIRE_NUMBER)))
			return malformed(d, at, "the list's metadata is malformed");
		if (t.number == 2)
			r = capture(d, &e->version, t.bytes);
		else if (t.number == 3)
			r = capture(d, &e->continue_token, t.bytes);
		else if (t.number == 4)
			e->remaining = t.value <= INT64_MAX ? (int64_t)t.value : 0;
	}
	return r;
}

static int
list_unit(struct decoder *d, struct unit *u)
{
	struct decoder_frames *f = &d->frames;
	struct document doc = {0};
	const uint8_t *content;
	uint64_t number, length, head;
	int r;

	if (f->left == 0) {
		f->has_list = true;
		f->place = FRAMES_ENVELOPE;
		d->envelope.documents++;
		return envelope_list_end(d);
	}
	if (f->left < (uint64_t)(u->end - u->at))
		u->end = u->at + f->left;
	r = read_head(d, u, &number, &length, &content);
	if (r == NEED_MORE && u->need > f->left)
		return malformed(d, u->at, "an item is longer than its list");
	if (r != GO_ON)
		return r;
	head = (uint64_t)(content - u->at);
	if (length > f->left - head)
		return malformed(d, u->at, "an item is longer than its list");
	if (number > 2) {
		malformed(d, u->at, "the list has a field that is not known");
		return -EPROTO;
	}
	if (number == 2 && length > d->max_bytes) {
		u->used = head;
		f->left -= head;
		return refuse_long(d, content, length);
	}
	if (number == 1) {
		r = read_part(d, u, content, length, &doc.raw);
	} else {
		u->need = head + length;
		u->used = (uint64_t)(u->end - content) < length ? 0 : u->need;
		doc.raw = (struct proto_span){content, content + length};
		r = u->used ? GO_ON : NEED_MORE;
	}
	if (r != GO_ON)
		return r;
	f->left -= u->used;
	if (number == 2)
		return take_item(d, f->message, &doc);
	r = read_list_meta(d, doc.raw);
	return r < 0 ? r : GO_ON;
}

/* ---- a watch ---- */

/* {1: type, 2: {1: OBJECT}}, complete */
static int
take_event(struct decoder *d, struct proto_span in)
{
	const uint8_t *start = in.at;
	struct proto_span object = {0};
	const struct proto_message *m;
	struct document doc;
	struct proto_token t;
	int r = 0;

	while (in.at < in.end) {
		const uint8_t *at = in.at;

		if (!proto_next(&in.at, in.end, &t) || t.wire != PROTO_WIRE_BYTES || t.number > 2)
			return malformed(d, at, "a watch event is malformed");
		if (t.number == 2)
			object = t.bytes;
		else if (bytes_append(&d->envelope.type, t.bytes.at, span_length(t.bytes)) < 0)
			return -ENOMEM;
	}
	if (object.at == object.end)
		return envelope_event_end(d, (const char *)in.end);
	if (!proto_next(&object.at, object.end, &t) || t.wire != PROTO_WIRE_BYTES || t.number != 1 ||
	    object.at != object.end)
		return malformed(d, start, "a watch event's object is malformed");
	r = read_document(d, t.bytes, &doc);
	if (r < 0)
		return r;
	m = proto_schema_kind(d->proto_schema, (const char *)doc.api_version.at, span_length(doc.api_version),
			      (const char *)doc.kind.at, span_length(doc.kind));
	if (!m)
		return unknown_kind(d, start, doc.api_version, doc.kind);
	r = take_item(d, m, &doc);
	return r == GO_ON ? envelope_event_end(d, (const char *)in.end) : r;
}

static int
event_unit(struct decoder *d, struct unit *u)
{
	const uint8_t *p = u->at;
	uint32_t length;
	int r;

	u->need = FRAME_HEAD_BYTES;
	if ((size_t)(u->end - p) < FRAME_HEAD_BYTES)
		return NEED_MORE;
	length = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	p += FRAME_HEAD_BYTES;
	if (length > d->max_bytes + ENVELOPE_PART_MAX) {
		u->used = FRAME_HEAD_BYTES;
		return refuse_long(d, p, length);
	}
	u->need = FRAME_HEAD_BYTES + length;
	if ((size_t)(u->end - p) < length)
		return NEED_MORE;
	u->used = u->need;
	r = take_event(d, (struct proto_span){p, p + length});
	bytes_clear(&d->envelope.type);
	return r;
}

/* ---- public functions ---- */

int
frames_run(struct decoder *d, const uint8_t *bytes, size_t length, size_t *ret_used, size_t *ret_need)
{
	struct decoder_frames *f = &d->frames;
	struct unit u = {.at = bytes, .end = bytes + length, .need = 1};
	int r;

	if (f->skip > 0) {
		u.used = f->skip < length ? (size_t)f->skip : length;
		f->skip -= u.used;
		if (f->place == FRAMES_LIST)
			f->left -= u.used;
		r = u.used > 0 ? GO_ON : NEED_MORE;
	} else if (f->place == FRAMES_MAGIC) {
		u.need = MAGIC_BYTES;
		u.used = length < MAGIC_BYTES ? 0 : MAGIC_BYTES;
		r = u.used == 0 ? NEED_MORE : GO_ON;
		if (r == GO_ON && memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
			r = malformed(d, bytes, "it does not begin as protobuf of Kubernetes does");
		f->place = r == GO_ON ? FRAMES_ENVELOPE : f->place;
	} else if (f->place == FRAMES_LIST) {
		r = list_unit(d, &u);
	} else if (length == 0) {
		r = NEED_MORE;
	} else if (f->place == FRAMES_ENVELOPE) {
		r = envelope_unit(d, &u);
	} else {
		r = event_unit(d, &u);
	}
	*ret_used = u.used;
	*ret_need = u.need;
	return r;
}

bool
frames_is_cut(const struct decoder *d)
{
	const struct decoder_frames *f = &d->frames;

	return f->skip > 0 || (d->mode == DECODE_LIST && !(f->place == FRAMES_ENVELOPE && f->has_list));
}
