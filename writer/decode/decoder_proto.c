/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an item's message. A list spends most of its time here. As in decoder_body.c, names are predicted,
 * and the text memo remembers containers, here by their bytes.
 */
#include "writer/decode/decoder_proto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sodium.h>
#include <string.h>

#include "writer/decode/body_build.h"
#include "writer/decode/body_scalar.h"
#include "writer/decode/body_build_shape.h"
#include "writer/decode/decoder_body.h"
#include "writer/decode/decoder_internal.h"
#include "writer/decode/json_plain.h"
#include "writer/decode/proto_fields.h"

#define INLINE_DEPTH_MAX 8u /* protects the stack from a schema whose messages contain themselves */

static __attribute__((noinline)) int build_message(struct decoder *d, struct path_node *node,
						   const struct proto_message *m, struct proto_span in);

/* ---- failures ---- */

static int
malformed(struct decoder *d, const uint8_t *at, const struct proto_message *m)
{
	char why[DECODER_WHY_MAX];

	snprintf(why, sizeof(why), "a message %s is malformed", m->name);
	return decoder_fail(d, (const char *)at, why);
}

static int
unknown(struct decoder *d, const uint8_t *at, const struct proto_message *m, uint64_t number)
{
	char why[DECODER_WHY_MAX];

	snprintf(why, sizeof(why), "field %" PRIu64 " of %s is not known", number, m->name);
	decoder_fail(d, (const char *)at, why);
	return -EPROTO;
}

/* ---- names ---- */

/* Take the predicted field. */
static inline int
expected_name(struct body *b, struct body_frame *f, struct path_node *c)
{
	if (!c->drop && refs_push(&b->names, c->name_ref) < 0)
		return -ENOMEM;
	f->child = c;
	f->predict = &c->next;
	return 0;
}

/* Add the next field of the open object. The name that came here last time costs one comparison. */
static int
build_name(struct body *b, struct body_frame *f, const char *name, size_t length)
{
	struct path_node *c = f->predict ? *f->predict : NULL;

	if (!c || c->name_ref == 0 || c->text_length != length + 3 || memcmp(c->text + 1, name, length) != 0)
		return body_name(b, name, length);
	return expected_name(b, f, c);
}

/* The same for a name of the schema: both texts have room for a comparison of 32 bytes. */
static inline __attribute__((always_inline)) int
build_field_name(struct body *b, struct body_frame *frame, const struct proto_field *f)
{
	struct path_node *c = frame->predict ? *frame->predict : NULL;

	if (!c || c->name_ref == 0 || c->text_length != f->name_length || f->name_length > PROTO_NAME_ROOM ||
	    !json_same_32(c->text, f->name, f->name_length))
		return build_name(b, frame, f->name + 1, f->name_length - 3u);
	return expected_name(b, frame, c);
}
_Static_assert(PROTO_NAME_ROOM == 32 && SCHEMA_TEXT_ROOM == 32, "json_same_32() reads so many bytes");

/* ---- values ---- */

/* Replace what is no UTF-8. The result is in d->text until the next call. */
static __attribute__((noinline)) int
repair(struct decoder *d, const char **text, size_t *length)
{
	d->text.length = 0;
	if (bytes_room(&d->text, proto_text_repaired_max(*length)) < 0)
		return -ENOMEM;
	*length = proto_text_repair((char *)d->text.data, *text, *length);
	*text = (const char *)d->text.data;
	return 0;
}

static int
build_string(struct decoder *d, struct path_node *node, struct proto_span in)
{
	const char *text = in.at ? (const char *)in.at : ""; /* NULL: a map's entry left it out */
	size_t length = (size_t)(in.end - in.at);

	if (!proto_text_is_good(text, length) && repair(d, &text, &length) < 0)
		return -ENOMEM;
	if (role_is_string(node->role) && d->mode != DECODE_DOCUMENT)
		return item_role_string(d, node, text, length);
	return body_string(&d->body, node, text, length);
}

