/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON patch: add, remove, replace, move, copy and test at JSON pointers.
 *
 * Source: RFC 6902, RFC 6901
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/merge.h"

/* Where a pointer points: the parent, and the last part's name, unescaped. */
struct place {
	struct api_node *parent;
	struct api_node *at; /* NULL: nothing there */
	char *name;
};

static int
refuse(char **ret_error, const char *what, const char *path)
{
	struct api_buf buf = {0};

	api_buf_printf(&buf, "the server rejected our request due to an error in our request: %s: %.200s",
		       what, path);
	free(*ret_error);
	*ret_error = api_buf_take(&buf);
	return -EINVAL;
}

static void
unescape(char *part)
{
	char *out = part;

	for (; *part; part++) {
		if (part[0] == '~' && (part[1] == '0' || part[1] == '1'))
			*out++ = *++part == '0' ? '~' : '/';
		else
			*out++ = *part;
	}
	*out = '\0';
}

static struct api_node *
child_of(struct api_node *parent, const char *name)
{
	struct api_node *item;
	unsigned long n;
	char *end;

	if (parent->type == API_OBJECT)
		return api_get(parent, name);
	if (parent->type != API_ARRAY || !isdigit((unsigned char)name[0]))
		return NULL;
	n = strtoul(name, &end, 10);
	for (item = *end ? NULL : parent->child; item && n; n--)
		item = item->next;
	return item;
}

static int
find(struct api_doc *doc, const char *pointer, struct place *ret_place)
{
	_cleanup_(api_freep) char *copy = api_strndup(pointer, strlen(pointer));
	struct api_node *node = doc->root;
	char *rest = copy, *part;

	*ret_place = (struct place){0};
	if (pointer[0] != '/')
		return -EINVAL;
	rest++;
	while ((part = strsep(&rest, "/"))) {
		if (!node)
			return -ENOENT;
		unescape(part);
		ret_place->parent = node;
		node = child_of(node, part);
		if (!rest)
			ret_place->name = api_strndup(part, strlen(part));
	}
	ret_place->at = node;
	return 0;
}

/* Put the value before `before`, or at the end. */
static void
insert(struct api_node *array, const struct api_node *before, struct api_node *value)
{
	struct api_node *all = array->child, *next;

	array->child = array->last = NULL;
	for (; all; all = next) {
		next = all->next;
		if (all == before)
			api_append(array, value);
		api_append(array, all);
	}
	if (!before)
		api_append(array, value);
}

static int
add(struct api_doc *doc, const struct place *place, const struct api_node *value)
{
	struct api_node *copy = sim_clone(doc, value);

	if (place->parent->type == API_OBJECT) {
		sim_set(doc, place->parent, place->name, copy);
		return 0;
	}
	if (place->parent->type != API_ARRAY)
		return -EINVAL;
	if (!place->at && strcmp(place->name, "-") != 0 &&
	    strtoul(place->name, NULL, 10) != sim_count(place->parent))
		return -EINVAL;
	copy->key = NULL;
	insert(place->parent, place->at, copy);
	return 0;
}

static void
drop(const struct place *place)
{
	struct api_node *all = place->parent->child, *next;

	place->parent->child = place->parent->last = NULL;
	for (; all; all = next) {
		next = all->next;
		if (all != place->at)
			api_append(place->parent, all);
	}
}

static int
operation(struct api_doc *doc, const struct api_node *item, char **ret_error)
{
	_cleanup_(api_freep) char *op = api_text_dup(api_get(item, "op"));
	_cleanup_(api_freep) char *path = api_text_dup(api_get(item, "path"));
	_cleanup_(api_freep) char *from = api_text_dup(api_get(item, "from"));
	const struct api_node *value = api_get(item, "value");
	struct place place = {0}, source = {0};
	bool moves = !strcmp(op, "move") || !strcmp(op, "copy");
	int r;

	r = find(doc, path, &place);
	if (r == 0 && moves) {
		r = find(doc, from, &source);
		if (r == 0 && (!source.parent || !source.at))
			r = -ENOENT;
		value = r == 0 ? sim_clone(doc, source.at) : NULL;
		if (r == 0 && !strcmp(op, "move")) {
			drop(&source);
			free(place.name);
			r = find(doc, path, &place); /* indexes may have moved */
		}
	}
	if (r == 0 && (!place.parent || ((moves || !strcmp(op, "add") || !strcmp(op, "replace")) && !value)))
		r = -EINVAL;
	if (r == 0 && (moves || !strcmp(op, "add")))
		r = add(doc, &place, value);
	else if (r == 0 && !place.at)
		r = -ENOENT;
	else if (r == 0 && !strcmp(op, "replace"))
		sim_become(place.at, sim_clone(doc, value));
	else if (r == 0 && !strcmp(op, "remove"))
		drop(&place);
	else if (r == 0 && !strcmp(op, "test"))
		r = value && sim_equal(place.at, value) ? 0 : -ESTALE;
	else if (r == 0)
		r = -ENOTSUP;
	free(place.name);
	free(source.name);
	if (r == 0)
		return 0;
	return refuse(ret_error,
		      r == -ENOENT    ? "there is nothing at this path"
		      : r == -ESTALE  ? "testing value failed at this path"
		      : r == -ENOTSUP ? "an unknown operation at this path"
				      : "a bad operation at this path",
		      path);
}

int
sim_patch_json(struct api_doc *doc, const struct api_node *patch, char **ret_error)
{
	*ret_error = NULL;
	if (patch->type != API_ARRAY)
		return refuse(ret_error, "it is no list of operations", "");
	for (const struct api_node *item = patch->child; item; item = item->next)
		if (operation(doc, item, ret_error) < 0)
			return -EINVAL;
	return 0;
}
