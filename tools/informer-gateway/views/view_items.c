/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses an index for a hint, collects the objects in runs, and merges the runs. */
#include "tools/informer-gateway/views/view_items.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_BYTES (sizeof(struct gw_item) + 64) /* one item with its key, estimated */

/* ---- choosing objects -------------------------------------------------------- */

/* Begin with the index that selects the fewest objects, or with all objects. *ret_count: at most so many. */
static int
start(struct gw_items *items, uint64_t *ret_count)
{
	const struct informer_snapshot *snapshot = &items->reading->snapshot;
	struct informer_resource *resource = items->reading->resource;
	const struct gw_hint *hint = &items->hint;
	/* pods without a node are in no index */
	bool valued = hint->value && hint->value[0];
	const char *field = valued ? items->entry->resource->fields[hint->field].label : "";
	const struct {
		const char *index, *value;
	} ways[] = {{!strcmp(field, "spec.nodeName") ? "nodeName" : NULL, hint->value},
		    {"labels", hint->label},
		    {"namespace", hint->namespace_}},
	  *best = NULL;
	struct informer_resource_info info = {.size = sizeof(info)};
	uint64_t count;
	int r = 0;

	/* if libinformer refuses a selector that the API accepts, only the query selects */
	if (hint->labels)
		r = informer_label_selector_compile(items->entry->arena->reads, hint->labels,
						    strlen(hint->labels), &items->selector, NULL);
	if (r == 0 || r == INFORMER_E_SYNTAX)
		r = informer_resource_info(snapshot, resource, &info);
	if (r < 0)
		return r;
	*ret_count = info.object_count;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (!ways[i].index || !ways[i].value ||
		    informer_count_by_index(snapshot, resource, ways[i].index, ways[i].value,
					    strlen(ways[i].value), &count) < 0 ||
		    count >= *ret_count)
			continue;
		*ret_count = count;
		best = &ways[i];
	}
	return best ? informer_by_index(snapshot, resource, best->index, best->value, strlen(best->value),
					&items->it)
		    : informer_list(snapshot, resource, &items->it);
}

static bool
is(const char *text, const char *data, size_t length)
{
	return !text || (strlen(text) == length && !memcmp(text, data, length));
}

/*
 * Returns 1, 0 or a negative error. If the resource has several entries, only objects of this entry are
 * wanted.
 */
static int
is_wanted(const struct gw_items *items, const struct informer_object *object)
{
	const char *ns = "", *name = "";
	size_t ns_length = 0, length = 0;
	int r;

	if (informer_object_position(object) != items->entry->position)
		return 0;
	r = informer_object_namespace(object, &ns, &ns_length);
	if (r == 0)
		r = informer_object_name(object, &name, &length);
	if (r < 0)
		return r;
	if (!is(items->hint.namespace_, ns, ns_length) || !is(items->hint.name, name, length))
		return 0;
	return items->selector ? informer_label_selector_matches(items->selector, object) : 1;
}

/* Look up the named object. */
static int
look_up(const struct gw_items *items, struct informer_object *ret_object)
{
	const char *ns = items->hint.namespace_ ? items->hint.namespace_ : "", *name = items->hint.name;
	int r = informer_get(&items->reading->snapshot, items->reading->resource, ns, strlen(ns), name,
			     strlen(name), ret_object);

	return r == INFORMER_E_NOT_FOUND ? 0 : r < 0 ? r : 1;
}

/* As informer_next(). */
static int
next_object(struct gw_items *items, struct informer_object *ret_object)
{
	bool first = !items->begun;

	items->begun = true;
	if (gw_hint_names_one(&items->hint, items->entry->resource))
		return first ? look_up(items, ret_object) : 0;
	return informer_next(&items->it, ret_object);
}

/* ---- filling ----------------------------------------------------------------- */

static int
by_key(const void *a, const void *b)
{
	return strcmp(((const struct gw_item *)a)->key, ((const struct gw_item *)b)->key);
}

/* Add a run. The buffer of keys moves while it grows, so item.key is set here. */
static void
add_run(struct gw_items *items, struct gw_run run, struct api_buf *keys)
{
	const char *key;

	run.key_bytes = keys->len;
	key = run.keys = api_buf_take(keys);

	for (size_t i = 0; i < run.count; i++, key += strlen(key) + 1)
		run.items[i].key = key;
	qsort(run.items, run.count, sizeof(*run.items), by_key);
	run.items = api_realloc(run.items, run.count * sizeof(*run.items));
	items->runs = api_realloc(items->runs, (items->count + 1) * sizeof(*items->runs));
	items->runs[items->count++] = run;
}

