/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label selectors, in the API's own syntax (apimachinery, labels.Parse):
 *
 *	selector     requirement { "," requirement }
 *	requirement  key | "!" key | key ("=" | "==" | "!=") value | key (">" | "<") integer
 *	             | key ("in" | "notin") "(" value { "," value } ")"
 *
 * != and notin also match objects that lack the key. > and < match only values that are integers, and take
 * only an integer that could be a label's value: -5 could not.
 */
#include "reader-lib/read/label_selector.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/read/found_object.h"
#include "shm-layout/path.h"

#define REQUIREMENTS_MAX 64u
#define VALUES_MAX 256u
#define TEXT_MAX 65536u

enum operator { OP_EXISTS, OP_ABSENT, OP_IN, OP_NOT_IN, OP_ABOVE, OP_BELOW };

struct text {
	const char *data;
	size_t length;
};

/*
 * values        of IN and NOT_IN
 * bound         of ABOVE and BELOW
 * equality      when IN has one value: "key=value", as in the label index; else NULL
 */
struct requirement {
	enum operator op;
	struct text key;
	uint8_t fingerprint;
	uint32_t first_value;
	uint32_t value_count;
	int64_t bound;
	struct text equality;
};

/* One piece of memory: this, the text it points into, and the equalities. */
struct informer_label_selector {
	struct allocator memory;
	uint32_t count;
	uint32_t value_count;
	struct requirement requirements[REQUIREMENTS_MAX];
	struct text values[VALUES_MAX];
	size_t text_used;
	char text[];
};

struct parser {
	struct informer_label_selector *sel;
	const char *text;
	size_t length;
	size_t at;
	const char *why;
};

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_' || c == '.' || c == '/';
}

static bool
is_alnum(char c)
{
	return is_word(c) && c != '-' && c != '_' && c != '.' && c != '/';
}

/* Skip blanks. Whether this text comes next. */
static bool
is_next(struct parser *p, const char *text)
{
	size_t length = strlen(text);

	while (p->at < p->length && p->text[p->at] && strchr(" \t\n\r", p->text[p->at]))
		p->at++;
	return p->length - p->at >= length && memcmp(p->text + p->at, text, length) == 0;
}

/* As is_next(); if so, skip the text. */
static bool
accept(struct parser *p, const char *text)
{
	bool is = is_next(p, text);

	p->at += is ? strlen(text) : 0;
	return is;
}

static bool
at_end(struct parser *p)
{
	return is_next(p, "") && p->at == p->length;
}

/* Skip blanks. The word that comes next; length 0: none. */
static struct text
next_word(struct parser *p)
{
	size_t end = at_end(p) ? p->length : p->at;

	while (end < p->length && is_word(p->text[end]))
		end++;
	return (struct text){p->text + p->at, end - p->at};
}

static int
fail(struct parser *p, const char *why)
{
	bool known = at_end(p) || is_word(p->text[p->at]) ||
		     (p->text[p->at] && strchr(",()><=!", p->text[p->at]));

	p->why = known ? why : "a character that has no place in a selector";
	return INFORMER_E_SYNTAX;
}

static bool
is_name(struct text t)
{
	if (t.length == 0 || t.length > 63 || !is_alnum(t.data[0]) || !is_alnum(t.data[t.length - 1]))
		return false;
	return !memchr(t.data, '/', t.length);
}

/* [prefix/]name; the prefix is a DNS subdomain. */
static bool
is_key(struct text t)
{
	const char *slash = t.length ? memchr(t.data, '/', t.length) : NULL;
	size_t prefix = slash ? (size_t)(slash - t.data) : 0;
	char before = '.';

	if (!slash)
		return is_name(t);
	if (prefix == 0 || prefix > 253)
		return false;
	for (size_t i = 0; i < prefix; i++) {
		char c = t.data[i];

		if (c == '_' || (c >= 'A' && c <= 'Z') ||
		    ((c == '.' || c == '-') && (before == '.' || (c == '.' && before == '-'))))
			return false;
		before = c;
	}
	return before != '.' && before != '-' && is_name((struct text){slash + 1, t.length - prefix - 1});
}

