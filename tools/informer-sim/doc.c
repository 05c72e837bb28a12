/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The editable JSON document: lookup, edits, merge patch, printing. Its parser
 * is doc_parse.c. Recursion is bounded by SIM_DOC_DEPTH.
 */
#include "tools/informer-sim/doc.h"

#include <stdlib.h>
#include <string.h>

struct sim_arena_block {
	struct sim_arena_block *next;
	size_t used;
	size_t size;
	char bytes[] __attribute__((aligned(16)));
};

char *
sim_doc_alloc(struct sim_doc *doc, size_t bytes)
{
	struct sim_arena_block *block = doc->blocks;
	size_t need = (bytes + 15) & ~(size_t)15;
	char *result;

	if (!block || block->size - block->used < need) {
		size_t size = block ? block->size * 2 : 16384;

		if (size > (1 << 20))
			size = 1 << 20;
		if (size < need)
			size = need;
		block = sim_alloc(sizeof(*block) + size);
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
sim_doc_done(struct sim_doc *doc)
{
	if (!doc)
		return;
	while (doc->blocks) {
		struct sim_arena_block *next = doc->blocks->next;

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
put_utf8(struct sim_buf *buf, unsigned code)
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
	sim_buf_put(buf, out, n);
}

/* Resolve escapes. The text was checked by the parser, so each escape is whole. */
static void
unescape(const char *text, size_t len, struct sim_buf *buf)
{
	size_t i = 0;

	while (i < len) {
		const char *slash = memchr(text + i, '\\', len - i);
		size_t plain = slash ? (size_t)(slash - text) : len;
		unsigned code;

		sim_buf_put(buf, text + i, plain - i);
		if (!slash)
			return;
		i = plain + 2;
		switch (text[plain + 1]) {
		case 'n':
			sim_buf_put(buf, "\n", 1);
			break;
		case 't':
			sim_buf_put(buf, "\t", 1);
			break;
		case 'r':
			sim_buf_put(buf, "\r", 1);
			break;
		case 'b':
			sim_buf_put(buf, "\b", 1);
			break;
		case 'f':
			sim_buf_put(buf, "\f", 1);
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
			sim_buf_put(buf, text + plain + 1, 1);
		}
	}
}

static bool
escaped_equals(const char *escaped, size_t len, const char *plain)
{
	_cleanup_(sim_buf_done) struct sim_buf buf = {0};
	size_t plain_len = strlen(plain);

	if (!memchr(escaped, '\\', len))
		return len == plain_len && memcmp(escaped, plain, len) == 0;
	unescape(escaped, len, &buf);
	return buf.len == plain_len && memcmp(buf.data ? buf.data : "", plain, plain_len) == 0;
}

bool
sim_is(const struct sim_node *node, const char *text)
{
	return node && node->type == SIM_STRING && escaped_equals(node->text, node->text_len, text);
}

void
sim_text(const struct sim_node *node, struct sim_buf *buf)
{
	if (node && node->type == SIM_STRING)
		unescape(node->text, node->text_len, buf);
}

char *
sim_text_dup(const struct sim_node *node)
{
	struct sim_buf buf = {0};

	sim_text(node, &buf);
	return sim_buf_take(&buf);
}

void
sim_key(const struct sim_node *node, struct sim_buf *buf)
{
	if (node->key)
		unescape(node->key, node->key_len, buf);
}

/* ---- lookup --------------------------------------------------------------- */

struct sim_node *
sim_get(const struct sim_node *object, const char *key)
{
	if (!object || object->type != SIM_OBJECT)
		return NULL;
	for (struct sim_node *child = object->child; child; child = child->next)
		if (escaped_equals(child->key, child->key_len, key))
			return child;
	return NULL;
}

struct sim_node *
sim_path(const struct sim_node *object, const char *path)
{
	const struct sim_node *node = object;
	struct sim_node *found = NULL;
	char name[64];

	for (;;) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof(name))
			return NULL;
		memcpy(name, path, len);
		name[len] = '\0';
		found = sim_get(node, name);
		if (!found || path[len] == '\0')
			return found;
		node = found;
		path += len + 1;
	}
}

size_t
sim_count(const struct sim_node *node)
{
	size_t n = 0;

	if (node)
		for (const struct sim_node *child = node->child; child; child = child->next)
			n++;
	return n;
}

/* ---- edits ---------------------------------------------------------------- */

struct sim_node *
sim_new(struct sim_doc *doc, enum sim_type type)
{
	struct sim_node *node = (struct sim_node *)(void *)sim_doc_alloc(doc, sizeof(*node));

	*node = (struct sim_node){.type = type, .text = ""};
	return node;
}

/* Copy into the arena what JSON needs between the quotes. */
static const char *
escape(struct sim_doc *doc, const char *text, size_t len, uint32_t *ret_len)
{
	_cleanup_(sim_buf_done) struct sim_buf buf = {0};
	char *copy;

	sim_buf_json(&buf, text, len);
	copy = sim_doc_alloc(doc, buf.len);
	memcpy(copy, buf.data + 1, buf.len - 2);
	*ret_len = (uint32_t)(buf.len - 2);
	return copy;
}

void
sim_put_text(struct sim_doc *doc, struct sim_node *node, const char *text)
{
	node->type = SIM_STRING;
	node->child = node->last = NULL;
	node->text = escape(doc, text, strlen(text), &node->text_len);
}

struct sim_node *
sim_new_string(struct sim_doc *doc, const char *text)
{
	struct sim_node *node = sim_new(doc, SIM_STRING);

	sim_put_text(doc, node, text);
	return node;
}

struct sim_node *
sim_new_token(struct sim_doc *doc, enum sim_type type, const char *token)
{
	struct sim_node *node = sim_new(doc, type);
	size_t len = strlen(token);
	char *copy = sim_doc_alloc(doc, len + 1);

	memcpy(copy, token, len + 1);
	node->text = copy;
	node->text_len = (uint32_t)len;
	return node;
}

void
sim_append(struct sim_node *array, struct sim_node *value)
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
sim_become(struct sim_node *member, const struct sim_node *value)
{
	struct sim_node *next = member->next;
	const char *key = member->key;
	uint32_t key_len = member->key_len;

	*member = *value;
	member->next = next;
	member->key = key;
	member->key_len = key_len;
}

void
sim_set(struct sim_doc *doc, struct sim_node *object, const char *key, struct sim_node *value)
{
	struct sim_node *member = sim_get(object, key);

	if (member) {
		sim_become(member, value);
		return;
	}
	value->key = escape(doc, key, strlen(key), &value->key_len);
	sim_append(object, value);
}

void
sim_set_string(struct sim_doc *doc, struct sim_node *object, const char *key, const char *text)
{
	sim_set(doc, object, key, sim_new_string(doc, text));
}

void
sim_set_after(struct sim_doc *doc, struct sim_node *object, const char *after, const char *key,
	      struct sim_node *value)
{
	struct sim_node *member = sim_get(object, key);
	struct sim_node *before = sim_get(object, after);

	if (member || !before || !before->next) {
		sim_set(doc, object, key, value);
		return;
	}
	value->key = escape(doc, key, strlen(key), &value->key_len);
	value->next = before->next;
	before->next = value;
}

bool
sim_remove(struct sim_node *object, const char *key)
{
	struct sim_node *before = NULL;

	if (!object || object->type != SIM_OBJECT)
		return false;
	for (struct sim_node *child = object->child; child; before = child, child = child->next) {
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

struct sim_node *
sim_clone(struct sim_doc *doc, const struct sim_node *node)
{
	struct sim_node *copy = sim_new(doc, node->type);

	*copy = *node;
	copy->next = copy->child = copy->last = NULL;
	for (const struct sim_node *child = node->child; child; child = child->next)
		sim_append(copy, sim_clone(doc, child));
	return copy;
}

static bool
same_key(const struct sim_node *a, const struct sim_node *b)
{
	return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

static struct sim_node *
get_same(const struct sim_node *object, const struct sim_node *member)
{
	for (struct sim_node *child = object->child; child; child = child->next)
		if (same_key(child, member))
			return child;
	return NULL;
}

bool
sim_equal(const struct sim_node *a, const struct sim_node *b)
{
	if (a->type != b->type)
		return false;
	if (a->type != SIM_OBJECT && a->type != SIM_ARRAY)
		return a->text_len == b->text_len && memcmp(a->text, b->text, a->text_len) == 0;
	if (sim_count(a) != sim_count(b))
		return false;
	for (const struct sim_node *x = a->child, *y = b->child; x; x = x->next, y = y->next) {
		const struct sim_node *other = y;

		if (a->type == SIM_OBJECT && !same_key(x, y))
			other = get_same(b, x);
		if (!other || !sim_equal(x, other))
			return false;
	}
	return true;
}

/* ---- printing ------------------------------------------------------------- */

void
sim_print_member(const struct sim_node *node, struct sim_buf *buf, const struct sim_node *mark,
		 size_t *ret_mark)
{
	sim_buf_put(buf, "\"", 1);
	sim_buf_put(buf, node->key, node->key_len);
	sim_buf_put(buf, "\":", 2);
	sim_print(node, buf, mark, ret_mark);
}

void
sim_print(const struct sim_node *node, struct sim_buf *buf, const struct sim_node *mark, size_t *ret_mark)
{
	switch (node->type) {
	case SIM_OBJECT:
	case SIM_ARRAY:
		sim_buf_put(buf, node->type == SIM_OBJECT ? "{" : "[", 1);
		for (const struct sim_node *child = node->child; child; child = child->next) {
			if (child != node->child)
				sim_buf_put(buf, ",", 1);
			if (node->type == SIM_OBJECT)
				sim_print_member(child, buf, mark, ret_mark);
			else
				sim_print(child, buf, mark, ret_mark);
		}
		sim_buf_put(buf, node->type == SIM_OBJECT ? "}" : "]", 1);
		break;
	case SIM_STRING:
		sim_buf_put(buf, "\"", 1);
		if (node == mark && ret_mark)
			*ret_mark = buf->len;
		sim_buf_put(buf, node->text, node->text_len);
		sim_buf_put(buf, "\"", 1);
		break;
	default:
		sim_buf_put(buf, node->text, node->text_len);
	}
}