static int
build_bytes(struct decoder *d, struct path_node *node, struct proto_span in)
{
	size_t length = (size_t)(in.end - in.at),
	       room = sodium_base64_encoded_len(length, sodium_base64_VARIANT_ORIGINAL);

	d->text.length = 0;
	if (bytes_room(&d->text, room) < 0)
		return -ENOMEM;
	sodium_bin2base64((char *)d->text.data, room, in.at ? in.at : (const uint8_t *)"", length,
			  sodium_base64_VARIANT_ORIGINAL);
	return body_string(&d->body, node, (const char *)d->text.data, room - 1);
}

/*
 * Read JSON within protobuf by the JSON parser, as the value of the open field. It is checked first to be one
 * value, so the parser cannot leave that field.
 */
static int
build_raw(struct decoder *d, struct proto_span in)
{
	const char *p = (const char *)in.at, *end = (const char *)in.end;
	unsigned depth = d->body.depth;
	struct json_skip whole = {0};
	int r;

	json_skip_begin(&whole);
	r = json_skip_run(&whole, &p, end, true);
	json_skip_done(&whole);
	if (r == -ENOMEM)
		return r;
	if (r != 1 || json_space_end(p, end) != end) {
		decoder_fail(d, (const char *)in.at, "what should be JSON within protobuf is none");
		return -EPROTO;
	}
	p = (const char *)in.at;
	d->state = JSON_VALUE;
	do
		r = d->skipping ? decoder_skip_run(d, &p, end, true) : decoder_body_run(d, &p, end, true);
	while (r == GO_ON && !d->item.bad);
	if (d->item.bad) { /* the item is complete: there is no rest to skip */
		d->skipping = false;
		d->skipping_item = false;
		return -E2BIG;
	}
	return r != NEED_MORE ? r : d->body.depth == depth && d->state == JSON_NEXT ? 0 : -EBADMSG;
}

static int
build_time_of(struct decoder *d, struct path_node *node, const struct proto_small *s, bool micro)
{
	char text[PROTO_TIME_TEXT_MAX];

	if (proto_time_is_zero(s, micro))
		return body_tag(&d->body, TAG_NULL);
	return body_string(&d->body, node, text, proto_time_text(&d->date, text, s, micro));
}

/* Build a message that has its own form in JSON. */
static int
build_small(struct decoder *d, struct path_node *node, const struct proto_field *f, struct proto_span in)
{
	struct proto_small s;
	uint64_t number = 0;
	int r = proto_small_read((enum proto_type)f->type, in, &s, &number);
	char why[DECODER_WHY_MAX];

	if (r < 0) {
		snprintf(why, sizeof(why), "%.*s is malformed, or its field %" PRIu64 " is not known",
			 (int)f->name_length - 1, f->name, number);
		decoder_fail(d, (const char *)in.at, why);
		return r;
	}
	switch (f->type) {
	case PROTO_QUANTITY: /* a Go server writes it in canonical form */
		return s.bytes[1].at ? build_string(d, node, s.bytes[1])
				     : body_string(&d->body, node, "0", 1);
	case PROTO_INT_OR_STRING:
		return s.number[1] ? build_string(d, node, s.bytes[3])
				   : body_int(&d->body, (int32_t)s.number[2]);
	case PROTO_RAW:
		return s.bytes[1].at ? build_raw(d, s.bytes[1]) : body_tag(&d->body, TAG_NULL);
	default:
		if (in.at == in.end)
			return body_tag(&d->body, TAG_NULL);
		return build_time_of(d, node, &s, f->type == PROTO_MICRO_TIME);
	}
}

static int
build_time(struct decoder *d, struct path_node *node, const struct proto_field *f, struct proto_span in)
{
	struct proto_small s;

	return proto_time_read(in, &s) ? build_time_of(d, node, &s, f->type == PROTO_MICRO_TIME)
				       : build_small(d, node, f, in);
}

/* ---- containers ---- */

/*
 * Take a container whose bytes occurred at this path before, by one comparison. Several fields or kinds may
 * share a path, so the type (a message or a field) must be the one first seen at the path.
 * Returns 1: taken; 0: build it; or negative errno
 */
