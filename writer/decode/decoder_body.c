/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an item's text, token by token. A list spends most of its time here, so everything called per token
 * is in this file or inline.
 */
#include "writer/decode/decoder_body.h"

#include "shm-layout/value.h"
#include "writer/decode/body_build.h"
#include "writer/decode/body_scalar.h"
#include "writer/decode/body_build_shape.h"
#include "writer/decode/decoder_internal.h"
#include "writer/decode/decoder_schema.h"
#include "writer/decode/json_plain.h"

/* ---- tokens ---- */

/* Take a value whose whole text occurred at this path before, by one comparison. False: read the value. */
static inline bool
take_known_text(struct body *b, const struct path_node *node, struct sharing *sharing, const char **p,
		const char *end, int *ret_result)
{
	struct text_memo_place *place = node->texts ? text_memo_find(node->texts, *p, end) : NULL;

	if (!place)
		return false;
	*ret_result = body_shared(b, sharing, place);
	*p += place->length;
	return true;
}

/* Read a string; *p is at its quote. */
static int
take_string(struct decoder *d, struct path_node *node, const char **p, const char *end)
{
	bool keyed = role_is_string(node->role);
	const char *text, *next;
	size_t length;
	int r;

	if (!keyed && take_known_text(&d->body, node, &node->strings, p, end, &r)) {
		memset(&d->scan, 0, sizeof(d->scan));
		return r < 0 ? r : GO_ON;
	}
	r = decoder_string(d, *p, end, &text, &length, &next);
	if (r != GO_ON)
		return r;
	d->body.known_ref = 0;
	if (keyed && d->mode != DECODE_DOCUMENT)
		r = item_role_string(d, node, text, length);
	else
		r = body_string(&d->body, node, text, length);
	if (r < 0)
		return item_build_failed(d, *p, r);
	/* a text with escapes costs more to read than to compare */
	if (text != *p + 1 && !keyed && d->body.known_ref)
		schema_remember_text(d->schema, node, *p, (size_t)(next - *p), d->body.known_ref);
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
		return decoder_fail(d, *p + length, d->scan.why);
	memset(&d->scan, 0, sizeof(d->scan));
	r = body_number(&d->body, *p, length, integer);
	if (r < 0)
		return item_build_failed(d, *p, r);
	*p += length;
	return GO_ON;
}

static int
take_literal(struct decoder *d, struct path_node *node, const char **p, const char *end, const char *word,
	     enum value_tag tag)
{
	const char *next = *p;
	int r = json_literal(&next, end, word, strlen(word));

	if (r < 0)
		return decoder_fail(d, next, "a value is expected here");
	if (r == 0)
		return NEED_MORE;
	if (tag == TAG_NULL && node->role == ROLE_STRING + OBJECT_NAMESPACE)
		d->item.strings[OBJECT_NAMESPACE].state = STRING_ABSENT;
	r = body_tag(&d->body, tag);
	if (r < 0)
		return r;
	*p = next;
	return GO_ON;
}

/* Read a value that is no container; *p is at its first character. */
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
		return decoder_fail(d, *p, "a value is expected here");
	}
}

/* Read a name that take_expected_name() did not take. */
static int
take_name(struct decoder *d, const char **p, const char *end)
{
	const char *text, *next;
	size_t length;
	int r;

	if (**p != '"')
		return decoder_fail(d, *p, "a field name in quotes is expected here");
	r = decoder_string(d, *p, end, &text, &length, &next);
	if (r != GO_ON)
		return r;
	r = body_name(&d->body, text, length);
	if (r < 0)
		return item_build_failed(d, *p, r);
	*p = next;
	return GO_ON;
}

/* Take the name that came here last time, with its colon, by one comparison. */
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
	d->scan.scanned = 0;	/* the name may have come in two pieces */
	return true;
}

/* Remember the text of f's container, which ends before p and became an existing block. */
static void
remember_text(struct decoder *d, const struct body_frame *f, const char *p)
{
	uint64_t end = decoder_offset(d, p);

	if (f->text_start >= d->offset)
		schema_remember_text(d->schema, f->node, p - (end - f->text_start),
				     (size_t)(end - f->text_start), d->body.known_ref);
}

/*
 * Copy the spec of the known object, if that was read from the same text. *p is behind the colon.
 * Returns 1: taken; 0: the text differs or is incomplete, read the spec; -ENOMEM
 */
static int
take_repeated(struct decoder *d, const struct path_node *spec, const char **p, const char *end)
{
	const char *from = json_space_end(*p, end), *to = from;
	uint32_t known = from < end && *from == '{' ? item_known(d) : 0;
	struct json_skip whole = {0};
	int r;

	if (!known)
		return 0;
	json_skip_begin(&whole);
	r = json_skip_run(&whole, &to, end, false);
	json_skip_done(&whole);
	if (r == 1)
		r = item_repeat(d, spec, known, from, (size_t)(to - from));
	else
		r = r == -ENOMEM ? r : 0;
	if (r > 0)
		*p = to;
	return r;
}

/* ---- the parser ---- */

int
decoder_body_begin(struct decoder *d, const char **p, const char *end, bool final)
{
	bool container = **p == '{' || **p == '[';
	int r;

	if (!d->item.open) {
		r = item_begin(d, *p);
		if (r < 0)
			return r;
	}
	if (d->mode != DECODE_DOCUMENT && **p != '{') {
		d->state = JSON_VALUE;
		return item_give_up(d, *p, "it is not a JSON object");
	}
	if (container) {
		r = body_open(&d->body, d->item.root, **p == '{');
		if (r < 0)
			return r;
		d->state = **p == '{' ? JSON_FIRST_NAME : JSON_FIRST_ELEMENT;
		(*p)++;
		return GO_ON;
	}
	r = take_scalar(d, d->item.root, p, end, final);
	if (r != GO_ON)
		return r;
	d->state = JSON_NEXT;
	return item_end(d, *p);
}

/* Each label is a json_state. When the bytes run out, d->state and the token's beginning, *pp, are kept. */
int
decoder_body_run(struct decoder *d, const char **pp, const char *end, bool final)
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
		r = decoder_fail(d, p, "a colon is expected here");
		goto leave;
	}
	p++;

named:
	if (f->child->drop) {
		json_skip_begin(&d->skip);
		d->skipping = true;
		if (f->child->role != ROLE_NONE)
			d->skipping_to = item_type_begins(d, f->child);
		d->state = JSON_NEXT;
		r = GO_ON;
		goto leave;
	}
	if (f->child->role != ROLE_NONE) {
		item_role_begins(d, f->child);
		r = f->child->role == ROLE_SPEC ? take_repeated(d, f->child, &p, end) : 0;
		if (r < 0)
			goto leave;
		if (r > 0)
			goto next;
	}

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
		if (take_known_text(b, f->child, &f->child->containers, &p, end, &r)) {
			if (r < 0)
				goto leave;
			goto next;
		}
		if (b->depth == VALUE_DEPTH_MAX) {
			r = item_give_up(d, p, "nested deeper than 128 levels");
			goto leave;
		}
		r = body_open(b, f->child, *p == '{');
		if (r < 0)
			goto leave;
		f = &b->frames[b->depth - 1];
		f->text_start = decoder_offset(d, p);
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
	r = decoder_fail(d, p, f->object ? "a comma or } is expected here" : "a comma or ] is expected here");
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
		r = item_build_failed(d, p, r);
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
