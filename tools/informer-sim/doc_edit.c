/* SPDX-License-Identifier: Apache-2.0 */
/* New nodes are in the document's arena; API_DOC_DEPTH bounds the recursion. See doc_edit.h. */
#include "tools/informer-sim/doc_edit.h"

#include <string.h>

struct api_node *
sim_path(const struct api_node *object, const char *path)
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
sim_count(const struct api_node *node)
{
	size_t n = 0;

	if (node)
		for (const struct api_node *child = node->child; child; child = child->next)
			n++;
	return n;
}

void
sim_key(const struct api_node *node, struct api_buf *buf)
{
	api_text(&(struct api_node){.type = API_STRING, .text = node->key, .text_len = node->key_len}, buf);
}

void
sim_object_edit(const struct api_resource *resource, const struct api_object *object, struct api_doc *doc)
{
	struct api_doc_error error;
	struct api_buf buf = {0};
	char *copy;

	api_object_print(resource, object, 0, &buf);
	copy = api_doc_alloc(doc, buf.len);
	memcpy(copy, buf.data, buf.len);
	(void)api_doc_parse(doc, copy, buf.len, NULL, &error); /* printed from a document, so it parses */
	api_buf_done(&buf);
}

/* Escape a text for JSON, without the quotes, in the document's arena. */
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
sim_put_text(struct api_doc *doc, struct api_node *node, const char *text)
{
	node->type = API_STRING;
	node->child = node->last = NULL;
	node->text = escape(doc, text, strlen(text), &node->text_len);
}

struct api_node *
sim_new_string(struct api_doc *doc, const char *text)
{
	struct api_node *node = api_new(doc, API_STRING);

	sim_put_text(doc, node, text);
	return node;
}

struct api_node *
sim_new_token(struct api_doc *doc, enum api_type type, const char *token)
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
sim_become(struct api_node *member, const struct api_node *value)
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
sim_set(struct api_doc *doc, struct api_node *object, const char *key, struct api_node *value)
{
	struct api_node *member = api_get(object, key);

	if (member) {
		sim_become(member, value);
		return;
	}
	value->key = escape(doc, key, strlen(key), &value->key_len);
	api_append(object, value);
}

void
sim_set_string(struct api_doc *doc, struct api_node *object, const char *key, const char *text)
{
	sim_set(doc, object, key, sim_new_string(doc, text));
}

void
sim_set_after(struct api_doc *doc, struct api_node *object, const char *after, const char *key,
	      struct api_node *value)
{
	struct api_node *member = api_get(object, key);
	struct api_node *before = api_get(object, after);

	if (member || !before || !before->next) {
		sim_set(doc, object, key, value);
		return;
	}
	value->key = escape(doc, key, strlen(key), &value->key_len);
	value->next = before->next;
	before->next = value;
}

bool
sim_remove(struct api_node *object, const char *key)
{
	struct api_node *found = api_get(object, key), *before = NULL;

	if (!found)
		return false;
	for (struct api_node *child = object->child; child != found; child = child->next)
		before = child;
	if (before)
		before->next = found->next;
	else
		object->child = found->next;
	if (object->last == found)
		object->last = before;
	return true;
}

struct api_node *
sim_clone(struct api_doc *doc, const struct api_node *node)
{
	struct api_node *copy = api_new(doc, node->type);

	*copy = *node;
	copy->next = copy->child = copy->last = NULL;
	for (const struct api_node *child = node->child; child; child = child->next)
		api_append(copy, sim_clone(doc, child));
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
sim_equal(const struct api_node *a, const struct api_node *b)
{
	if (a->type != b->type)
		return false;
	if (a->type != API_OBJECT && a->type != API_ARRAY)
		return a->text_len == b->text_len && memcmp(a->text, b->text, a->text_len) == 0;
	if (sim_count(a) != sim_count(b))
		return false;
	for (const struct api_node *x = a->child, *y = b->child; x; x = x->next, y = y->next) {
		const struct api_node *other = y;

		if (a->type == API_OBJECT && !same_key(x, y))
			other = get_same(b, x);
		if (!other || !sim_equal(x, other))
			return false;
	}
	return true;
}
