/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict JSON (RFC 8259) to the editable document. Errors carry the byte offset and the text of Go's decoder,
 * which clients of an API server know.
 */
#include "tools/serving/doc.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shm-layout/utf8.h"


struct parser {
	const char *text;
	size_t len;
	size_t at;
	unsigned depth;
	struct api_doc *doc; /* NULL: only check */
	struct api_doc_error *error;
};

static int
fail(struct parser *p, const char *where)
{
	p->error->offset = p->at;
	if (p->at >= p->len) {
		snprintf(p->error->text, sizeof(p->error->text), "unexpected end of JSON input");
	} else {
		unsigned char c = (unsigned char)p->text[p->at];
		char shown[8];

		if (c >= 0x20 && c < 0x7f)
			snprintf(shown, sizeof(shown), c == '\'' ? "\\'" : "%c", c);
		else
			snprintf(shown, sizeof(shown), "\\x%02x", c);
		snprintf(p->error->text, sizeof(p->error->text), "invalid character '%s' %s", shown, where);
	}
	return -EINVAL;
}

static int
fail_text(struct parser *p, const char *text)
{
	p->error->offset = p->at;
	snprintf(p->error->text, sizeof(p->error->text), "%s", text);
	return -EINVAL;
}

static void
space(struct parser *p)
{
	while (p->at < p->len) {
		char c = p->text[p->at];

		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			return;
		p->at++;
	}
}

static bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Parse a string from its opening quote. p->at moves behind the closing quote. */
static int
string(struct parser *p, const char **ret_text, uint32_t *ret_len)
{
	size_t begin = ++p->at;

	while (p->at < p->len) {
		unsigned char c = (unsigned char)p->text[p->at];

		if (c == '"') {
			if (p->at - begin > UINT32_MAX)
				return fail_text(p, "string too long");
			*ret_text = p->text + begin;
			*ret_len = (uint32_t)(p->at - begin);
			p->at++;
			return 0;
		}
		if (c < 0x20)
			return fail(p, "in string literal");
		if (c >= 0x80) {
			int n = utf8_length(p->text + p->at, p->len - p->at);

			if (n <= 0)
				return fail_text(p, "invalid UTF-8 in string literal");
			p->at += (size_t)n;
		} else if (c == '\\') {
			p->at++;
			if (p->at < p->len && p->text[p->at] == 'u') {
				for (int i = 0; i < 4; i++) {
					p->at++;
					if (p->at >= p->len || !is_hex(p->text[p->at]))
						return fail(p, "in \\u hexadecimal character escape");
				}
			} else if (p->at >= p->len || !p->text[p->at] ||
				   !strchr("\"\\/bfnrt", p->text[p->at])) {
				return fail(p, "in string escape code");
			}
			p->at++;
		} else {
			p->at++;
		}
	}
	return fail(p, "");
}

static bool
digits(struct parser *p)
{
	size_t begin = p->at;

	while (p->at < p->len && p->text[p->at] >= '0' && p->text[p->at] <= '9')
		p->at++;
	return p->at > begin;
}

static int
number(struct parser *p)
{
	if (p->text[p->at] == '-')
		p->at++;
	if (p->at < p->len && p->text[p->at] == '0')
		p->at++;
	else if (!digits(p))
		return fail(p, "in numeric literal");
	if (p->at < p->len && p->text[p->at] == '.') {
		p->at++;
		if (!digits(p))
			return fail(p, "after decimal point in numeric literal");
	}
	if (p->at < p->len && (p->text[p->at] | 0x20) == 'e') {
		p->at++;
		if (p->at < p->len && (p->text[p->at] == '+' || p->text[p->at] == '-'))
			p->at++;
		if (!digits(p))
			return fail(p, "in exponent of numeric literal");
	}
	return 0;
}

static int
literal(struct parser *p, const char *word)
{
	char where[32];

	for (size_t i = 0; word[i]; i++, p->at++) {
		if (p->at < p->len && p->text[p->at] == word[i])
			continue;
		snprintf(where, sizeof(where), "in literal %s", word);
		return fail(p, where);
	}
	return 0;
}

static int value(struct parser *p, struct api_node **ret_node);

static uint32_t
key_hash(const struct api_node *node)
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < node->key_len; i++)
		hash = (hash ^ (unsigned char)node->key[i]) * 16777619u;
	return hash;
}

/*
 * Of members with equal names the last value wins, in the place of the first, as in Go. A hash table of
 * members keeps this linear; up to 16 members a plain scan is faster.
 */
