/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/fifo/delta_fifo_replace.h"

#include <errno.h>
#include <stdlib.h>

#include "writer/fifo/delta_fifo_internal.h"

#define AHEAD 8u /* items of a list, between prefetch and use */

struct delta_item
delta_fifo_stage(struct delta_fifo *f, uint32_t draft)
{
	/* If Deltas of the key are queued, the known object may change before the list is complete. */
	if (!delta_fifo_is_empty(f))
		return (struct delta_item){draft, FOUND_UNASKED};
	return delta_fifo_look(f, draft);
}

void
delta_fifo_unstage(struct delta_fifo *f, struct delta_item item)
{
	if (!delta_item_is_unchanged(item))
		delta_fifo_discard(f, item.ref);
}

static bool
ends_deleted(const struct delta_fifo *f, uint32_t entry)
{
	return f->table.nodes[f->table.entries[entry].last].type == DELTA_DELETED;
}

/* Queue a burial behind the key's queued Deltas; without any, it buries this known object. */
static uint32_t
bury(struct delta_fifo *f, uint32_t entry, uint64_t key_hash, uint32_t known)
{
	if (entry != DELTA_NONE && ends_deleted(f, entry))
		return entry;
	return delta_fifo_queue(f, entry, key_hash,
				(struct delta_node){.ref = entry == DELTA_NONE ? known : 0,
						    .type = DELTA_DELETED,
						    .flags = NODE_BURIAL | NODE_LISTED},
				&f->table.queue);
}

/*
 * The object that the store will have under the item's key after all queued Deltas, if it has another UID;
 * else 0.
 */
static uint32_t
other_object(const struct delta_fifo *f, uint32_t entry, struct delta_item item)
{
	uint32_t last;

	if (entry == DELTA_NONE)
		return item.found & FOUND_NEW ? found_known(item.found) : 0;
	last = f->table.nodes[f->table.entries[entry].last].ref;
	return ends_deleted(f, entry) ||
			       object_has_uid_of(delta_fifo_object(f, last), delta_fifo_object(f, item.ref))
		       ? 0
		       : last;
}

/*
 * Append an item to the items. If another object had its name, queue that object's burial in front of all
 * items.
 */
static void
queue_item(struct delta_fifo *f, struct delta_item item, struct delta_list *items)
{
	const struct object *o = delta_fifo_object(f, item.ref);
	uint32_t entry, other;
	bool again;

	if (delta_item_is_unchanged(item))
		return;
	entry = delta_fifo_entry(f, o);
	again = entry != DELTA_NONE && f->table.entries[entry].list == (uint32_t)f->lists;
	/* A list with a key twice does not imply a deletion; the store handles it in its place. */
	other = again ? 0 : other_object(f, entry, item);
	if (other)
		entry = bury(f, entry, o->key_hash, other);
	entry = delta_fifo_queue(
		f, entry, o->key_hash,
		(struct delta_node){
			.ref = item.ref, .found = item.found, .type = DELTA_REPLACED, .flags = NODE_LISTED},
		items);
	f->table.entries[entry].list = (uint32_t)f->lists;
}

/* Bury keys that the queue has and the list lacks. */
static void
bury_queued(struct delta_fifo *f, const struct delta_list *l)
{
	for (uint32_t i = l->head; i != DELTA_NONE; i = f->table.nodes[i].next) {
		const struct delta_node *n = &f->table.nodes[i];

		if (!(n->flags & NODE_DEAD) && f->table.entries[n->entry].list != (uint32_t)f->lists)
			bury(f, n->entry, f->table.entries[n->entry].key_hash, 0);
	}
}

/* The known objects that the list has, by ordinal. */
struct met {
	uint8_t *ordinals;
	size_t objects; /* number of set bits */
	size_t items;   /* items of the list that change something */
	size_t others;  /* items that may bury another object */
};

