/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses how to look for what a hint leaves, and collects it.
 */
#include "tools/informer-gateway/views/view_items.h"

#include <stdlib.h>
#include <string.h>

struct collection {
	struct gw_entry *entry;
	const struct gw_reading *reading;
	const struct gw_hint *hint;
	struct informer_selector *selector;
	struct gw_keyed *items;
	size_t count, capacity;
	struct api_buf keys;
};

/* Keys move while they are collected: their places are known at the end. */
static int
collect(struct collection *c, const struct informer_object *object)
{
	size_t ns_length;
	int r = gw_object_put_key(object, &c->keys, &ns_length);

	if (r < 0)
		return r;
	if (c->count == c->capacity) {
		c->capacity = c->capacity ? c->capacity * 2 : 64;
		c->items = api_realloc(c->items, c->capacity * sizeof(*c->items));
	}
	c->items[c->count++] = (struct gw_keyed){.object = *object};
	return 0;
}

static bool
is_wanted(const struct collection *c, const struct informer_object *object)
{
	const char *ns;
	size_t length;

	/* of a resource with several entries only those of this one */
	if (informer_object_position(object) != c->entry->position)
		return false;
	if (!c->hint->namespace_)
		return true;
	return informer_object_namespace(object, &ns, &length) == 0 &&
	       length == strlen(c->hint->namespace_) && !memcmp(ns, c->hint->namespace_, length);
}

static int
collect_all(struct collection *c, struct informer_iter *it)
{
	struct informer_object object;
	int r;

	while ((r = informer_next(it, &object)) > 0) {
		r = is_wanted(c, &object) ? collect(c, &object) : 0;
		if (r < 0)
			break;
	}
	return r;
}

/* The index that has the values of a field, where informerd has one: NULL there is none. */
static const char *
index_of(const struct api_resource *resource, unsigned field)
{
	bool pods = !strcmp(resource->plural, "pods") && !resource->group[0];

	return pods && !strcmp(resource->fields[field].label, "spec.nodeName") ? "nodeName" : NULL;
}

static int
start_labels(struct collection *c, struct informer_iter *it)
{
	const char *ns = c->hint->namespace_ ? c->hint->namespace_ : "";
	int r = informer_selector_compile(c->entry->arena->reads, c->hint->labels, strlen(c->hint->labels),
					  &c->selector, NULL);

	if (r < 0)
		return r;
	return informer_select(&c->reading->snapshot, c->reading->resource, ns, strlen(ns), c->selector, it);
}

static int
start(struct collection *c, struct informer_iter *it)
{
	const struct gw_entry *e = c->entry;
	const struct gw_hint *hint = c->hint;
	const char *index = hint->value && hint->value[0] ? index_of(e->resource, hint->field) : NULL;
	int r = INFORMER_E_NO_INDEX;

	if (index)
		r = informer_by_index(&c->reading->snapshot, c->reading->resource, index, hint->value,
				      strlen(hint->value), it);
	if (r == INFORMER_E_NO_INDEX && hint->labels)
		r = start_labels(c, it);
	/* libinformer's grammar is the API's; what it refuses nonetheless, the query decides alone */
	if ((r == INFORMER_E_NO_INDEX || r == INFORMER_E_SYNTAX) && hint->namespace_)
		r = informer_list_namespace(&c->reading->snapshot, c->reading->resource, hint->namespace_,
					    strlen(hint->namespace_), it);
	if (r == INFORMER_E_NO_INDEX || r == INFORMER_E_SYNTAX)
		r = informer_list(&c->reading->snapshot, c->reading->resource, it);
	return r;
}

static int
collect_one(struct collection *c)
{
	const char *ns = c->hint->namespace_ ? c->hint->namespace_ : "";
	struct informer_object object;
	int r = informer_get(&c->reading->snapshot, c->reading->resource, ns, strlen(ns), c->hint->name,
			     strlen(c->hint->name), &object);

	if (r == 0 && is_wanted(c, &object))
		r = collect(c, &object);
	return r == INFORMER_E_NOT_FOUND ? 0 : r;
}

/* By name only where that says which one: without a namespace there may be several. */
static bool
names_one(const struct collection *c)
{
	return c->hint->name && (!c->entry->resource->namespaced || c->hint->namespace_);
}

int
gw_view_items_fill(struct gw_view_items *view, struct gw_entry *entry, const struct gw_reading *reading,
		   const struct gw_hint *hint)
{
	struct collection c = {.entry = entry, .reading = reading, .hint = hint};
	struct informer_iter it;
	const char *key;
	int r;

	if (names_one(&c)) {
		r = collect_one(&c);
	} else {
		r = start(&c, &it);
		if (r == 0)
			r = collect_all(&c, &it);
		informer_selector_free(c.selector);
	}
	api_buf_put(&c.keys, "\0\0\0\0\0\0\0", GW_KEY_SLACK);
	key = c.keys.data;
	for (size_t i = 0; i < c.count; i++, key += strlen(key) + 1)
		c.items[i].key = key;
	*view = (struct gw_view_items){.items = c.items, .count = c.count, .keys = c.keys.data};
	if (r < 0)
		gw_view_items_done(view);
	else
		gw_key_sort(c.items, c.count);
	return r;
}

void
gw_view_items_done(struct gw_view_items *view)
{
	free(view->items);
	free(view->keys);
	*view = (struct gw_view_items){0};
}
