/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/fifo/delta_fifo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/fifo/delta_fifo_internal.h"

/* ---- keys ----------------------------------------------------------------- */

/* A known object's ref stays valid until Deltas of its own key are processed. */
const struct object *
delta_fifo_object(const struct delta_fifo *f, uint32_t ref)
{
	return object_at(&store_arena(f->store)->view, ref);
}

void
delta_fifo_discard(struct delta_fifo *f, uint32_t draft)
{
	draft_discard(store_arena(f->store), store_intern(f->store), (struct draft){draft});
}

size_t
delta_fifo_known(const struct delta_fifo *f)
{
	return store_resource(f->store, f->resource)->object_count;
}

uint32_t
delta_fifo_find(const struct delta_fifo *f, const char *ns, size_t ns_length, const char *name,
		size_t name_length)
{
	uint64_t hash = object_key_hash(store_arena(f->store)->header->hash_key, ns, ns_length, name,
					name_length);

	return store_find(f->store, f->resource, hash, ns, ns_length, name, name_length);
}

static uint32_t
known_find(const struct delta_fifo *f, const struct object *o)
{
	return store_find(f->store, f->resource, o->key_hash, object_namespace(o), o->namespace_length,
			  object_name(o), o->name_length);
}

uint32_t
delta_fifo_entry(const struct delta_fifo *f, const struct object *key)
{
	for (uint32_t i = delta_bucket(&f->table, key->key_hash); i != DELTA_NONE;
	     i = f->table.entries[i].bucket_next) {
		const struct object *o;

		if (f->table.entries[i].key_hash != key->key_hash)
			continue;
		o = delta_fifo_object(f, f->table.nodes[f->table.entries[i].first].ref);
		if (object_has_key(o, object_namespace(key), key->namespace_length, object_name(key),
				   key->name_length))
			return i;
	}
	return DELTA_NONE;
}

/* True if a node's ref is a draft, which must be taken or discarded. */
static bool
node_owns(const struct delta_node *n)
{
	return !(n->flags & NODE_BURIAL);
}

static void
node_free(struct delta_fifo *f, uint32_t i)
{
	f->listed -= (f->table.nodes[i].flags & NODE_LISTED) != 0;
	delta_node_free(&f->table, i);
}

/* ---- queueing ------------------------------------------------------------- */

uint32_t
delta_fifo_queue(struct delta_fifo *f, uint32_t entry, uint64_t key_hash, struct delta_node node,
		 struct delta_list *to)
{
	uint32_t i;

	if (entry != DELTA_NONE)
		node.found = FOUND_UNASKED;
	i = delta_node_new(&f->table, entry, key_hash, node);
	delta_list_append(&f->table, to, i);
	f->listed += (node.flags & NODE_LISTED) != 0;
	return f->table.nodes[i].entry;
}

struct delta_item
delta_fifo_look(struct delta_fifo *f, uint32_t draft)
{
	bool same;
	uint32_t found = store_look(f->store, f->resource, draft, &same);

	if (!same)
		return (struct delta_item){draft, found};
	delta_fifo_discard(f, draft);
	return (struct delta_item){found, found};
}

int
delta_fifo_put(struct delta_fifo *f, uint32_t draft)
{
	const struct object *o = delta_fifo_object(f, draft);
	uint32_t entry = delta_fifo_entry(f, o);
	struct delta_item item = {draft, FOUND_UNASKED};
	int r = delta_table_reserve(&f->table, 1, 1);

	if (r < 0) {
		delta_fifo_discard(f, draft);
		return r;
	}
	if (entry == DELTA_NONE)
		item = delta_fifo_look(f, draft);
	if (!delta_item_is_unchanged(item))
		delta_fifo_queue(
			f, entry, o->key_hash,
			(struct delta_node){.ref = draft, .found = item.found, .type = DELTA_CHANGED},
			&f->table.queue);
	return 0;
}

int
delta_fifo_delete(struct delta_fifo *f, uint32_t draft)
{
	const struct object *o = delta_fifo_object(f, draft);
	uint32_t entry = delta_fifo_entry(f, o), known = entry == DELTA_NONE ? known_find(f, o) : 0;
	int r = delta_table_reserve(&f->table, 1, 1);

	if (r < 0 || (entry == DELTA_NONE && !known))
		delta_fifo_discard(f, draft);
	else
		delta_fifo_queue(f, entry, o->key_hash,
				 (struct delta_node){.ref = draft, .found = known, .type = DELTA_DELETED},
				 &f->table.queue);
	return r;
}

int
delta_fifo_set_version(struct delta_fifo *f, const char *version, size_t length)
{
	if (length > sizeof(f->version))
		return -E2BIG;
	memcpy(f->version, version, length);
	f->version_length = (uint8_t)length;
	return 0;
}

const char *
delta_fifo_version(const struct delta_fifo *f, size_t *ret_length)
{
	*ret_length = f->version_length;
	return f->version;
}

/* ---- popping -------------------------------------------------------------- */

/*
 * Hand over a key's first Delta. The store is asked now if it was not yet; a draft that repeats the known
 * object is discarded.
 * Returns   process()'s result, or 0 if there was nothing to process
 */
