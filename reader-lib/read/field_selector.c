/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field selectors: parsed once into paths and the values to compare with.
 */
#include "reader-lib/read/field_selector.h"

#include <string.h>

#include "reader-lib/read/found_object.h"
#include "shm-layout/path.h"

#define TEXT_MAX 65536u

struct requirement {
	struct path path;
	bool differs;		/* != */
	const char *value;
	size_t length;
};

/* One piece of memory: this, then the values that the requirements point to. */
struct informer_field_selector {
	struct allocator memory;
	uint32_t count;
	struct requirement requirements[];
};

struct parser {
	const char *text;
	size_t length;
	size_t at;
	const char *why;
	char *values;		/* where the next one goes */
};

static int
fail(struct parser *p, const char *why)
{
	p->why = why;
	return INFORMER_E_SYNTAX;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void
skip_blanks(struct parser *p)
{
	while (p->at < p->length && is_blank(p->text[p->at]))
		p->at++;
}

/*
 * Skip from the quote of ["..."] past the closing quote. If there is none, skip to the end:
 * path_compile() reports it.
 */
static void
skip_quoted(struct parser *p)
{
	char quote = p->text[p->at++];

	while (p->at < p->length && p->text[p->at] != quote)
		p->at += p->text[p->at] == '\\' ? 2 : 1;
	p->at = p->at < p->length ? p->at + 1 : p->length;
}

/* Parse the path, up to the operator. */
static int
parse_path(struct parser *p, struct requirement *req)
{
	size_t start = p->at, end, offset = 0;
	const char *why = "";

	while (p->at < p->length && p->text[p->at] != '=' && p->text[p->at] != '!' && p->text[p->at] != ',') {
		bool bracket = p->text[p->at] == '[';

		p->at += p->text[p->at] == '\\' && p->at + 1 < p->length ? 2 : 1;
		if (bracket && p->at < p->length && (p->text[p->at] == '"' || p->text[p->at] == '\''))
			skip_quoted(p);
	}
	for (end = p->at; end > start && is_blank(p->text[end - 1]); end--)
		;
	if (end == start)
		return fail(p, "expected a path");
	if (path_compile(&req->path, p->text + start, end - start, &offset, &why) < 0) {
		p->at = start + offset;
		return fail(p, why);
	}
	if (p->at < p->length && p->text[p->at] == '!') {
		req->differs = true;
		p->at++;
	}
	if (p->at == p->length || p->text[p->at] != '=')
		return fail(p,
			    req->differs ? "expected '=' after '!'" : "expected =, == or != after the path");
	p->at++;
	if (!req->differs && p->at < p->length && p->text[p->at] == '=')
		p->at++;
	return 0;
}

static int
parse_value(struct parser *p, struct requirement *req)
{
	char *to = p->values;

	for (; p->at < p->length && p->text[p->at] != ','; p->at++) {
		char c = p->text[p->at];

		if (c == '=')
			return fail(p, "an '=' in a value is written \\=");
		if (c == '\\') {
			c = p->at + 1 < p->length ? p->text[p->at + 1] : '\0';
			if (c != ',' && c != '=' && c != '\\')
				return fail(p, "a backslash stands before ',', '=' or another one only; by "
					       "itself it is written \\\\");
			p->at++;
		}
		*to++ = c;
	}
	req->value = p->values;
	req->length = (size_t)(to - p->values);
	p->values = to;
	return 0;
}

static int
parse(struct parser *p, struct informer_field_selector *sel, size_t room)
{
	int r;

	for (;;) {
		skip_blanks(p);
		if (p->at < p->length && p->text[p->at] != ',') {
			if (sel->count == room)
				return fail(p, "more than 64 requirements");
			r = parse_path(p, &sel->requirements[sel->count]);
			if (r == 0)
				r = parse_value(p, &sel->requirements[sel->count]);
			if (r < 0)
				return r;
			sel->count++;
		}
		if (p->at == p->length)
			return 0;
		p->at++;
	}
}

int
informer_field_selector_compile(struct informer *inf, const char *text, size_t length,
				struct informer_field_selector **ret)
{
	struct parser p = {.text = text ? text : "", .length = length};
	struct informer_field_selector *sel;
	size_t room = 1;
	int r;

	if (!inf || (!text && length) || !ret)
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	if (length > TEXT_MAX)
		return error_set(INFORMER_E_SYNTAX, "the field selector has %zu bytes, more than %u", length,
				 TEXT_MAX);
	for (size_t i = 0; i < length && room < FIELD_SELECTOR_MAX; i++)
		room += text[i] == ',';
	sel = memory_get(inf, sizeof(*sel) + room * sizeof(sel->requirements[0]) + length + 1);
	if (!sel)
		return -ENOMEM;
	sel->memory = inf->memory;
	p.values = (char *)&sel->requirements[room];
	r = parse(&p, sel, room);
	if (r < 0) {
		error_set(r, "field selector '%.*s', at byte %zu: %s", (int)(length < 200 ? length : 200),
			  p.text, p.at, p.why);
		informer_field_selector_free(sel);
		return r;
	}
	*ret = sel;
	return 0;
}

void
informer_field_selector_free(struct informer_field_selector *selector)
{
	if (selector)
		allocator_put(&selector->memory, selector);
}

/* The rest of the expected text. */
struct expected {
	const char *data;
	size_t length;
};

static int
compare_piece(const char *data, size_t length, void *context)
{
	struct expected *e = context;

	if (length > e->length || memcmp(data, e->data, length) != 0)
		return 1;
	e->data += length;
	e->length -= length;
	return 0;
}

/* Whether a value equals the requirement's: 1, 0 or -EBADMSG. */
static int
equals(const struct requirement *req, struct value v)
{
	struct expected e = {req->value, req->length};
	const char *data;
	size_t length;
	int r;

	switch (value_kind(v)) {
	case VALUE_NONE:
	case VALUE_NULL:
		return req->length == 0;
	case VALUE_STRING:
		if (!value_string(v, &data, &length))
			return -EBADMSG;
		return length == req->length && memcmp(data, req->value, length) == 0;
	case VALUE_ARRAY:
	case VALUE_OBJECT:
		return 0;
	default:
		r = value_to_json(v, compare_piece, &e);
		return r < 0 ? r : r == 0 && e.length == 0;
	}
}

struct search {
	const struct requirement *req;
	bool any;
};

/* Ends the search at the first equal hit. */
static int
look_at_hit(struct value hit, void *context)
{
	struct search *search = context;

	search->any = true;
	return equals(search->req, hit);
}

int
field_selector_match(const struct informer_field_selector *selector, struct value body)
{
	if (!body.at)
		return -EBADMSG;
	for (uint32_t i = 0; i < selector->count; i++) {
		struct search search = {.req = &selector->requirements[i]};
		int r = path_each(&search.req->path, body, look_at_hit, &search);

		if (r == 0 && !search.any)
			r = search.req->length == 0;
		if (r < 0)
			return r;
		if ((r > 0) == search.req->differs)
			return 0;
	}
	return 1;
}

int
informer_field_selector_matches(const struct informer_field_selector *selector,
				const struct informer_object *object)
{
	const struct snapshot *s;
	int r = object_usable(object);

	if (r < 0)
		return r;
	if (!selector)
		return -EINVAL;
	if (object_is_key_only(object))
		return INFORMER_E_NOT_FOUND;
	s = snapshot_of(object->snapshot_);
	return snapshot_validate(s, field_selector_match(selector, value_of_object(&s->view, object->ref_)));
}
