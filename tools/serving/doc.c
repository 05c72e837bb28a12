/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The editable JSON document: lookup, edits, merge patch, printing. Its parser
 * is doc_parse.c. Recursion is bounded by API_DOC_DEPTH.
 */
#include "tools/serving/doc.h"

#include <stdlib.h>
#include <string.h>

struct api_arena_block {
	struct api_arena_block *next;
	size_t used;
	size_t size;
	char bytes[] __attribute__((aligned(16)));
};

char *
api_doc_alloc(struct api_doc *doc, size_t bytes)
{
	struct api_arena_block *block = doc->blocks;
	size_t need = (bytes + 15) & ~(size_t)15;
	char *result;

	if (!block || block->size - block->used < need) {
		size_t size = block ? block->size * 2 : 16384;

		if (size > (1 << 20))
			size = 1 << 20;
		if (size < need)
			size = need;
		block = api_alloc(sizeof(*block) + size);
		block->next = doc->blocks;
		block->used = 0;
		block->size = size;
		doc->blocks = block;
	}
	result = block->bytes + block->used;
	block->used += need;
	return result;
}

void
api_doc_done(struct api_doc *doc)
{
	if (!doc)
		return;
	while (doc->blocks) {
		struct api_arena_block *next = doc->blocks->next;

		free(doc->blocks);
		doc->blocks = next;
	}
	doc->root = NULL;
}

/* ---- texts ---------------------------------------------------------------- */

static unsigned
hex4(const char *text)
{
	unsigned value = 0;

	for (int i = 0; i < 4; i++) {
		char c = text[i];

		value = value * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return value;
}

static void
put_utf8(struct api_buf *buf, unsigned code)
{
	char out[4];
	size_t n;

	if (code < 0x80) {
		out[0] = (char)code;
		n = 1;
	} else if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		n = 2;
	} else if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		n = 3;
	} else {
		out[0] = (char)(0xf0 | code >> 18);
		out[1] = (char)(0x80 | (code >> 12 & 0x3f));
		out[2] = (char)(0x80 | (code >> 6 & 0x3f));
		out[3] = (char)(0x80 | (code & 0x3f));
		n = 4;
	}
	api_buf_put(buf, out, n);
}

/* Resolve escapes. The text was checked by the parser, so each escape is whole. */
static void
unescape(const char *text, size_t len, struct api_buf *buf)
{
	size_t i = 0;

	while (i < len) {
		const char *slash = memchr(text + i, '\\', len - i);
		size_t plain = slash ? (size_t)(slash - text) : len;
		unsigned code;

		api_buf_put(buf, text + i, plain - i);
		if (!slash)
			return;
		i = plain + 2;
		switch (text[plain + 1]) {
		case 'n':
			api_buf_put(buf, "\n", 1);
			break;
		case 't':
			api_buf_put(buf, "\t", 1);
			break;
		case 'r':
			api_buf_put(buf, "\r", 1);
			break;
		case 'b':
			api_buf_put(buf, "\b", 1);
			break;
		case 'f':
			api_buf_put(buf, "\f", 1);
			break;
		case 'u':
			code = hex4(text + i);
			i += 4;
			if (code >= 0xd800 && code < 0xdc00 && i + 6 <= len && text[i] == '\\' &&
			    text[i + 1] == 'u') {
				unsigned low = hex4(text + i + 2);

				if (low >= 0xdc00 && low < 0xe000) {
					code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
					i += 6;
				}
			}
			if (code >= 0xd800 && code < 0xe000)
				code = 0xfffd; /* half of a pair: as Go reads it */
			put_utf8(buf, code);
			break;
		default: /* quote, slash, backslash */
			api_buf_put(buf, text + plain + 1, 1);
		}
	}
}