static int
build_known(struct decoder *d, struct path_node *node, const void *type, struct proto_span in)
{
	struct text_memo_place *place = NULL;
	int r;

	if (!node->texts_type)
		node->texts_type = type;
	if (node->texts && node->texts_type == type)
		place = text_memo_find(node->texts, (const char *)in.at, (const char *)in.end);
	if (!place || place->length != (size_t)(in.end - in.at))
		return 0;
	r = body_shared(&d->body, &node->containers, place);
	return r < 0 ? r : 1;
}

static int
open_container(struct decoder *d, struct path_node *node, bool object)
{
	return d->body.depth == VALUE_DEPTH_MAX ? -E2BIG : body_open(&d->body, node, object);
}

static int
close_container(struct decoder *d, struct path_node *node, const void *type, struct proto_span in)
{
	int r = body_close(&d->body);

	if (r == 0 && d->body.known_ref && in.at && node->texts_type == type)
		schema_remember_text(d->schema, node, (const char *)in.at, (size_t)(in.end - in.at),
				     d->body.known_ref);
	return r;
}

/* Build one value of the field's type: an element, if the field is repeated, a map or a list. */
static int build_plain(struct decoder *d, struct path_node *node, const struct proto_field *f,
		       const struct proto_found *v);

static enum proto_wire
plain_wire(const struct proto_field *f)
{
	return f->type == PROTO_BOOL || f->type == PROTO_INT ? PROTO_WIRE_NUMBER : PROTO_WIRE_BYTES;
}

/* Build a list: its elements are all fields with this number. */
static int
build_list(struct decoder *d, struct path_node *node, const struct proto_field *f, uint64_t number,
	   const struct proto_message *m, struct proto_span in)
{
	const struct proto_span whole = in;
	int r = build_known(d, node, f, in);

	if (r != 0)
		return r < 0 ? r : 0;
	r = open_container(d, node, false);
	while (r == 0 && in.at < in.end) {
		const struct body_frame *frame = &d->body.frames[d->body.depth - 1];
		const uint8_t *at = in.at;
		struct proto_token t;

		if (!proto_next(&in.at, in.end, &t))
			return malformed(d, at, m);
		if (t.number != number) {
			if (f->flags & PROTO_LIST)
				return unknown(d, at, m, t.number);
			continue; /* another field between two elements: proto_fields_find() took it */
		}
		if (t.wire != plain_wire(f))
			return malformed(d, at, m);
		if (!frame->child->drop)
			r = build_plain(d, frame->child, f, &(struct proto_found){t.bytes.at, t.value});
	}
	return r < 0 ? r : close_container(d, node, f, whole);
}

/* {1: key, 2: value}; an absent value is empty. */
static int
build_entry(struct decoder *d, const struct proto_field *f, const struct proto_message *m,
	    struct proto_span in)
{
	struct body_frame *frame = &d->body.frames[d->body.depth - 1];
	enum proto_wire value_wire = f->flags & PROTO_LIST ? PROTO_WIRE_BYTES : plain_wire(f);
	struct proto_found key = {0}, value = {.at = in.end};
	const char *name;
	size_t length;
	int r;

	while (in.at < in.end) {
		const uint8_t *at = in.at;
		struct proto_token t;

		if (!proto_next(&in.at, in.end, &t))
			return malformed(d, at, m);
		if (t.number > 2)
			return unknown(d, at, m, t.number);
		if (t.wire != (t.number == 2 ? value_wire : PROTO_WIRE_BYTES))
			return malformed(d, at, m);
		*(t.number == 1 ? &key : &value) = (struct proto_found){t.bytes.at, t.value};
	}
	name = (const char *)key.at;
	length = (size_t)key.value;
	if (!proto_text_is_good(name, length) && repair(d, &name, &length) < 0)
		return -ENOMEM;
	r = build_name(&d->body, frame, name ? name : "", length);
	if (r < 0 || frame->child->drop)
		return r;
	if (f->flags & PROTO_LIST)
		return build_list(d, frame->child, f, 1, m, proto_found_bytes(&value));
	return build_plain(d, frame->child, f, &value);
}

