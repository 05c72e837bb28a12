/*
 * The decoder: a push parser with an explicit stack. Three parts take turns over the bytes:
 *
 *   envelope   what stands around the items: a list's head and its items' brackets, a watch event's braces
 *   body       an item, built as it is read (body_build.h)
 *   skip       a value nobody wants: a dropped field, an unknown field of the envelope, the rest of an item that cannot be kept
 *
 * Each stops at the beginning of a token that is not whole. The bytes from there on are carried over, and the next chunk completes them: as
 * much of it as was carried already is appended at a time, and the scan goes on where it stopped, so a token costs its length however
 * small the chunks are. As soon as the token is over, reading goes on in the chunk itself.
 */
#include "writer/decoder.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"
#include "shm-layout/value.h"
#include "writer/body_build.h"
#include "writer/body_scalar.h"
#include "writer/body_shape.h"
#include "writer/decoder_schema.h"
#include "writer/growing.h"
#include "writer/json_plain.h"
#include "writer/json_scan.h"
#include "writer/json_skip.h"

#define ITEM_BYTES_DEFAULT (64u << 20)
#define CARRY_STEP_MIN 256u
#define WHY_MAX 320u
#define KIND_TEXT_MAX 128u

/* What the parts answer besides negative errno. */
enum { NEED_MORE = 0, GO_ON = 1, STOPPED = INT_MIN };

enum place { BETWEEN_DOCUMENTS, IN_LIST, IN_LIST_METADATA, IN_ITEMS, IN_EVENT };
/* What the next value of the envelope is. */
enum target { TARGET_NOTHING, TARGET_DOCUMENT, TARGET_ITEM, TARGET_ITEMS, TARGET_METADATA, TARGET_KIND, TARGET_TYPE, TARGET_VERSION, TARGET_CONTINUE, TARGET_REMAINING };
enum key_part { KEY_ABSENT, KEY_GOOD, KEY_WRONG_TYPE, KEY_WRONG_BYTES, KEY_TOO_LONG };

struct decoder {
	enum decoder_mode mode;
	struct arena *arena;
	struct intern *intern;
	struct decoder_schema *schema;
	struct decoder_schema *own_schema;
	const struct decoder_events *events;
	void *context;
	uint64_t max_bytes;
	const char *expected_kind;	/* NULL: any */

	/* where we are */
	enum place place;
	enum target target;
	enum json_state state;	/* of the envelope, or of the body while one is open */
	bool skipping;
	bool skipping_item;	/* the item is bad, and ends with what is skipped */
	bool skipping_kind;	/* what is skipped is the item's kind */
	bool in_item;
	struct json_scan scan;
	struct json_skip skip;
	struct body body;
	struct path_node *root;	/* of the item */
	uint64_t offset;	/* in the stream, of the bytes at `buffer` */
	const char *buffer;
	struct bytes carry;
	struct bytes text;	/* a string without its escapes */

	/* the item */
	uint64_t item_start;
	enum key_part name_state, ns_state;
	size_t name_length, ns_length;
	char name[OBJECT_NAME_MAX];
	char ns[OBJECT_NAMESPACE_MAX];
	struct bytes kind;	/* as it stands there, in quotes; as much as is of interest */

	/* the event or document whose end is not there yet */
	bool has_draft;
	struct draft draft;
	bool bad;		/* the item cannot be kept: */
	bool key_bad;		/* the same, but a bookmark or an error may be so */
	char why[WHY_MAX];

	/* captured */
	struct bytes type;
	struct bytes list_kind;
	struct bytes version;
	struct bytes continue_token;
	int64_t remaining;
	bool has_items;

	uint64_t documents;	/* of this stream */
	int callback_result;
	struct decoder_stats stats;
	uint64_t error_offset;
	char error[WHY_MAX];
};

/* What a callback answered: go on, or stop with just that. */
static int
answered(struct decoder *d, int r)
{
	d->callback_result = r;
	return r == 0 ? GO_ON : STOPPED;
}

/* ---- failure ---- */

static int
fail(struct decoder *d, const char *at, const char *why)
{
	d->error_offset = d->offset + (uint64_t)(at - d->buffer);
	snprintf(d->error, sizeof(d->error), "%s", why);
	return -EBADMSG;
}

static void __attribute__((format(printf, 2, 3)))
set_why(struct decoder *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(d->why, sizeof(d->why), format, args);
	va_end(args);
}

static bool
is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return true;
}

static const char *key_problem(const struct decoder *d);

/* Why the item that is open is left out; with its key, if that is known and fit to be shown. */
static void
set_left_out(struct decoder *d, const char *why)
{
	size_t name = key_problem(d) ? 0 : d->name_length, ns = d->ns_state == KEY_GOOD ? d->ns_length : 0;

	if (name == 0 || name + ns > WHY_MAX / 2 || !is_plain(d->name, name) || !is_plain(d->ns, ns))
		set_why(d, "the object at byte %" PRIu64 " is left out: %s", d->item_start, why);
	else
		set_why(d, "the object %.*s%s%.*s at byte %" PRIu64 " is left out: %s", (int)ns, d->ns, ns ? "/" : "", (int)name,
			d->name, d->item_start, why);
}