static void
drop_duplicates(struct api_doc *doc, struct api_node *object, size_t members)
{
	struct api_node **table = NULL;
	struct api_node *before = NULL, *next;
	size_t mask = 0;

	if (members > 16) {
		for (mask = 64; mask < members * 2; mask *= 2)
			;
		table = (struct api_node **)(void *)api_doc_alloc(doc, mask * sizeof(struct api_node *));
		memset((void *)table, 0, mask * sizeof(struct api_node *));
		mask--;
	}
	for (struct api_node *node = object->child; node; node = next) {
		struct api_node *same = NULL;
		size_t slot = 0;

		next = node->next;
		if (table) {
			for (slot = key_hash(node) & mask; (same = table[slot]); slot = (slot + 1) & mask)
				if (same->key_len == node->key_len &&
				    !memcmp(same->key, node->key, node->key_len))
					break;
		} else {
			for (same = object->child; same != node; same = same->next)
				if (same->key_len == node->key_len &&
				    !memcmp(same->key, node->key, node->key_len))
					break;
			if (same == node)
				same = NULL;
		}
		if (!same) {
			if (table)
				table[slot] = node;
			before = node;
			continue;
		}
		same->type = node->type;
		same->text = node->text;
		same->text_len = node->text_len;
		same->child = node->child;
		same->last = node->last;
		assert(before); /* `same` precedes node, so there is a previous member */
		before->next = next;
		if (object->last == node)
			object->last = before;
	}
}

/* Parse a member's name and its colon. */
static int
name(struct parser *p, const char **ret_key, uint32_t *ret_len)
{
	int r;

	space(p);
	if (p->at >= p->len || p->text[p->at] != '"')
		return fail(p, "looking for beginning of object key string");
	r = string(p, ret_key, ret_len);
	if (r < 0)
		return r;
	space(p);
	if (p->at >= p->len || p->text[p->at] != ':')
		return fail(p, "after object key");
	p->at++;
	return 0;
}

/* Parse the members or elements behind the opening bracket. parent NULL: only check. */
static int
children(struct parser *p, struct api_node *parent, bool object)
{
	char close = object ? '}' : ']';
	size_t count = 0;

	p->at++;
	space(p);
	for (bool any = p->at >= p->len || p->text[p->at] != close; any;) {
		struct api_node *node = NULL;
		const char *key = NULL;
		uint32_t key_len = 0;
		int r = object ? name(p, &key, &key_len) : 0;

		if (r == 0)
			r = value(p, &node);
		if (r < 0)
			return r;
		if (parent && node) {
			node->key = key;
			node->key_len = key_len;
			api_append(parent, node);
			count++;
		}
		space(p);
		any = p->at >= p->len || p->text[p->at] != close;
		if (any && (p->at >= p->len || p->text[p->at] != ','))
			return fail(p, object ? "after object key:value pair" : "after array element");
		p->at += any;
	}
	p->at++;
	if (parent && object && count > 1)
		drop_duplicates(p->doc, parent, count);
	return 0;
}

static int
value(struct parser *p, struct api_node **ret_node)
{
	struct api_node *node = NULL;
	enum api_type type;
	const char *text = "";
	uint32_t text_len = 0;
	size_t begin;
	int r;

	space(p);
	if (p->at >= p->len)
		return fail(p, "");
	begin = p->at;
	switch (p->text[p->at]) {
	case '{':
	case '[':
		type = p->text[p->at] == '{' ? API_OBJECT : API_ARRAY;
		if (p->depth == API_DOC_DEPTH)
			return fail_text(p, "exceeded max depth");
		if (p->doc)
			node = api_new(p->doc, type);
		p->depth++;
		r = children(p, node, type == API_OBJECT);
		p->depth--;
		*ret_node = node;
		return r;
	case '"':
		type = API_STRING;
		r = string(p, &text, &text_len);
		break;
	case 't':
		type = API_TRUE;
		r = literal(p, "true");
		break;
	case 'f':
		type = API_FALSE;
		r = literal(p, "false");
		break;
	case 'n':
		type = API_NULL;
		r = literal(p, "null");
		break;
	case '-':
	case '0' ... '9':
		type = API_NUMBER;
		r = number(p);
		break;
	default:
		return fail(p, "looking for beginning of value");
	}
	if (r < 0 || !p->doc)
		return r;
	node = api_new(p->doc, type);
	if (type == API_STRING) {
		node->text = text;
		node->text_len = text_len;
	} else {
		node->text = p->text + begin;
		node->text_len = (uint32_t)(p->at - begin);
	}
	*ret_node = node;
	return 0;
}

int
api_doc_parse(struct api_doc *doc, const char *text, size_t len, size_t *ret_end,
	      struct api_doc_error *ret_error)
{
	struct parser p = {.text = text, .len = len, .doc = doc, .error = ret_error};
	struct api_node *root = NULL;
	int r = value(&p, &root);

	if (r < 0)
		return r;
	if (ret_end) {
		*ret_end = p.at;
	} else {
		space(&p);
		if (p.at < len)
			return fail(&p, "after top-level value");
	}
	doc->root = root;
	return 0;
}

int
api_doc_skip(const char *text, size_t len, size_t offset, size_t *ret_begin, size_t *ret_end,
	     struct api_doc_error *ret_error)
{
	struct parser p = {.text = text, .len = len, .at = offset, .error = ret_error};
	struct api_node *none = NULL;
	int r;

	space(&p);
	*ret_begin = p.at;
	r = value(&p, &none);
	if (r == 0)
		*ret_end = p.at;
	return r;
}