static int
hand_over(struct delta_fifo *f, const struct delta_node *n, delta_process_fn *process, void *context)
{
	struct delta delta = {.type = (enum delta_type)n->type, .ref = n->ref, .found = n->found};

	if (n->flags & NODE_BURIAL) {
		delta.found = n->ref;
		delta.ref = 0;
	} else if (n->type == DELTA_DELETED && n->found == FOUND_UNASKED) {
		delta.found = known_find(f, delta_fifo_object(f, n->ref));
		if (!delta.found) {
			delta_fifo_discard(f, n->ref);
			return 0;
		}
	} else if (n->found == FOUND_UNASKED) {
		struct delta_item item = delta_fifo_look(f, n->ref);

		delta.found = item.found;
		if (delta_item_is_unchanged(item))
			return 0;
	}
	return process(context, &delta);
}

/* A copy of a key whose block may be freed. */
struct kept_key {
	uint64_t hash;
	size_t ns_length, name_length;
	char text[OBJECT_KEY_MAX];
};

static void
keep_key(const struct object *o, struct kept_key *ret)
{
	ret->hash = o->key_hash;
	ret->ns_length = o->namespace_length;
	ret->name_length = o->name_length;
	memcpy(ret->text, o->key, ret->ns_length + ret->name_length);
}

/* The key's first Delta was processed: move on to the next that changes something. */
static void
done_with(struct delta_fifo *f, uint32_t i, const struct kept_key *key)
{
	uint32_t entry = f->table.nodes[i].entry, next = f->table.nodes[i].later;

	node_free(f, i);
	for (; next != DELTA_NONE; next = f->table.nodes[next].later) {
		struct delta_node *n = &f->table.nodes[next];

		if (n->flags & NODE_BURIAL && !(n->flags & NODE_DEAD))
			n->ref = store_find(f->store, f->resource, key->hash, key->text, key->ns_length,
					    key->text + key->ns_length, key->name_length);
		if (n->ref && !(n->flags & NODE_DEAD))
			break;
		n->flags |= NODE_DEAD;
	}
	if (next == DELTA_NONE)
		delta_entry_free(&f->table, entry);
	else
		f->table.entries[entry].first = next;
}

/* Prefetch what is popped next: a list's drafts have not been read since they came. */
static void
expect_next(const struct delta_fifo *f)
{
	const struct delta_table *t = &f->table;
	uint32_t next = t->queue.head;

	if (next == DELTA_NONE)
		return;
	delta_node_expect(t, next);
	next = t->nodes[next].next;
	if (next != DELTA_NONE && t->nodes[next].ref != 0)
		delta_fifo_expect(f, t->nodes[next].ref);
}

int
delta_fifo_pop(struct delta_fifo *f, size_t max, delta_process_fn *process, void *context)
{
	struct delta_table *t = &f->table;
	struct kept_key key = {.hash = 0};
	int result = 0;

	while (t->queue.head != DELTA_NONE) {
		uint32_t i = t->queue.head;
		struct delta_node *n = &t->nodes[i];
		int r;

		if (n->flags & NODE_DEAD) {
			delta_list_take(t, &t->queue);
			node_free(f, i);
			continue;
		}
		if (max-- == 0)
			break;
		delta_list_take(t, &t->queue);
		if (t->entries[n->entry].first != i) { /* an earlier Delta of the key waits */
			delta_list_append(t, &t->waiting, i);
			continue;
		}
		expect_next(f);
		if (n->later != DELTA_NONE)
			keep_key(delta_fifo_object(f, n->ref), &key);
		r = hand_over(f, n, process, context);
		if (r < 0) {
			result = r;
			delta_list_append(t, &t->waiting, i);
		} else {
			done_with(f, i, &key);
		}
	}
	if (delta_fifo_is_empty(f))
		delta_table_reset(t);
	return result;
}

void
delta_fifo_retry(struct delta_fifo *f)
{
	delta_list_join(&f->table, &f->table.waiting, &f->table.queue);
	f->table.queue = f->table.waiting;
	f->table.waiting = DELTA_LIST_EMPTY;
}

/* ---- creating, freeing, counting ------------------------------------------ */

struct delta_fifo *
delta_fifo_new(struct store *store, unsigned resource)
{
	struct delta_fifo *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->store = store;
	f->resource = resource;
	delta_table_reset(&f->table);
	return f;
}

void
delta_fifo_free(struct delta_fifo *f)
{
	if (!f)
		return;
	delta_fifo_retry(f);
	for (uint32_t i = f->table.queue.head; i != DELTA_NONE; i = f->table.nodes[i].next)
		if (node_owns(&f->table.nodes[i]))
			delta_fifo_discard(f, f->table.nodes[i].ref);
	delta_table_done(&f->table);
	free(f);
}

size_t
delta_fifo_queued(const struct delta_fifo *f)
{
	return f->table.queue.count;
}

size_t
delta_fifo_waiting(const struct delta_fifo *f)
{
	return f->table.waiting.count;
}

bool
delta_fifo_is_listing(const struct delta_fifo *f)
{
	return f->listed > 0;
}
