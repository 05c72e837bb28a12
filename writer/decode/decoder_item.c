/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The item: its key, its type, why it is left out, its beginning and end. decoder_body.c or decoder_proto.c
 * builds the body in between.
 */
#include "writer/decode/decoder_item.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "shm-layout/root.h"
#include "writer/decode/body_scalar.h"
#include "writer/decode/decoder_internal.h"

static bool
is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return true;
}

/* ---- key ---- */

static const uint16_t longest[OBJECT_STRINGS] = {
	[OBJECT_NAME] = OBJECT_NAME_MAX,
	[OBJECT_NAMESPACE] = OBJECT_NAMESPACE_MAX,
	[OBJECT_UID] = OBJECT_UID_MAX,
	[OBJECT_VERSION] = RESOURCE_VERSION_MAX,
};

static void
forget_strings(struct decoder_item *item)
{
	for (unsigned i = 0; i < OBJECT_STRINGS; i++)
		item->strings[i].state = STRING_ABSENT;
}

void
item_role_begins(struct decoder *d, const struct path_node *node)
{
	struct decoder_item *item = &d->item;

	if (node->role == ROLE_SPEC) {
		item->source = 0;
		return;
	}
	item->has_metadata = true;
	if (node->role == ROLE_METADATA)
		forget_strings(item);
	else
		item->strings[node->role - ROLE_STRING].state = STRING_WRONG_TYPE;
}

int
item_role_string(struct decoder *d, struct path_node *node, const char *data, size_t length)
{
	unsigned which = node->role - (unsigned)ROLE_STRING;
	struct item_string *s = &d->item.strings[which];

	if (length == 0)
		s->state = STRING_ABSENT;
	else if (length > longest[which])
		s->state = STRING_TOO_LONG;
	else if (which <= OBJECT_NAMESPACE && memchr(data, '/', length))
		s->state = STRING_WRONG_BYTES;
	else
		s->state = STRING_GOOD;
	if (s->state != STRING_GOOD)
		return body_string(&d->body, node, data, length);
	memcpy(s->data, data, length);
	s->length = length;
	return body_tag(&d->body, (enum value_tag)(TAG_OWN_NAME + which));
}

/* What is wrong with the item's key, or NULL. */
static const char *
key_problem(const struct decoder *d)
{
	static const char *const problems[][2] = {
		[STRING_ABSENT] = {"it has no metadata.name"},
		[STRING_WRONG_TYPE] = {"its metadata.name is not a string",
				       "its metadata.namespace is not a string"},
		[STRING_WRONG_BYTES] = {"its metadata.name contains a '/'",
					"its metadata.namespace contains a '/'"},
		[STRING_TOO_LONG] = {"its metadata.name is longer than 1,024 bytes",
				     "its metadata.namespace is longer than 255 bytes"},
		[STRING_GOOD] = {NULL, NULL},
	};
	const struct item_string *strings = d->item.strings;
	const char *problem = problems[strings[OBJECT_NAME].state][0];

	return problem ? problem : problems[strings[OBJECT_NAMESPACE].state][1];
}

/* A string of the header; empty if the item has none, or an invalid one. */
static struct body_text
string_of(const struct decoder_item *item, enum object_string which)
{
	const struct item_string *s = &item->strings[which];

	return (struct body_text){s->data, s->state == STRING_GOOD ? s->length : 0};
}

/* ---- repeated members ---- */

uint32_t
item_known(const struct decoder *d)
{
	struct body_text name, ns;

	if (!d->events->known || key_problem(d))
		return 0;
	name = string_of(&d->item, OBJECT_NAME);
	ns = string_of(&d->item, OBJECT_NAMESPACE);
	return d->events->known(d->context, ns.data, ns.length, name.data, name.length);
}

int
item_repeat(struct decoder *d, const struct path_node *spec, uint32_t known, const void *bytes, size_t length)
{
	d->item.source = schema_source_hash(d->schema, bytes, length);
	if (body_source(object_at(&d->arena->view, known)) != d->item.source)
		return 0;
	return body_repeat(&d->body, known, spec->name_ref);
}

/* ---- type ---- */