static bool
escaped_equals(const char *escaped, size_t len, const char *plain)
{
	_cleanup_(api_buf_done) struct api_buf buf = {0};
	size_t plain_len = strlen(plain);

	if (!memchr(escaped, '\\', len))
		return len == plain_len && memcmp(escaped, plain, len) == 0;
	unescape(escaped, len, &buf);
	return buf.len == plain_len && memcmp(buf.data ? buf.data : "", plain, plain_len) == 0;
}

bool
api_is(const struct api_node *node, const char *text)
{
	return node && node->type == API_STRING && escaped_equals(node->text, node->text_len, text);
}

void
api_text(const struct api_node *node, struct api_buf *buf)
{
	if (node && node->type == API_STRING)
		unescape(node->text, node->text_len, buf);
}

char *
api_text_dup(const struct api_node *node)
{
	struct api_buf buf = {0};

	api_text(node, &buf);
	return api_buf_take(&buf);
}

void
api_key(const struct api_node *node, struct api_buf *buf)
{
	if (node->key)
		unescape(node->key, node->key_len, buf);
}

/* ---- lookup --------------------------------------------------------------- */

struct api_node *
api_get(const struct api_node *object, const char *key)
{
	if (!object || object->type != API_OBJECT)
		return NULL;
	for (struct api_node *child = object->child; child; child = child->next)
		if (escaped_equals(child->key, child->key_len, key))
			return child;
	return NULL;
}

struct api_node *
api_path(const struct api_node *object, const char *path)
{
	const struct api_node *node = object;
	struct api_node *found = NULL;
	char name[64];

	for (;;) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof(name))
			return NULL;
		memcpy(name, path, len);
		name[len] = '\0';
		found = api_get(node, name);
		if (!found || path[len] == '\0')
			return found;
		node = found;
		path += len + 1;
	}
}

size_t
api_count(const struct api_node *node)
{
	size_t n = 0;

	if (node)
		for (const struct api_node *child = node->child; child; child = child->next)
			n++;
	return n;
}

/* ---- edits ---------------------------------------------------------------- */

struct api_node *
api_new(struct api_doc *doc, enum api_type type)
{
	struct api_node *node = (struct api_node *)(void *)api_doc_alloc(doc, sizeof(*node));

	*node = (struct api_node){.type = type, .text = ""};
	return node;
}

/* Copy into the arena what JSON needs between the quotes. */
static const char *
escape(struct api_doc *doc, const char *text, size_t len, uint32_t *ret_len)
{
	_cleanup_(api_buf_done) struct api_buf buf = {0};
	char *copy;

	api_buf_json(&buf, text, len);
	copy = api_doc_alloc(doc, buf.len);
	memcpy(copy, buf.data + 1, buf.len - 2);
	*ret_len = (uint32_t)(buf.len - 2);
	return copy;
}

void
api_put_text(struct api_doc *doc, struct api_node *node, const char *text)
{
	node->type = API_STRING;
	node->child = node->last = NULL;
	node->text = escape(doc, text, strlen(text), &node->text_len);
}

struct api_node *
api_new_string(struct api_doc *doc, const char *text)
{
	struct api_node *node = api_new(doc, API_STRING);

	api_put_text(doc, node, text);
	return node;
}

struct api_node *
api_new_token(struct api_doc *doc, enum api_type type, const char *token)
{
	struct api_node *node = api_new(doc, type);
	size_t len = strlen(token);
	char *copy = api_doc_alloc(doc, len + 1);

	memcpy(copy, token, len + 1);
	node->text = copy;
	node->text_len = (uint32_t)len;
	return node;
}

void
api_append(struct api_node *array, struct api_node *value)
{
	value->next = NULL;
	if (array->last)
		array->last->next = value;
	else
		array->child = value;
	array->last = value;
}

/* The value takes over the member's name and place. */
void
api_become(struct api_node *member, const struct api_node *value)
{
	struct api_node *next = member->next;
	const char *key = member->key;
	uint32_t key_len = member->key_len;

	*member = *value;
	member->next = next;
	member->key = key;
	member->key_len = key_len;
}

