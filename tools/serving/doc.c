/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON document: lookup, building, printing. Its parser is doc_parse.c. Recursion is bounded by
 * API_DOC_DEPTH.
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

/* ---- strings -------------------------------------------------------------- */

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

/* Resolve escapes. The parser has checked them. */
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
				code = 0xfffd; /* a lone surrogate, as Go's decoder */
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

/* ---- building ------------------------------------------------------------- */

struct api_node *
api_new(struct api_doc *doc, enum api_type type)
{
	struct api_node *node = (struct api_node *)(void *)api_doc_alloc(doc, sizeof(*node));

	*node = (struct api_node){.type = type, .text = ""};
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

/* ---- printing ------------------------------------------------------------- */

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
			if (node->type == API_OBJECT) {
				api_buf_put(buf, "\"", 1);
				api_buf_put(buf, child->key, child->key_len);
				api_buf_put(buf, "\":", 2);
			}
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