static bool
same_text(struct text a, struct text b)
{
	return a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
}

static bool
parse_integer(struct text t, int64_t *ret)
{
	char digits[64], *end;

	if (t.length == 0 || t.length >= sizeof(digits) || !(is_alnum(t.data[0]) || t.data[0] == '-'))
		return false;
	memcpy(digits, t.data, t.length);
	digits[t.length] = '\0';
	errno = 0;
	*ret = strtoll(digits, &end, 10);
	return *end == '\0' && errno == 0;
}

/* A value: a word, or empty. */
static int
parse_value(struct parser *p, struct requirement *req)
{
	struct informer_label_selector *sel = p->sel;
	struct text value = next_word(p);

	if (sel->value_count == VALUES_MAX)
		return fail(p, "more than 256 values");
	if (value.length > 0 && !is_name(value))
		return fail(p, "no label value: at most 63 letters, digits, '-', '_', '.', beginning "
			       "and ending with a "
			       "letter or digit");
	p->at += value.length;
	sel->values[sel->value_count++] = value;
	req->value_count++;
	return 0;
}

static int
parse_set(struct parser *p, struct requirement *req)
{
	int r;

	if (!accept(p, "("))
		return fail(p, "expected '(' after in or notin");
	do
		r = parse_value(p, req);
	while (r == 0 && accept(p, ","));
	if (r == 0 && !accept(p, ")"))
		r = fail(p, "expected ',' or ')'");
	return r;
}

static int
parse_bound(struct parser *p, struct requirement *req)
{
	struct text bound = next_word(p);

	if (!parse_integer(bound, &req->bound))
		return fail(p, "expected an integer after '>' or '<'");
	if (!is_name(bound))
		return fail(p, "an integer that no label can have as its value: it begins with '-'");
	p->at += bound.length;
	return 0;
}

/* Set the value under which the label index has the requirement's objects. */
static void
note_equality(struct informer_label_selector *sel, struct requirement *req)
{
	struct text value = sel->values[req->first_value];
	char *text = sel->text + sel->text_used;

	memcpy(text, req->key.data, req->key.length);
	text[req->key.length] = '=';
	memcpy(text + req->key.length + 1, value.data, value.length);
	req->equality = (struct text){text, req->key.length + 1 + value.length};
	sel->text_used += req->equality.length;
}

/* Parse the operator and its operands. */
static int
parse_rest(struct parser *p, struct requirement *req)
{
	static const struct {
		const char *text;
		enum operator op;
		int (*parse)(struct parser *p, struct requirement *req);
	} operators[] = {
		{"==", OP_IN, parse_value},   {"=", OP_IN, parse_value},       {"!=", OP_NOT_IN, parse_value},
		{"in", OP_IN, parse_set},     {"notin", OP_NOT_IN, parse_set}, {">", OP_ABOVE, parse_bound},
		{"<", OP_BELOW, parse_bound},
	};
	struct text word = next_word(p);

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		struct text text = {operators[i].text, strlen(operators[i].text)};

		if (word.length > 0 ? !same_text(word, text) : !is_next(p, text.data))
			continue;
		p->at += text.length;
		req->op = operators[i].op;
		return operators[i].parse(p, req);
	}
	return fail(p, "expected =, ==, !=, in, notin, >, <, ',' or the end");
}

static int
parse_requirement(struct parser *p, struct requirement *req)
{
	bool absent = !is_next(p, "!=") && accept(p, "!");
	int r;

	req->key = next_word(p);
	if (req->key.length == 0)
		return fail(p, "expected a label key");
	if (!is_key(req->key))
		return fail(
			p, "no label key: [prefix/]name, the name at most 63 letters, digits, '-', '_', '.'");
	p->at += req->key.length;
	req->fingerprint = shape_fingerprint(req->key.data, req->key.length);
	req->first_value = p->sel->value_count;
	req->op = absent ? OP_ABSENT : OP_EXISTS;
	if (absent || at_end(p) || is_next(p, ","))
		return 0;
	r = parse_rest(p, req);
	if (r == 0 && req->op == OP_IN && req->value_count == 1)
		note_equality(p->sel, req);
	return r;
}