/* Ask the store about each item, and mark the known object. */
static void
meet(struct delta_fifo *f, struct delta_item *items, size_t count, struct met *met)
{
	for (size_t i = 0; i < count; i++) {
		struct delta_item *item = &items[i];
		uint32_t known, ordinal;

		if (item->found == FOUND_UNASKED &&
		    delta_fifo_entry(f, delta_fifo_object(f, item->ref)) == DELTA_NONE)
			*item = delta_fifo_look(f, item->ref);
		if (i + AHEAD < count && found_known(items[i + AHEAD].found))
			__builtin_prefetch(store_arena(f->store)->view.base +
					   ref_offset(found_known(items[i + AHEAD].found)));
		met->items += !delta_item_is_unchanged(*item);
		met->others += item->found == FOUND_UNASKED || item->found > FOUND_NEW;
		known = found_known(item->found);
		if (!known)
			continue;
		ordinal = delta_fifo_object(f, known)->ordinal;
		met->objects += !(met->ordinals[ordinal / 8] & 1u << ordinal % 8);
		met->ordinals[ordinal / 8] |= (uint8_t)(1u << ordinal % 8);
	}
}

/* Bury each known object that the list lacks and that has no Delta queued. */
static void
bury_known(struct delta_fifo *f, const struct met *met)
{
	uint64_t end = store_resource(f->store, f->resource)->next_ordinal;

	for (uint64_t ordinal = 0; ordinal < end; ordinal++) {
		uint32_t ref = met->ordinals[ordinal / 8] & 1u << ordinal % 8
				       ? 0
				       : store_by_ordinal(f->store, f->resource, (uint32_t)ordinal);
		const struct object *o = ref ? delta_fifo_object(f, ref) : NULL;

		if (o && delta_fifo_entry(f, o) == DELTA_NONE)
			bury(f, DELTA_NONE, o->key_hash, ref);
	}
}

int
delta_fifo_replace(struct delta_fifo *f, struct delta_item *items, size_t count)
{
	const struct resource *known = store_resource(f->store, f->resource);
	struct delta_list listed = DELTA_LIST_EMPTY;
	struct met met = {.ordinals = calloc((size_t)known->next_ordinal / 8 + 1, 1)};
	size_t gone;
	int r;

	if (!met.ordinals)
		return -ENOMEM;
	meet(f, items, count, &met);
	gone = (size_t)known->object_count - met.objects;
	r = delta_table_reserve(&f->table, met.items + gone,
				met.items + met.others + gone + delta_fifo_queued(f) + delta_fifo_waiting(f));
	if (r == 0) {
		f->lists++;
		for (size_t i = 0; i < count; i++) {
			if (i + AHEAD < count)
				delta_fifo_expect(f, items[i + AHEAD].ref);
			queue_item(f, items[i], &listed);
		}
		bury_queued(f, &f->table.queue);
		bury_queued(f, &f->table.waiting);
		bury_known(f, &met);
		delta_list_join(&f->table, &f->table.queue, &listed);
	}
	free(met.ordinals);
	return r;
}

static int
compare_hashes(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

int
delta_fifo_bury_others(struct delta_fifo *f, uint64_t *hashes, size_t count, size_t *ret_count)
{
	uint64_t end = store_resource(f->store, f->resource)->next_ordinal;
	int r = delta_fifo_set_version(f, "", 0);

	*ret_count = 0;
	if (count > 0)
		qsort(hashes, count, sizeof(hashes[0]), compare_hashes);
	for (uint64_t ordinal = 0; ordinal < end && r == 0; ordinal++) {
		uint32_t ref = store_by_ordinal(f->store, f->resource, (uint32_t)ordinal);
		const struct object *o = ref ? delta_fifo_object(f, ref) : NULL;

		if (!o || delta_fifo_entry(f, o) != DELTA_NONE ||
		    (count > 0 && bsearch(&o->key_hash, hashes, count, sizeof(hashes[0]), compare_hashes)))
			continue;
		r = delta_table_reserve(&f->table, 1, 1);
		if (r == 0) {
			bury(f, DELTA_NONE, o->key_hash, ref);
			*ret_count += 1;
		}
	}
	return r;
}
