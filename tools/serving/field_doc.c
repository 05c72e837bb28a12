/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field is a node, and the document whose arena takes what has to be unescaped.
 */
#include "tools/serving/field_doc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct api_node *
node_of(const struct field *field)
{
	return field->at.private_[0];
}

static struct api_doc *
doc_of(const struct field *field)
{
	return (struct api_doc *)(uintptr_t)field->at.private_[1];
}

static enum field_kind
node_kind(const struct field *field)
{
	static const enum field_kind kinds[] = {
		[API_OBJECT] = FIELD_OBJECT, [API_ARRAY] = FIELD_ARRAY, [API_STRING] = FIELD_STRING,
		[API_NUMBER] = FIELD_NUMBER, [API_TRUE] = FIELD_BOOL,   [API_FALSE] = FIELD_BOOL,
		[API_NULL] = FIELD_NULL,
	};

	return kinds[node_of(field)->type];
}

/* Bytes that are escaped, resolved into the arena; others are lent as they stand. */
static struct field_text
plain(struct api_doc *doc, const struct api_node *node, bool key)
{
	const char *text = key ? node->key : node->text;
	size_t len = key ? node->key_len : node->text_len;
	_cleanup_(api_buf_done) struct api_buf buf = {0};
	char *copy;

	if (!memchr(text, '\\', len))
		return (struct field_text){text, len};
	if (key)
		api_key(node, &buf);
	else
		api_text(node, &buf);
	copy = api_doc_alloc(doc, buf.len + 1);
	memcpy(copy, buf.data ? buf.data : "", buf.len);
	return (struct field_text){copy, buf.len};
}

static bool
node_string(const struct field *field, struct field_text *ret)
{
	*ret = plain(doc_of(field), node_of(field), false);
	return true;
}

static bool
node_boolean(const struct field *field)
{
	return node_of(field)->type == API_TRUE;
}

static size_t
node_number(const struct field *field, char *buffer, size_t size)
{
	const struct api_node *node = node_of(field);

	if (node->text_len >= size)
		return 0;
	memcpy(buffer, node->text, node->text_len);
	buffer[node->text_len] = '\0';
	return node->text_len;
}

static bool
node_integer(const struct field *field, int64_t *ret)
{
	char digits[32], *end;

	if (node_number(field, digits, sizeof(digits)) == 0)
		return false;
	errno = 0;
	*ret = strtoll(digits, &end, 10);
	return errno == 0 && *end == '\0';
}

static size_t
node_count(const struct field *field)
{
	return api_count(node_of(field));
}

static bool
found(const struct field *parent, const struct api_node *node, struct field *ret)
{
	*ret = *parent;
	ret->at.private_[0] = node;
	return node != NULL;
}

static bool
node_get(const struct field *object, const char *name, size_t length, struct field *ret)
{
	_cleanup_(api_freep) char *key = api_strndup(name, length);

	return found(object, api_get(node_of(object), key), ret);
}

static bool
node_element(const struct field *array, size_t i, struct field *ret)
{
	const struct api_node *node = node_of(array)->child;

	while (node && i--)
		node = node->next;
	return found(array, node, ret);
}

/* The iterator's item holds the node that comes next until it is stepped to. */
static void
node_begin(const struct field *field, struct field_iter *it)
{
	it->item = *field;
	it->private_.next_node = node_of(field)->child;
}

static bool
node_next(struct field_iter *it)
{
	const struct api_node *node = it->private_.next_node;
	struct field_text key = {NULL, 0};

	if (!node)
		return false;
	it->private_.next_node = node->next;
	if (node->key)
		key = plain(doc_of(&it->item), node, true);
	it->key = key.data;
	it->key_length = key.length;
	it->item.at.private_[0] = node;
	return true;
}

static const struct field_source source = {
	.kind = node_kind,
	.string = node_string,
	.boolean = node_boolean,
	.integer = node_integer,
	.number = node_number,
	.count = node_count,
	.get = node_get,
	.element = node_element,
	.begin = node_begin,
	.next = node_next,
};

struct field
field_of_doc(struct api_doc *doc)
{
	return (struct field){.source = doc->root ? &source : NULL, .at.private_ = {doc->root, doc}};
}