static int
collect(const struct gw_items *items, const struct informer_object *object, struct gw_run *run,
	struct api_buf *keys)
{
	size_t ns_length;
	int r = is_wanted(items, object);

	if (r <= 0)
		return r;
	r = gw_object_put_key(object, keys, &ns_length);
	if (r == 0)
		run->items[run->count++].object = *object;
	return r;
}

/* Update the share to the memory in use. */
static void
count_held(struct gw_items *items)
{
	struct api_share *share = items->entry->arena->options.views;

	api_share_give_back(share, items->held);
	items->held = 0;
	for (size_t i = 0; i < items->count; i++)
		items->held += items->runs[i].count * sizeof(struct gw_item) + items->runs[i].key_bytes;
	api_share_add(share, items->held);
}

int
gw_items_fill(struct gw_items *items)
{
	_cleanup_(api_buf_done) struct api_buf keys = {0};
	struct informer_object object;
	struct gw_run run = {0};
	int more = 1, r = 0;

	if (items->state != -EAGAIN)
		return items->state;
	run.items = api_alloc(GW_SLICE * sizeof(*run.items));
	for (unsigned n = 0; n < GW_SLICE && r == 0 && (more = next_object(items, &object)) > 0; n++)
		r = collect(items, &object, &run, &keys);
	if (run.count > 0)
		add_run(items, run, &keys);
	else
		free(run.items);
	items->state = r < 0 ? r : more > 0 ? -EAGAIN : more;
	if (items->state != -EAGAIN)
		count_held(items);
	return items->state;
}

void
gw_items_free(struct gw_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		free(items->runs[i].items);
		free(items->runs[i].keys);
	}
	free(items->runs);
	api_share_give_back(items->entry->arena->options.views, items->held);
	informer_label_selector_free(items->selector);
	gw_hint_done(&items->hint);
	free(items);
}

int
gw_items_new(struct gw_entry *entry, const struct gw_reading *reading, struct gw_hint *hint,
	     struct gw_items **ret_items)
{
	struct gw_items *items = api_alloc(sizeof(*items));
	uint64_t count = 1;
	int r = 0;

	*items = (struct gw_items){.entry = entry, .reading = reading, .hint = *hint, .state = -EAGAIN};
	*hint = (struct gw_hint){0};
	if (!gw_hint_names_one(&items->hint, entry->resource))
		r = start(items, &count);
	if (r == 0 && !api_share_take(entry->arena->options.views, count * ITEM_BYTES))
		r = -ENOBUFS;
	if (r < 0) {
		gw_items_free(items);
		return r;
	}
	items->held = count * ITEM_BYTES;
	*ret_items = items;
	return 0;
}

/* ---- reading ----------------------------------------------------------------- */

static size_t
lower_bound(const struct gw_run *run, const char *key)
{
	size_t low = 0, high = run->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(run->items[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Restore the heap's order below element i. */
static void
sink(struct gw_items_place *place, size_t i)
{
	struct gw_run moved;

	for (size_t child; (child = 2 * i + 1) < place->count; i = child) {
		if (child + 1 < place->count &&
		    by_key(place->rest[child + 1].items, place->rest[child].items) < 0)
			child++;
		if (by_key(place->rest[i].items, place->rest[child].items) <= 0)
			return;
		moved = place->rest[i];
		place->rest[i] = place->rest[child];
		place->rest[child] = moved;
	}
}

void
gw_items_seek(const struct gw_items *items, const char *key, struct gw_items_place *place)
{
	place->rest = api_realloc(place->rest, (items->count + 1) * sizeof(*place->rest));
	place->count = 0;
	for (size_t i = 0; i < items->count; i++) {
		struct gw_run run = items->runs[i];
		size_t at = lower_bound(&run, key);

		run.items += at;
		run.count -= at;
		if (run.count > 0)
			place->rest[place->count++] = run;
	}
	for (size_t i = place->count / 2; i-- > 0;)
		sink(place, i);
}

const struct gw_item *
gw_items_next(struct gw_items_place *place)
{
	struct gw_run *top = place->rest;
	const struct gw_item *item;

	if (place->count == 0)
		return NULL;
	item = top->items++;
	if (--top->count == 0)
		*top = place->rest[--place->count];
	sink(place, 0);
	return item;
}

size_t
gw_items_left(const struct gw_items_place *place, const char *prefix)
{
	size_t length = strlen(prefix), count = 0;

	for (size_t i = 0; i < place->count; i++) {
		const struct gw_run *run = &place->rest[i];

		for (size_t at = lower_bound(run, prefix);
		     at < run->count && !strncmp(run->items[at].key, prefix, length); at++)
			count++;
	}
	return count;
}

void
gw_items_place_done(struct gw_items_place *place)
{
	free(place->rest);
}