static int
report_bad(struct decoder *d)
{
	d->stats.bad_objects++;
	return answered(d, d->events->on_bad_object ? d->events->on_bad_object(d->context, d->why) : 0);
}

/*
 * The item that is open cannot be kept. What was built is given back; the rest, from p on, is skipped.
 * A single document has nothing else to go on with: it fails.
 */
static int
give_up_item(struct decoder *d, const char *p, const char *why)
{
	int r;

	if (d->mode == DECODE_DOCUMENT)
		return fail(d, p, why);
	set_left_out(d, why);
	json_skip_begin(&d->skip);
	for (unsigned i = 0; i < d->body.depth; i++) {
		r = json_skip_push(&d->skip, d->body.frames[i].object);
		if (r < 0)
			return r;
	}
	d->skip.state = d->state;
	memset(&d->scan, 0, sizeof(d->scan));
	body_clear(&d->body);
	d->bad = true;
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

/* What a function of the builder answered, when it was no success. */
static int
build_failed(struct decoder *d, const char *p, int r)
{
	return r == -E2BIG ? give_up_item(d, p, "it is too large for one block, or an object in it has more than 65,535 fields") : r;
}

/* ---- the key ---- */

/* A field of metadata, or metadata itself, begins (anew, when the key stands there twice). */
static void
key_begins(struct decoder *d, const struct path_node *node)
{
	if (node->role != ROLE_NAMESPACE)
		d->name_state = node->role == ROLE_NAME ? KEY_WRONG_TYPE : KEY_ABSENT;
	if (node->role != ROLE_NAME)
		d->ns_state = node->role == ROLE_NAMESPACE ? KEY_WRONG_TYPE : KEY_ABSENT;
}

static int
key_string(struct decoder *d, struct path_node *node, const char *data, size_t length)
{
	bool is_name = node->role == ROLE_NAME;
	enum key_part *state = is_name ? &d->name_state : &d->ns_state;

	if (node->role == ROLE_METADATA || length == 0) {
		if (node->role != ROLE_METADATA)
			*state = KEY_ABSENT;
		return body_string(&d->body, node, data, length);
	}
	*state = KEY_GOOD;
	if (length > (is_name ? OBJECT_NAME_MAX : OBJECT_NAMESPACE_MAX))
		*state = KEY_TOO_LONG;
	else if (memchr(data, '/', length))
		*state = KEY_WRONG_BYTES;
	if (*state != KEY_GOOD)
		return body_string(&d->body, node, data, length);
	memcpy(is_name ? d->name : d->ns, data, length);
	*(is_name ? &d->name_length : &d->ns_length) = length;
	return body_tag(&d->body, is_name ? TAG_OWN_NAME : TAG_OWN_NAMESPACE);
}

/* NULL when the item has a key; else what is wrong with it. */
static const char *
key_problem(const struct decoder *d)
{
	switch (d->name_state) {
	case KEY_ABSENT:
		return "it has no metadata.name";
	case KEY_WRONG_TYPE:
		return "its metadata.name is not a string";
	case KEY_WRONG_BYTES:
		return "its metadata.name contains a '/'";
	case KEY_TOO_LONG:
		return "its metadata.name is longer than 1,024 bytes";
	case KEY_GOOD:
		break;
	}
	switch (d->ns_state) {
	case KEY_WRONG_TYPE:
		return "its metadata.namespace is not a string";
	case KEY_WRONG_BYTES:
		return "its metadata.namespace contains a '/'";
	case KEY_TOO_LONG:
		return "its metadata.namespace is longer than 255 bytes";
	case KEY_ABSENT:
	case KEY_GOOD:
		break;
	}
	return NULL;
}

/*
 * Is the item of another kind than all are to be? *why says which. An item without a kind is one of those of a list; a kind that is no
 * string, or has escapes, says nothing.
 */
static bool
is_of_another_kind(const struct decoder *d, char why[static KIND_TEXT_MAX + 64])
{
	const char *text = (const char *)d->kind.data, *end = text + d->kind.length;
	size_t length;

	if (!d->expected_kind || d->kind.length == 0)
		return false;
	text = json_space_end(text, end);
	length = (size_t)(end - text);
	if (length < 2 || *text != '"' || memchr(text, '\\', length))
		return false;
	if (length == strlen(d->expected_kind) + 2 && memcmp(text + 1, d->expected_kind, length - 2) == 0)
		return false;
	snprintf(why, KIND_TEXT_MAX + 64, "it is a %.*s, not a %.40s", (int)(is_plain(text, length) ? length - 1 : 1) - 1, text + 1,
		 d->expected_kind);
	return true;
}

/* ---- items ---- */

static void
drop_draft(struct decoder *d)
{
	if (d->has_draft)
		draft_discard(d->arena, d->intern, d->draft);
	d->has_draft = false;
	d->bad = false;
	d->key_bad = false;
}

static int
item_begin(struct decoder *d, const char *p)
{
	drop_draft(d); /* an event's "object" that stands there twice */
	d->root = schema_item_begin(d->schema);
	if (!d->root)
		return -ENOMEM;
	d->in_item = true;
	d->item_start = d->offset + (uint64_t)(p - d->buffer);
	d->name_state = KEY_ABSENT;
	d->ns_state = KEY_ABSENT;
	d->kind.length = 0;
	return 0;
}

static int
hand_over(struct decoder *d, const char *type, size_t type_length)
{
	struct draft draft = d->draft;

	if (d->bad || d->key_bad) {
		int r = report_bad(d);

		drop_draft(d);
		return r;
	}
	d->has_draft = false;
	d->stats.objects++;
	return answered(d, d->events->on_object(d->context, type, type_length, draft));
}

/* The item ends before p. */
static int
item_end(struct decoder *d, const char *p)
{
	bool keyed = d->mode != DECODE_DOCUMENT;
	uint64_t bytes = d->offset + (uint64_t)(p - d->buffer) - d->item_start;
	const char *problem = keyed ? key_problem(d) : NULL;
	size_t name_length = keyed && !problem ? d->name_length : 0;
	size_t ns_length = keyed && !problem && d->ns_state == KEY_GOOD ? d->ns_length : 0;
	char why[KIND_TEXT_MAX + 64];
	int r = 0;

	d->in_item = false;
	schema_item_end(d->schema);
	d->stats.duplicate_keys += d->body.duplicate_keys;
	d->body.duplicate_keys = 0;
	if (!d->bad && bytes > d->max_bytes) {
		if (!keyed)
			return fail(d, p, too_long(d, why));
		set_left_out(d, too_long(d, why));
		d->bad = true;
		body_clear(&d->body);
	}
	if (!d->bad) {
		r = body_emit(&d->body, d->ns, ns_length, d->name, name_length, &d->draft.ref);
		d->has_draft = r == 0;
		if (r == -E2BIG) {
			set_left_out(d, "it is too large for one block");
			body_clear(&d->body);
			d->bad = true;
			r = 0;
		}
		if (r < 0)
			return r;
	}
	if (!d->bad && is_of_another_kind(d, why)) {
		if (d->mode == DECODE_LIST) /* what else would such a list leave out? */
			return fail(d, p, why);
		problem = why;
	}
	if (!d->bad && problem) {
		set_left_out(d, problem);
		d->key_bad = true;
	}
	bytes_clear(&d->text);
	return d->mode == DECODE_LIST ? hand_over(d, "", 0) : GO_ON;
}

/* ---- documents ---- */

static int
collect(const char *data, size_t length, void *context)
{
	return bytes_append(context, data, length);
}

/* A bookmark or an error: the object goes on as text. */
static int
hand_over_other(struct decoder *d)
{
	struct bytes json = {0};
	int r;

	if (d->bad)
		return hand_over(d, "", 0);
	r = value_to_json(value_of_object(&d->arena->view, d->draft.ref), collect, &json);
	drop_draft(d);
	if (r == 0)
		r = answered(d, d->events->on_other
					? d->events->on_other(d->context, (const char *)d->type.data, d->type.length,
							      (const char *)json.data, json.length)
					: 0);
	bytes_done(&json);
	return r;
}

static bool
is_type(const struct decoder *d, const char *type)
{
	return d->type.length == strlen(type) && memcmp(d->type.data, type, d->type.length) == 0;
}

static int
event_end(struct decoder *d, const char *p)
{
	if (!d->has_draft && !d->bad) {
		set_why(d, "the event that ends at byte %" PRIu64 " has no object", d->offset + (uint64_t)(p - d->buffer));
		return report_bad(d);
	}
	if (d->type.length == 0 && !d->bad) {
		set_why(d, "the event with the object at byte %" PRIu64 " has no type", d->item_start);
		d->bad = true;
	}
	if (is_type(d, "BOOKMARK") || is_type(d, "ERROR"))
		return hand_over_other(d);
	return hand_over(d, (const char *)d->type.data, d->type.length);
}

static int
list_end(struct decoder *d)
{
	if (!d->events->on_list_end)
		return GO_ON;
	if (bytes_append(&d->version, "", 1) < 0 || bytes_append(&d->continue_token, "", 1) < 0)
		return -ENOMEM;
	return answered(d, d->events->on_list_end(d->context, (const char *)d->version.data,
						  (const char *)d->continue_token.data, d->remaining));
}

static int
document_end(struct decoder *d, const char *p)
{
	int r = GO_ON;

	d->place = BETWEEN_DOCUMENTS;
	d->documents++;
	d->stats.documents++;
	if (d->mode == DECODE_WATCH)
		r = event_end(d, p);
	else if (d->mode == DECODE_LIST)
		r = list_end(d);
	bytes_clear(&d->type);
	bytes_clear(&d->list_kind);
	bytes_clear(&d->version);
	bytes_clear(&d->continue_token);
	d->remaining = 0;
	d->has_items = false;
	return r;
}

/* ---- body ---- */

/* The text of the string whose raw form was just scanned. */
static int
plain_text(struct decoder *d, const char *raw, const char **ret_text, size_t *ret_length)
{
	size_t length = d->scan.scanned;
	bool escapes = d->scan.escapes;

	memset(&d->scan, 0, sizeof(d->scan));
	*ret_text = raw;
	*ret_length = length;
	if (!escapes)
		return 0;
	d->text.length = 0;
	if (bytes_room(&d->text, length) < 0)
		return -ENOMEM;
	*ret_text = (const char *)d->text.data;
	*ret_length = json_unescape((char *)d->text.data, raw, length);
	return 0;
}

/* A string at *p (its quote). */
static int
take_string(struct decoder *d, struct path_node *node, const char **p, const char *end)
{
	enum json_scan_result scanned = json_scan_string(&d->scan, *p + 1, end);
	const char *text, *next;
	size_t length;
	int r;

	if (scanned == JSON_SCAN_MORE)
		return NEED_MORE;
	if (scanned == JSON_SCAN_BAD)
		return fail(d, *p + 1 + d->scan.scanned, d->scan.why);
	next = *p + d->scan.scanned + 2;
	r = plain_text(d, *p + 1, &text, &length);
	if (r == 0 && node->role != ROLE_NONE && d->mode != DECODE_DOCUMENT)
		r = key_string(d, node, text, length);
	else if (r == 0)
		r = body_string(&d->body, node, text, length);
	if (r < 0)
		return build_failed(d, *p, r);
	*p = next;
	return GO_ON;
}

static int
take_number(struct decoder *d, const char **p, const char *end, bool final)
{
	enum json_scan_result scanned = json_scan_number(&d->scan, *p, end);
	size_t length = d->scan.scanned;
	bool integer = d->scan.integer;
	int r;

	if (scanned == JSON_SCAN_MORE && !(final && json_scan_number_ends(&d->scan)))
		return NEED_MORE;
	if (scanned == JSON_SCAN_BAD)
		return fail(d, *p + length, d->scan.why);
	memset(&d->scan, 0, sizeof(d->scan));
	r = body_number(&d->body, *p, length, integer);
	if (r < 0)
		return build_failed(d, *p, r);
	*p += length;
	return GO_ON;
}

static int
take_literal(struct decoder *d, struct path_node *node, const char **p, const char *end, const char *word, enum value_tag tag)
{
	const char *next = *p;
	int r = json_literal(&next, end, word, strlen(word));

	if (r < 0)
		return fail(d, next, "a value is expected here");
	if (r == 0)
		return NEED_MORE;
	if (tag == TAG_NULL && node->role == ROLE_NAMESPACE)
		d->ns_state = KEY_ABSENT;
	r = body_tag(&d->body, tag);
	if (r < 0)
		return r;
	*p = next;
	return GO_ON;
}

/* A value that is no container, at its first character. */
static int
take_scalar(struct decoder *d, struct path_node *node, const char **p, const char *end, bool final)
{
	switch (**p) {
	case '"':
		return take_string(d, node, p, end);
	case 't':
		return take_literal(d, node, p, end, "true", TAG_TRUE);
	case 'f':
		return take_literal(d, node, p, end, "false", TAG_FALSE);
	case 'n':
		return take_literal(d, node, p, end, "null", TAG_NULL);
	case '-':
	case '0' ... '9':
		return take_number(d, p, end, final);
	default:
		return fail(d, *p, "a value is expected here");
	}
}

/* A name that is not the one expected, at its quote. */
static int
take_name(struct decoder *d, const char **p, const char *end)
{
	enum json_scan_result scanned;
	const char *text, *next;
	size_t length;
	int r;

	if (**p != '"')
		return fail(d, *p, "a field name in quotes is expected here");
	scanned = json_scan_string(&d->scan, *p + 1, end);
	if (scanned == JSON_SCAN_MORE)
		return NEED_MORE;
	if (scanned == JSON_SCAN_BAD)
		return fail(d, *p + 1 + d->scan.scanned, d->scan.why);
	next = *p + d->scan.scanned + 2;
	r = plain_text(d, *p + 1, &text, &length);
	if (r == 0)
		r = body_name(&d->body, text, length);
	if (r < 0)
		return build_failed(d, *p, r);
	*p = next;
	return GO_ON;
}

/* The name that came here last time, and its colon, pass by one comparison. */
static inline bool
take_expected_name(struct decoder *d, struct body *b, struct body_frame *f, const char **p, const char *end)
{
	struct path_node *c = f->predict ? *f->predict : NULL;

	if (!c || c->name_ref == 0)
		return false;
	if (end - *p >= SCHEMA_TEXT_ROOM && c->text_length <= SCHEMA_TEXT_ROOM) {
		if (!json_same_32(*p, c->text, c->text_length))
			return false;
	} else if ((size_t)(end - *p) < c->text_length || memcmp(*p, c->text, c->text_length) != 0) {
		return false;
	}
	if (!c->drop && refs_push(&b->names, c->name_ref) < 0)
		return false;
	*p += c->text_length;
	f->child = c;
	f->predict = &c->next;
	d->scan.scanned = 0;	/* it may have come in two pieces */
	return true;
}

/* A container whose whole text was met here before passes by one comparison, too. False: it is to be read. */
static inline bool
take_known_text(struct body *b, struct path_node *node, const char **p, const char *end, int *ret_result)
{
	struct text_memo_place *place = node->texts ? text_memo_find(node->texts, *p, end) : NULL;

	if (!place)
		return false;
	*ret_result = body_shared(b, node, place);
	*p += place->length;
	return true;
}

/* The container of frame f, which ends before p, became a block that was there already. (Duplicate keys want to be counted each time.) */
static void
remember_text(struct decoder *d, const struct body_frame *f, const char *p)
{
	uint64_t end = d->offset + (uint64_t)(p - d->buffer);

	if (f->text_start >= d->offset && d->body.duplicate_keys == 0)
		schema_remember_text(d->schema, f->node, p - (end - f->text_start), (size_t)(end - f->text_start), d->body.known_ref);
}

/*
 * The body, from d->state on, until it is whole, or a part of it is to be skipped.
 * Each label is a json_state; where bytes run out, the state and the token's beginning are what is kept.
 */
static int
run_body(struct decoder *d, const char **pp, const char *end, bool final)
{
	struct body *b = &d->body;
	struct body_frame *f = &b->frames[b->depth - 1];
	const char *p = *pp;
	int r;

	switch (d->state) {
	case JSON_FIRST_NAME:
		goto first_name;
	case JSON_NAME:
		goto name;
	case JSON_COLON:
		goto colon;
	case JSON_FIRST_ELEMENT:
		goto first_element;
	case JSON_VALUE:
		goto value;
	default:
		goto next;
	}

first_name:
	d->state = JSON_FIRST_NAME;
	if (take_expected_name(d, b, f, &p, end))
		goto named;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (*p == '}')
		goto close;
	r = take_name(d, &p, end);
	if (r != GO_ON || d->skipping)
		goto leave;
	goto colon;

name:
	d->state = JSON_NAME;
	if (take_expected_name(d, b, f, &p, end))
		goto named;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	r = take_name(d, &p, end);
	if (r != GO_ON || d->skipping)
		goto leave;

colon:
	d->state = JSON_COLON;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (*p != ':') {
		r = fail(d, p, "a colon is expected here");
		goto leave;
	}
	p++;

named:
	if (f->child->drop) {
		json_skip_begin(&d->skip);
		d->skipping = true;
		d->skipping_kind = f->child->role == ROLE_KIND;
		if (d->skipping_kind)
			d->kind.length = 0;
		d->state = JSON_NEXT;
		r = GO_ON;
		goto leave;
	}
	if (f->child->role != ROLE_NONE)
		key_begins(d, f->child);

value:
	d->state = JSON_VALUE;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (!f->object && f->child->drop) {
		json_skip_begin(&d->skip);
		d->skipping = true;
		d->state = JSON_NEXT;
		r = GO_ON;
		goto leave;
	}
	if (*p == '{' || *p == '[') {
		if (take_known_text(b, f->child, &p, end, &r)) {
			if (r < 0)
				goto leave;
			goto next;
		}
		if (b->depth == VALUE_DEPTH_MAX) {
			r = give_up_item(d, p, "nested deeper than 128 levels");
			goto leave;
		}
		r = body_open(b, f->child, *p == '{');
		if (r < 0)
			goto leave;
		f = &b->frames[b->depth - 1];
		f->text_start = d->offset + (uint64_t)(p - d->buffer);
		if (*p++ == '{')
			goto first_name;
		goto first_element;
	}
	r = take_scalar(d, f->child, &p, end, final);
	if (r != GO_ON || d->skipping)
		goto leave;

next:
	d->state = JSON_NEXT;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (*p == ',') {
		p++;
		if (f->object)
			goto name;
		goto value;
	}
	if (*p == (f->object ? '}' : ']'))
		goto close;
	r = fail(d, p, f->object ? "a comma or } is expected here" : "a comma or ] is expected here");
	goto leave;

first_element:
	d->state = JSON_FIRST_ELEMENT;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (*p != ']')
		goto value;

close:
	r = body_close(b);
	if (r < 0) {
		r = build_failed(d, p, r);
		goto leave;
	}
	p++;
	if (b->depth > 0) {
		if (b->known_ref)
			remember_text(d, f, p);
		f = &b->frames[b->depth - 1];
		goto next;
	}
	d->state = JSON_NEXT;
	r = item_end(d, p);
	goto leave;

more:
	r = NEED_MORE;
leave:
	*pp = p;
	return r;
}

/* ---- envelope ---- */

static int
begin_skip(struct decoder *d)
{
	json_skip_begin(&d->skip);
	d->skipping = true;
	d->state = JSON_NEXT;
	return GO_ON;
}

static int
envelope_item(struct decoder *d, const char **p, const char *end, bool final)
{
	bool container = **p == '{' || **p == '[';
	int r;

	if (!d->in_item) {
		r = item_begin(d, *p);
		if (r < 0)
			return r;
	}
	if (d->mode != DECODE_DOCUMENT && **p != '{') {
		d->state = JSON_VALUE;
		return give_up_item(d, *p, "it is not a JSON object");
	}
	if (container) {
		r = body_open(&d->body, d->root, **p == '{');
		if (r < 0)
			return r;
		d->state = **p == '{' ? JSON_FIRST_NAME : JSON_FIRST_ELEMENT;
		(*p)++;
		return GO_ON;
	}
	r = take_scalar(d, d->root, p, end, final);
	if (r != GO_ON)
		return r;
	d->state = JSON_NEXT;
	return item_end(d, *p);
}

/* A string or null that the caller is told about. */
static int
capture_string(struct decoder *d, const char **p, const char *end, struct bytes *to, const char *why)
{
	enum json_scan_result scanned;
	const char *text, *next;
	size_t length;

	to->length = 0;
	if (**p == 'n')
		return begin_skip(d);
	if (**p != '"')
		return fail(d, *p, why);
	scanned = json_scan_string(&d->scan, *p + 1, end);
	if (scanned == JSON_SCAN_MORE)
		return NEED_MORE;
	if (scanned == JSON_SCAN_BAD)
		return fail(d, *p + 1 + d->scan.scanned, d->scan.why);
	next = *p + d->scan.scanned + 2;
	if (plain_text(d, *p + 1, &text, &length) < 0 || bytes_append(to, text, length) < 0)
		return -ENOMEM;
	if (memchr(text, '\0', length))
		return fail(d, *p, why);
	*p = next;
	d->state = JSON_NEXT;
	return GO_ON;
}

static int
capture_remaining(struct decoder *d, const char **p, const char *end)
{
	enum json_scan_result scanned;
	int64_t n = 0;

	d->remaining = 0;
	if (**p == 'n')
		return begin_skip(d);
	if (**p != '-' && (**p < '0' || **p > '9'))
		return fail(d, *p, "metadata.remainingItemCount is not a number");
	scanned = json_scan_number(&d->scan, *p, end);
	if (scanned == JSON_SCAN_MORE)
		return NEED_MORE;
	if (scanned == JSON_SCAN_BAD)
		return fail(d, *p + d->scan.scanned, d->scan.why);
	for (size_t i = 0; i < d->scan.scanned && d->scan.integer && **p != '-'; i++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (*p)[i] - '0', &n))
			n = 0;
	d->remaining = n;
	*p += d->scan.scanned;
	memset(&d->scan, 0, sizeof(d->scan));
	d->state = JSON_NEXT;
	return GO_ON;
}