static int
parse(struct parser *p)
{
	int r;

	if (at_end(p))
		return 0;
	do {
		if (p->sel->count == REQUIREMENTS_MAX)
			return fail(p, "more than 64 requirements");
		r = parse_requirement(p, &p->sel->requirements[p->sel->count]);
		if (r < 0)
			return r;
		p->sel->count++;
	} while (accept(p, ","));
	return at_end(p) ? 0 : fail(p, "expected ',' or the end");
}

int
informer_label_selector_compile(struct informer *inf, const char *text, size_t length,
				struct informer_label_selector **ret_selector, size_t *ret_offset)
{
	struct parser p = {0};
	int r;

	if (!inf || (!text && length) || !ret_selector)
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	if (ret_offset)
		*ret_offset = 0;
	if (length > TEXT_MAX)
		return error_set(INFORMER_E_SYNTAX, "the selector has %zu bytes, more than %u", length,
				 TEXT_MAX);
	/* The text, then the equalities, which together are no longer than the text. */
	p.sel = memory_get(inf, sizeof(*p.sel) + 2 * length + 1);
	if (!p.sel)
		return -ENOMEM;
	p.sel->memory = inf->memory;
	if (length)
		memcpy(p.sel->text, text, length);
	p.sel->text_used = length;
	p.text = p.sel->text;
	p.length = length;
	r = parse(&p);
	if (r < 0) {
		error_set(r, "selector '%.*s', at byte %zu: %s", (int)(length < 200 ? length : 200), text,
			  p.at, p.why);
		if (ret_offset)
			*ret_offset = p.at;
		informer_label_selector_free(p.sel);
		return r;
	}
	*ret_selector = p.sel;
	return 0;
}

void
informer_label_selector_free(struct informer_label_selector *sel)
{
	if (sel)
		allocator_put(&sel->memory, sel);
}

bool
selector_equality(const struct informer_label_selector *sel, const char **ret_value, size_t *ret_length)
{
	for (uint32_t i = 0; i < sel->count; i++) {
		if (sel->requirements[i].equality.data) {
			*ret_value = sel->requirements[i].equality.data;
			*ret_length = sel->requirements[i].equality.length;
			return true;
		}
	}
	return false;
}

static bool
requirement_matches(const struct informer_label_selector *sel, const struct requirement *req,
		    struct value labels)
{
	struct value v = value_field(labels, req->key.data, req->key.length, req->fingerprint);
	struct text label;
	bool present = value_string(v, &label.data, &label.length);
	int64_t number;

	switch (req->op) {
	case OP_EXISTS:
		return present;
	case OP_ABSENT:
		return !present;
	case OP_IN:
	case OP_NOT_IN:
		for (uint32_t i = 0; present && i < req->value_count; i++) {
			if (same_text(sel->values[req->first_value + i], label))
				return req->op == OP_IN;
		}
		return req->op == OP_NOT_IN;
	case OP_ABOVE:
	case OP_BELOW:
		if (!present || !parse_integer(label, &number))
			return false;
		return req->op == OP_ABOVE ? number > req->bound : number < req->bound;
	}
	return false;
}

int
selector_match(const struct informer_label_selector *sel, struct value body)
{
	struct value labels;

	if (!body.at)
		return -EBADMSG;
	labels = value_at_name(value_at_name(body, "metadata"), "labels");
	for (uint32_t i = 0; i < sel->count; i++)
		if (!requirement_matches(sel, &sel->requirements[i], labels))
			return 0;
	return 1;
}

int
informer_label_selector_matches(const struct informer_label_selector *sel,
				const struct informer_object *object)
{
	const struct snapshot *s;
	int r;

	if (!sel)
		return -EINVAL;
	r = object_usable(object);
	if (r < 0)
		return r;
	if (object_is_key_only(object))
		return INFORMER_E_NOT_FOUND;
	s = snapshot_of(object->snapshot_);
	return snapshot_validate(s, selector_match(sel, value_of_object(&s->view, object->ref_)));
}