struct bytes *
item_type_begins(struct decoder *d, const struct path_node *node)
{
	struct bytes *to = node->role == ROLE_KIND ? &d->item.kind : &d->item.api_version;

	to->length = 0; /* the last one counts */
	return to;
}

int
item_add_type(struct bytes *to, const char *text, size_t length)
{
	size_t room = DECODER_TYPE_MAX - to->length;

	return bytes_append(to, text, length < room ? length : room);
}

/*
 * True if the noted text is another string than `expected`. *ret_text is that string without quotes;
 * *ret_length is 0 if it is not printable. A text that is absent, no string or has escapes is accepted.
 */
static bool
is_another(const struct bytes *noted, const char *expected, const char **ret_text, size_t *ret_length)
{
	const char *text = (const char *)noted->data, *end;
	size_t length;

	if (!expected || noted->length == 0)
		return false;
	end = text + noted->length;
	text = json_space_end(text, end);
	length = (size_t)(end - text);
	if (length < 2 || *text != '"' || memchr(text, '\\', length))
		return false;
	if (length == strlen(expected) + 2 && memcmp(text + 1, expected, length - 2) == 0)
		return false;
	*ret_text = text + 1;
	*ret_length = is_plain(text, length) ? length - 2 : 0;
	return true;
}

/*
 * True if the item's type is not the expected one; why says so. In a list only the kind counts, as in
 * client-go: the server may not have converted the items.
 */
static bool
is_of_another_type(const struct decoder *d, char why[static DECODER_WHY_MAX / 2])
{
	const char *text;
	size_t length;

	if (is_another(&d->item.kind, d->expected_kind, &text, &length))
		snprintf(why, DECODER_WHY_MAX / 2, "it is a %.*s, not a %.40s",
			 (int)(length < 64 ? length : 64), text, d->expected_kind);
	else if (d->mode == DECODE_WATCH &&
		 is_another(&d->item.api_version, d->expected_api_version, &text, &length))
		snprintf(why, DECODER_WHY_MAX / 2, "its apiVersion is %.*s, not %.64s",
			 (int)(length < 64 ? length : 64), text, d->expected_api_version);
	else
		return false;
	return true;
}

/* ---- refused and incomplete items ---- */

void
item_why(struct decoder *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(d->item.why, sizeof(d->item.why), format, args);
	va_end(args);
}

/* Note why the open item is left out, with its key if that is valid, short and printable. */
static void
set_left_out(struct decoder *d, const char *why)
{
	struct decoder_item *item = &d->item;
	struct body_text name = string_of(item, OBJECT_NAME), ns = string_of(item, OBJECT_NAMESPACE);

	if (key_problem(d) || name.length + ns.length > DECODER_WHY_MAX / 2 ||
	    !is_plain(name.data, name.length) || !is_plain(ns.data, ns.length))
		item_why(d, "the object at byte %" PRIu64 " is left out: %s", item->start, why);
	else
		item_why(d, "the object %.*s%s%.*s at byte %" PRIu64 " is left out: %s", (int)ns.length,
			 ns.data, ns.length ? "/" : "", (int)name.length, name.data, item->start, why);
}

int
item_report_bad(struct decoder *d)
{
	return decoder_answered(
		d, d->events->on_bad_object ? d->events->on_bad_object(d->context, d->item.why) : 0);
}

void
item_refuse(struct decoder *d, const char *why)
{
	set_left_out(d, why);
	body_clear(&d->body);
	d->item.bad = true;
}

int
item_give_up(struct decoder *d, const char *p, const char *why)
{
	int r;

	if (d->mode == DECODE_DOCUMENT)
		return decoder_fail(d, p, why);
	json_skip_begin(&d->skip);
	for (unsigned i = 0; i < d->body.depth; i++) {
		r = json_skip_push(&d->skip, d->body.frames[i].object);
		if (r < 0)
			return r;
	}
	d->skip.state = d->state;
	memset(&d->scan, 0, sizeof(d->scan));
	item_refuse(d, why);
	d->skipping = true;
	d->skipping_item = true;
	return GO_ON;
}