static int
enter(struct decoder *d, const char **p, enum place place, enum json_state state)
{
	(*p)++;
	d->place = place;
	d->state = state;
	return GO_ON;
}

static int
envelope_value(struct decoder *d, const char **p, const char *end, bool final)
{
	switch (d->target) {
	case TARGET_NOTHING:
		return begin_skip(d);
	case TARGET_ITEM:
		return envelope_item(d, p, end, final);
	case TARGET_DOCUMENT:
		if (**p != '{')
			return fail(d, *p, d->mode == DECODE_LIST ? "a list is a JSON object" : "a watch event is a JSON object");
		return enter(d, p, d->mode == DECODE_LIST ? IN_LIST : IN_EVENT, JSON_FIRST_NAME);
	case TARGET_ITEMS:
		d->has_items = true;
		if (**p == 'n')
			return begin_skip(d);
		if (**p != '[')
			return fail(d, *p, "items is not an array");
		return enter(d, p, IN_ITEMS, JSON_FIRST_ELEMENT);
	case TARGET_METADATA:
		if (**p == 'n')
			return begin_skip(d);
		if (**p != '{')
			return fail(d, *p, "the list's metadata is not an object");
		return enter(d, p, IN_LIST_METADATA, JSON_FIRST_NAME);
	case TARGET_KIND:
		return capture_string(d, p, end, &d->list_kind, "the list's kind is not a string");
	case TARGET_TYPE:
		return capture_string(d, p, end, &d->type, "type is not a string");
	case TARGET_VERSION:
		return capture_string(d, p, end, &d->version, "metadata.resourceVersion is not a string");
	case TARGET_CONTINUE:
		return capture_string(d, p, end, &d->continue_token, "metadata.continue is not a string");
	case TARGET_REMAINING:
		return capture_remaining(d, p, end);
	}
	return -EINVAL;
}