static int
build_map(struct decoder *d, struct path_node *node, const struct proto_field *f,
	  const struct proto_message *m, struct proto_span in)
{
	const struct proto_span whole = in;
	int r = build_known(d, node, f, in);

	if (r != 0)
		return r < 0 ? r : 0;
	r = open_container(d, node, true);
	while (r == 0 && in.at < in.end) {
		const uint8_t *at = in.at;
		struct proto_token t;

		if (!proto_next(&in.at, in.end, &t))
			return malformed(d, at, m);
		if (t.number != f->number)
			continue;
		if (t.wire != PROTO_WIRE_BYTES)
			return malformed(d, at, m);
		r = build_entry(d, f, m, t.bytes);
	}
	return r < 0 ? r : close_container(d, node, f, whole);
}

static int
build_plain(struct decoder *d, struct path_node *node, const struct proto_field *f,
	    const struct proto_found *v)
{
	switch (f->type) {
	case PROTO_STRING:
		return build_string(d, node, proto_found_bytes(v));
	case PROTO_BYTES:
		return build_bytes(d, node, proto_found_bytes(v));
	case PROTO_BOOL:
		return body_tag(&d->body, v->value ? TAG_TRUE : TAG_FALSE);
	case PROTO_INT:
		return body_int(&d->body, (int64_t)v->value);
	case PROTO_MESSAGE:
		return build_message(d, node, proto_schema_message(d->proto_schema, f->message),
				     proto_found_bytes(v));
	case PROTO_CONSTANT:
		return body_string(&d->body, node, f->constant + 1, strlen(f->constant) - 2);
	case PROTO_TIME:
	case PROTO_MICRO_TIME:
		return build_time(d, node, f, proto_found_bytes(v));
	default:
		return build_small(d, node, f, proto_found_bytes(v));
	}
}

/* ---- messages ---- */

static int build_fields(struct decoder *d, const struct proto_message *m, struct proto_span in,
			unsigned depth);

/* Copy the spec of the known object, if that was built from the same bytes. 1: copied; 0; -ENOMEM */
static __attribute__((noinline)) int
build_repeated(struct decoder *d, const struct path_node *spec, struct proto_span in)
{
	uint32_t known = item_known(d);

	return known ? item_repeat(d, spec, known, in.at, (size_t)(in.end - in.at)) : 0;
}

/* Build the value of a field whose name was added; node is its path. */
static inline __attribute__((always_inline)) int
build_member(struct decoder *d, const struct proto_message *m, const struct proto_field *f,
	     struct path_node *node, const struct proto_found *v)
{
	if (node->drop)
		return 0;
	if (node->role != ROLE_NONE) {
		int r;

		item_role_begins(d, node);
		r = node->role == ROLE_SPEC && v->at ? build_repeated(d, node, proto_found_bytes(v)) : 0;
		if (r != 0)
			return r < 0 ? r : 0;
	}
	if (!v->at && f->type != PROTO_CONSTANT)
		return body_tag(&d->body, TAG_NULL);
	if (!(f->flags & PROTO_SPECIAL))
		return f->type == PROTO_STRING ? build_string(d, node, proto_found_bytes(v))
					       : build_plain(d, node, f, v);
	if (f->flags & PROTO_MAP)
		return build_map(d, node, f, m, proto_found_bytes(v));
	if (f->flags & PROTO_REPEATED)
		return build_list(d, node, f, f->number, m, proto_found_bytes(v));
	if (f->flags & PROTO_LIST)
		return build_list(d, node, f, 1, m, proto_found_bytes(v));
	return build_plain(d, node, f, v);
}

static int
build_field(struct decoder *d, const struct proto_message *m, const struct proto_field *f,
	    const struct proto_found *v, unsigned depth)
{
	struct body_frame *frame = &d->body.frames[d->body.depth - 1];
	int r;

	if (f->flags & PROTO_INLINE)
		return build_fields(d, proto_schema_message(d->proto_schema, f->message),
				    proto_found_bytes(v), depth + 1);
	r = build_field_name(&d->body, frame, f);
	return r < 0 ? r : build_member(d, m, f, frame->child, v);
}