static const char *
too_long(const struct decoder *d, char why[static 64])
{
	snprintf(why, 64, "it is longer than %" PRIu64 " bytes", d->max_bytes);
	return why;
}

int
item_give_up_long(struct decoder *d, const char *p)
{
	char why[64];

	return item_give_up(d, p, too_long(d, why));
}

int
item_build_failed(struct decoder *d, const char *p, int r)
{
	return r == -E2BIG ? item_give_up(d, p, "it is too large for one block") : r;
}

/* ---- beginning and end ---- */

void
draft_discard(struct arena *arena, struct intern *in, struct draft draft)
{
	const struct block *b = arena_block(arena, draft.ref);
	const struct object *o = arena_payload(arena, draft.ref);

	intern_release_value(in, b->payload + o->body_offset, b->payload + block_length(b));
	arena_free(arena, draft.ref);
}

void
item_drop(struct decoder *d)
{
	struct decoder_item *item = &d->item;

	if (item->has_draft)
		draft_discard(d->arena, d->intern, item->draft);
	item->has_draft = false;
	item->bad = false;
	item->key_bad = false;
	item->foreign = false;
}

int
item_begin(struct decoder *d, const char *p)
{
	struct decoder_item *item = &d->item;

	item_drop(d); /* an event may have "object" twice */
	item->root = schema_item_begin(d->schema);
	if (!item->root)
		return -ENOMEM;
	item->open = true;
	item->start = decoder_offset(d, p);
	forget_strings(item);
	item->source = 0;
	item->has_metadata = false;
	item->api_version.length = 0;
	item->kind.length = 0;
	return 0;
}

int
item_hand_over(struct decoder *d, const char *type, size_t type_length)
{
	struct decoder_item *item = &d->item;
	struct draft draft = item->draft;

	if (item->bad || item->key_bad) {
		int r = item_report_bad(d);

		item_drop(d);
		return r;
	}
	item->has_draft = false;
	return decoder_answered(d, d->events->on_object(d->context, type, type_length, draft));
}

int
item_end(struct decoder *d, const char *p)
{
	struct decoder_item *item = &d->item;
	bool keyed = d->mode != DECODE_DOCUMENT;
	uint64_t bytes = decoder_offset(d, p) - item->start;
	const char *problem = keyed ? key_problem(d) : NULL;
	struct body_text strings[OBJECT_STRINGS];
	char why[DECODER_WHY_MAX / 2];
	int r = 0;

	item->open = false;
	schema_item_end(d->schema);
	if (!item->bad && bytes > d->max_bytes) {
		if (!keyed)
			return decoder_fail(d, p, too_long(d, why));
		set_left_out(d, too_long(d, why));
		item->bad = true;
		body_clear(&d->body);
	}
	if (!item->bad) {
		for (unsigned i = 0; i < OBJECT_STRINGS; i++) {
			strings[i] = string_of(item, (enum object_string)i);
			if (!keyed || (problem && i <= OBJECT_NAMESPACE))
				strings[i].length = 0;
		}
		r = body_emit(&d->body, strings, item->source, &item->draft.ref);
		item->has_draft = r == 0;
		if (r == -E2BIG) {
			set_left_out(d, "it is too large for one block");
			body_clear(&d->body);
			item->bad = true;
			r = 0;
		}
		if (r < 0)
			return r;
	}
	if (!item->bad && is_of_another_type(d, why)) {
		if (d->mode == DECODE_LIST) /* refuse the whole list: it may lack other items, too */
			return decoder_fail(d, p, why);
		problem = why;
		item->foreign = true;
	}
	if (!item->bad && problem) {
		set_left_out(d, problem);
		item->key_bad = true;
		item->foreign |= !item->has_metadata;
	}
	bytes_clear(&d->text);
	return d->mode == DECODE_LIST ? item_hand_over(d, "", 0) : GO_ON;
}

void
item_reset(struct decoder *d)
{
	if (d->item.open)
		schema_item_end(d->schema);
	d->item.open = false;
	item_drop(d);
	bytes_clear(&d->item.api_version);
	bytes_clear(&d->item.kind);
}

void
item_done(struct decoder *d)
{
	bytes_done(&d->item.api_version);
	bytes_done(&d->item.kind);
}