/* What the field of this name is, where we are. */
static enum target
target_of(enum place place, const char *name, size_t length)
{
	static const struct {
		enum place place;
		enum target target;
		const char *name;
	} known[] = {
		{IN_LIST, TARGET_ITEMS, "items"},
		{IN_LIST, TARGET_METADATA, "metadata"},
		{IN_LIST, TARGET_KIND, "kind"},
		{IN_LIST_METADATA, TARGET_VERSION, "resourceVersion"},
		{IN_LIST_METADATA, TARGET_CONTINUE, "continue"},
		{IN_LIST_METADATA, TARGET_REMAINING, "remainingItemCount"},
		{IN_EVENT, TARGET_TYPE, "type"},
		{IN_EVENT, TARGET_ITEM, "object"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (place == known[i].place && strlen(known[i].name) == length && memcmp(known[i].name, name, length) == 0)
			return known[i].target;
	return TARGET_NOTHING;
}

static int
envelope_name(struct decoder *d, const char **p, const char *end)
{
	enum json_scan_result scanned;
	const char *text, *next;
	size_t length;

	if (**p != '"')
		return fail(d, *p, "a field name in quotes is expected here");
	scanned = json_scan_string(&d->scan, *p + 1, end);
	if (scanned == JSON_SCAN_MORE)
		return NEED_MORE;
	if (scanned == JSON_SCAN_BAD)
		return fail(d, *p + 1 + d->scan.scanned, d->scan.why);
	next = *p + d->scan.scanned + 2;
	if (plain_text(d, *p + 1, &text, &length) < 0)
		return -ENOMEM;
	d->target = target_of(d->place, text, length);
	*p = next;
	d->state = JSON_COLON;
	return GO_ON;
}

/* The end of an array or object of the envelope. */
static int
envelope_close(struct decoder *d, const char **p)
{
	(*p)++;
	d->state = JSON_NEXT;
	if (d->place != IN_ITEMS && d->place != IN_LIST_METADATA)
		return document_end(d, *p);
	d->place = IN_LIST;
	return GO_ON;
}

static int
run_envelope(struct decoder *d, const char **p, const char *end, bool final)
{
	bool array = d->place == IN_ITEMS;

	if (d->place == BETWEEN_DOCUMENTS && d->state == JSON_NEXT) {
		/* a single scalar or container has been read, or a document has ended */
		d->state = JSON_VALUE;
		if (d->mode == DECODE_DOCUMENT) {
			d->documents++;
			d->stats.documents++;
		}
	}
	*p = json_space_end(*p, end);
	if (*p == end)
		return NEED_MORE;
	if (d->place == BETWEEN_DOCUMENTS && !d->in_item) {
		if (d->mode != DECODE_WATCH && d->documents > 0)
			return fail(d, *p, "something follows the document");
		d->target = d->mode == DECODE_DOCUMENT ? TARGET_ITEM : TARGET_DOCUMENT;
	}
	switch (d->state) {
	case JSON_FIRST_NAME:
		return **p == '}' ? envelope_close(d, p) : envelope_name(d, p, end);
	case JSON_NAME:
		return envelope_name(d, p, end);
	case JSON_COLON:
		if (**p != ':')
			return fail(d, *p, "a colon is expected here");
		(*p)++;
		d->state = JSON_VALUE;
		return GO_ON;
	case JSON_FIRST_ELEMENT:
		if (**p == ']')
			return envelope_close(d, p);
		d->target = TARGET_ITEM;
		return envelope_value(d, p, end, final);
	case JSON_VALUE:
		return envelope_value(d, p, end, final);
	default:
		break;
	}
	if (**p == ',') {
		(*p)++;
		d->state = array ? JSON_VALUE : JSON_NAME;
		d->target = TARGET_ITEM;
		return GO_ON;
	}
	if (**p == (array ? ']' : '}'))
		return envelope_close(d, p);
	return fail(d, *p, array ? "a comma or ] is expected here" : "a comma or } is expected here");
}

/* ---- taking turns ---- */

static int
run_skip(struct decoder *d, const char **p, const char *end, bool final)
{
	const char *from = *p;
	int r = json_skip_run(&d->skip, p, end, final);

	if (r == -EBADMSG)
		return fail(d, *p, d->skip.why);
	if (d->skipping_kind && r >= 0 && d->kind.length < KIND_TEXT_MAX) {
		size_t passed = (size_t)(*p - from), room = KIND_TEXT_MAX - d->kind.length;

		if (bytes_append(&d->kind, from, passed < room ? passed : room) < 0)
			return -ENOMEM;
	}
	if (r <= 0)
		return r;
	d->skipping = false;
	d->skipping_kind = false;
	if (!d->skipping_item)
		return GO_ON;
	d->skipping_item = false;
	d->state = JSON_NEXT;
	return item_end(d, *p);
}

static int
run(struct decoder *d, const char *bytes, size_t length, bool final, size_t *ret_used)
{
	const char *p = bytes, *end = bytes + length;
	char why[64];
	int r;

	d->buffer = bytes;
	do {
		if (d->skipping)
			r = run_skip(d, &p, end, final);
		else if (d->body.depth > 0)
			r = run_body(d, &p, end, final);
		else
			r = run_envelope(d, &p, end, final);
		/* (what is skipped takes no memory; afterwards the item's length is compared again) */
		if (r == NEED_MORE && d->in_item && !d->skipping &&
		    d->offset + (uint64_t)(end - bytes) - d->item_start > d->max_bytes)
			r = give_up_item(d, p, too_long(d, why));
	} while (r == GO_ON);
	*ret_used = (size_t)(p - bytes);
	d->offset += *ret_used;
	d->buffer = p;
	return r == STOPPED ? d->callback_result : r;
}

int
decoder_feed(struct decoder *d, const char *bytes, size_t length)
{
	size_t used, carried, step;
	int r;

	d->stats.bytes += length;
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
	int r = run(d, d->carry.data ? (const char *)d->carry.data : "", d->carry.length, true, &used);

	if (r != 0)
		return r;
	if (used < d->carry.length || d->place != BETWEEN_DOCUMENTS || d->in_item) {
		d->offset += d->carry.length - used;
		return fail(d, d->buffer, "it ends in the middle of a document");
	}
	d->carry.length = 0;
	if (d->mode != DECODE_WATCH && d->documents == 0)
		return fail(d, d->buffer, "there is no document");
	if (d->mode != DECODE_DOCUMENT || !d->has_draft)
		return 0;
	r = hand_over(d, "", 0);
	return r == STOPPED ? d->callback_result : r == GO_ON ? 0 : r;
}

/* ---- making ---- */

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
	d->max_bytes = max_bytes == 0 ? ITEM_BYTES_DEFAULT : max_bytes < BLOCK_LENGTH_MAX ? max_bytes : BLOCK_LENGTH_MAX;
	body_init(&d->body, arena, in, schema);
	decoder_reset(d);
	return d;
}

void
decoder_reset(struct decoder *d)
{
	if (d->in_item)
		schema_item_end(d->schema);
	d->in_item = false;
	body_clear(&d->body);
	d->body.duplicate_keys = 0;
	drop_draft(d);
	d->place = BETWEEN_DOCUMENTS;
	d->state = JSON_VALUE;
	d->target = TARGET_NOTHING;
	d->skipping = false;
	d->skipping_item = false;
	d->skipping_kind = false;
	memset(&d->scan, 0, sizeof(d->scan));
	d->offset = 0;
	d->buffer = NULL;
	bytes_clear(&d->carry);
	bytes_clear(&d->text);
	bytes_clear(&d->type);
	bytes_clear(&d->kind);
	bytes_clear(&d->list_kind);
	bytes_clear(&d->version);
	bytes_clear(&d->continue_token);
	d->remaining = 0;
	d->has_items = false;
	d->documents = 0;
	d->error[0] = '\0';
	d->error_offset = 0;
}

void
decoder_free(struct decoder *d)
{
	if (!d)
		return;
	decoder_reset(d);
	body_done(&d->body);
	json_skip_done(&d->skip);
	bytes_done(&d->carry);
	bytes_done(&d->text);
	bytes_done(&d->type);
	bytes_done(&d->kind);
	bytes_done(&d->list_kind);
	bytes_done(&d->version);
	bytes_done(&d->continue_token);
	decoder_schema_free(d->own_schema);
	free(d);
}

const char *
decoder_error(const struct decoder *d, uint64_t *ret_offset)
{
	if (ret_offset)
		*ret_offset = d->error_offset;
	return d->error;
}

void
decoder_expect_kind(struct decoder *d, const char *kind)
{
	d->expected_kind = kind;
}

const char *
decoder_list_kind(const struct decoder *d, size_t *ret_length, bool *ret_has_items)
{
	*ret_length = d->list_kind.length;
	*ret_has_items = d->has_items;
	return d->list_kind.data ? (const char *)d->list_kind.data : "";
}

void
decoder_stats(const struct decoder *d, struct decoder_stats *ret)
{
	*ret = d->stats;
}

void
draft_discard(struct arena *arena, struct intern *in, struct draft draft)
{
	const struct block *b = arena_block(arena, draft.ref);
	const struct object *o = arena_payload(arena, draft.ref);

	intern_release_value(in, b->payload + o->body_offset, b->payload + block_length(b));
	arena_free(arena, draft.ref);
}