void
api_set(struct api_doc *doc, struct api_node *object, const char *key, struct api_node *value)
{
	struct api_node *member = api_get(object, key);

	if (member) {
		api_become(member, value);
		return;
	}
	value->key = escape(doc, key, strlen(key), &value->key_len);
	api_append(object, value);
}

void
api_set_string(struct api_doc *doc, struct api_node *object, const char *key, const char *text)
{
	api_set(doc, object, key, api_new_string(doc, text));
}

void
api_set_after(struct api_doc *doc, struct api_node *object, const char *after, const char *key,
	      struct api_node *value)
{
	struct api_node *member = api_get(object, key);
	struct api_node *before = api_get(object, after);

	if (member || !before || !before->next) {
		api_set(doc, object, key, value);
		return;
	}
	value->key = escape(doc, key, strlen(key), &value->key_len);
	value->next = before->next;
	before->next = value;
}

bool
api_remove(struct api_node *object, const char *key)
{
	struct api_node *before = NULL;

	if (!object || object->type != API_OBJECT)
		return false;
	for (struct api_node *child = object->child; child; before = child, child = child->next) {
		if (!escaped_equals(child->key, child->key_len, key))
			continue;
		if (before)
			before->next = child->next;
		else
			object->child = child->next;
		if (object->last == child)
			object->last = before;
		return true;
	}
	return false;
}

struct api_node *
api_clone(struct api_doc *doc, const struct api_node *node)
{
	struct api_node *copy = api_new(doc, node->type);

	*copy = *node;
	copy->next = copy->child = copy->last = NULL;
	for (const struct api_node *child = node->child; child; child = child->next)
		api_append(copy, api_clone(doc, child));
	return copy;
}

static bool
same_key(const struct api_node *a, const struct api_node *b)
{
	return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

static struct api_node *
get_same(const struct api_node *object, const struct api_node *member)
{
	for (struct api_node *child = object->child; child; child = child->next)
		if (same_key(child, member))
			return child;
	return NULL;
}

bool
api_equal(const struct api_node *a, const struct api_node *b)
{
	if (a->type != b->type)
		return false;
	if (a->type != API_OBJECT && a->type != API_ARRAY)
		return a->text_len == b->text_len && memcmp(a->text, b->text, a->text_len) == 0;
	if (api_count(a) != api_count(b))
		return false;
	for (const struct api_node *x = a->child, *y = b->child; x; x = x->next, y = y->next) {
		const struct api_node *other = y;

		if (a->type == API_OBJECT && !same_key(x, y))
			other = get_same(b, x);
		if (!other || !api_equal(x, other))
			return false;
	}
	return true;
}

/* ---- printing ------------------------------------------------------------- */

void
api_print_member(const struct api_node *node, struct api_buf *buf, const struct api_node *mark,
		 size_t *ret_mark)
{
	api_buf_put(buf, "\"", 1);
	api_buf_put(buf, node->key, node->key_len);
	api_buf_put(buf, "\":", 2);
	api_print(node, buf, mark, ret_mark);
}

void
api_print(const struct api_node *node, struct api_buf *buf, const struct api_node *mark, size_t *ret_mark)
{
	switch (node->type) {
	case API_OBJECT:
	case API_ARRAY:
		api_buf_put(buf, node->type == API_OBJECT ? "{" : "[", 1);
		for (const struct api_node *child = node->child; child; child = child->next) {
			if (child != node->child)
				api_buf_put(buf, ",", 1);
			if (node->type == API_OBJECT)
				api_print_member(child, buf, mark, ret_mark);
			else
				api_print(child, buf, mark, ret_mark);
		}
		api_buf_put(buf, node->type == API_OBJECT ? "}" : "]", 1);
		break;
	case API_STRING:
		api_buf_put(buf, "\"", 1);
		if (node == mark && ret_mark)
			*ret_mark = buf->len;
		api_buf_put(buf, node->text, node->text_len);
		api_buf_put(buf, "\"", 1);
		break;
	default:
		api_buf_put(buf, node->text, node->text_len);
	}
}