/* The open object has exactly these fields: remember its shape for all objects that have the same. */
static int
remember_plan(struct decoder *d, const struct proto_message *m, uint64_t fields,
	      struct path_node *const *children, unsigned count)
{
	struct body *b = &d->body;
	struct body_frame *frame = &b->frames[b->depth - 1];
	uint32_t names = b->names.count - frame->names_start;
	struct field_plan plan = {.message = m->id, .fields = fields}, *kept = NULL;
	struct stocked_ref *from;
	int r;

	if (names == 0 || b->loose.count > frame->loose_start)
		return 0;
	r = body_shape(b, frame, &plan.shape.ref, &from);
	if (r < 0)
		return r;
	if (b->names.count - frame->names_start == names) /* else two fields had one name */
		kept = schema_remember_plan(d->schema, frame->node, &plan, children, count);
	if (kept)
		frame->shape = &kept->shape;
	else
		intern_unref(d->intern, plan.shape.ref);
	return 0;
}

/* Build an object that has exactly these fields. */
static int
build_planned(struct decoder *d, const struct proto_message *m, const struct proto_found *found,
	      uint64_t fields)
{
	struct body_frame *frame = &d->body.frames[d->body.depth - 1];
	struct field_plan *plan = field_plan_find(frame->node->plans, m->id, fields);
	struct path_node *children[PROTO_FIELDS_MAX];
	unsigned n = 0;
	int r = 0;

	if (!plan) {
		for (uint64_t left = fields; left; left &= left - 1) {
			unsigned i = (unsigned)__builtin_ctzll(left);

			r = build_field(d, m, &m->fields[i], &found[i], 0);
			if (r < 0)
				return r;
			children[n++] = frame->child;
		}
		return remember_plan(d, m, fields, children, n);
	}
	frame->shape = &plan->shape;
	for (uint64_t left = fields; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		frame->child = plan->children[n++];
		r = build_member(d, m, &m->fields[i], frame->child, &found[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* depth: how many inlined messages surround this one */
static int
build_fields(struct decoder *d, const struct proto_message *m, struct proto_span in, unsigned depth)
{
	const struct body_frame *frame = &d->body.frames[d->body.depth - 1];
	struct proto_found found[PROTO_FIELDS_MAX];
	struct proto_fields_end end;
	uint64_t fields;
	int r;

	if (depth == INLINE_DEPTH_MAX)
		return -E2BIG;
	r = proto_fields_find(m, in, found, &fields, &end);
	if (r < 0)
		return r == -EPROTO ? unknown(d, end.at, m, end.number) : malformed(d, end.at, m);
	if (depth == 0 && !m->inlines && d->body.names.count == frame->names_start)
		return build_planned(d, m, found, fields);
	for (uint64_t left = fields; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		r = build_field(d, m, &m->fields[i], &found[i], depth);
		if (r < 0)
			return r;
	}
	return 0;
}

static __attribute__((noinline)) int
build_message(struct decoder *d, struct path_node *node, const struct proto_message *m, struct proto_span in)
{
	int r = build_known(d, node, m, in);

	if (r != 0)
		return r < 0 ? r : 0;
	r = open_container(d, node, true);
	if (r == 0)
		r = build_fields(d, m, in, 0);
	return r < 0 ? r : close_container(d, node, m, in);
}

/* ---- an item ---- */

/* Add kind or apiVersion, which come from the object's envelope. */
static int
build_type(struct decoder *d, const char *name, struct proto_span text)
{
	struct body_frame *frame = &d->body.frames[d->body.depth - 1];
	int r = build_name(&d->body, frame, name, strlen(name));

	if (r < 0 || frame->child->drop)
		return r;
	return build_string(d, frame->child, text);
}

int
decoder_proto_item(struct decoder *d, const struct proto_message *m, struct proto_span bytes,
		   struct proto_span api_version, struct proto_span kind)
{
	int r = open_container(d, d->item.root, true);

	if (r == 0 && kind.at != kind.end)
		r = build_type(d, "kind", kind);
	if (r == 0 && api_version.at != api_version.end)
		r = build_type(d, "apiVersion", api_version);
	if (r == 0)
		r = build_fields(d, m, bytes, 0);
	return r < 0 ? r : close_container(d, d->item.root, m, (struct proto_span){0});
}
