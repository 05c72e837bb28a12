/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeltaFIFO: what the Deltas mean. They are kept in a delta_table.
 *
 * Invariants
 *   - every node stands in one of two lists, `queue` and `waiting`, but for the one that process() is looking
 *     at; those of a key in both in the order of their arrival, and none in `queue` before one in `waiting`
 *     has had its turn
 *   - a key's first node is not dead and its ref is not 0: the key is read from there
 *   - a node's ref is a draft; a burial's is the known object when it stands first of its key, else 0, for a
 *     node before it changes what is known
 *   - what a node found is true: it is asked when the node is queued and stands first of its key, or when it
 *     is popped
 */
#include "writer/fifo/delta_fifo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/root.h"
#include "writer/fifo/delta_table.h"

#define NONE DELTA_NONE
#define AHEAD 8u /* so many items of a list are asked for ahead */

enum node_flags {
	NODE_BURIAL = 1, /* a delete that was not seen */
	NODE_LISTED = 2, /* of a list */
	NODE_DEAD = 4,   /* a burial that says nothing any more; its entry may be gone */
};

struct delta_fifo {
	struct store *store;
	unsigned resource;
	struct delta_table table;
	size_t listed; /* nodes with NODE_LISTED */
	uint64_t lists;

	uint8_t version_length;
	char version[RESOURCE_VERSION_MAX];
};

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

/* An object will be looked at soon: its header, its key and the beginning of its body. */
static void
expect(const struct delta_fifo *f, uint32_t ref)
{
	const uint8_t *at = store_arena(f->store)->view.base + ref_offset(ref);

	for (unsigned i = 0; i < 8; i++)
		__builtin_prefetch(at + (size_t)i * 64);
}

static uint32_t
known_find(const struct delta_fifo *f, const struct object *o)
{
	return store_find(f->store, f->resource, o->key_hash, object_namespace(o), o->namespace_length,
			  object_name(o), o->name_length);
}

static uint32_t
entry_find(const struct delta_fifo *f, const struct object *key)
{
	for (uint32_t i = delta_bucket(&f->table, key->key_hash); i != NONE;
	     i = f->table.entries[i].bucket_next) {
		const struct object *o;

		if (f->table.entries[i].key_hash != key->key_hash)
			continue;
		o = delta_fifo_object(f, f->table.nodes[f->table.entries[i].first].ref);
		if (object_has_key(o, object_namespace(key), key->namespace_length, object_name(key),
				   key->name_length))
			return i;
	}
	return NONE;
}

/* Whether a node's ref is a draft, which somebody must take or discard. */
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

/* After delta_table_reserve(&f->table, 1, 1). entry is entry_find()'s answer; returns that of the key. */
static uint32_t
queue_delta(struct delta_fifo *f, uint32_t entry, uint64_t key_hash, struct delta_node node,
	    struct delta_list *to)
{
	uint32_t i;

	if (entry != NONE)
		node.found = FOUND_UNASKED;
	i = delta_node_new(&f->table, entry, key_hash, node);
	delta_list_append(&f->table, to, i);
	f->listed += (node.flags & NODE_LISTED) != 0;
	return f->table.nodes[i].entry;
}

/* What the store knows of a draft's key. A draft that repeats it gives way to the known object. */
static struct delta_item
look(struct delta_fifo *f, uint32_t draft)
{
	bool same;
	uint32_t found = store_look(f->store, f->resource, draft, &same);

	if (!same)
		return (struct delta_item){draft, found};
	delta_fifo_discard(f, draft);
	return (struct delta_item){found, found};
}

static bool
item_is_unchanged(struct delta_item item)
{
	return item.ref == item.found;
}

int
delta_fifo_put(struct delta_fifo *f, uint32_t draft)
{
	const struct object *o = delta_fifo_object(f, draft);
	uint32_t entry = entry_find(f, o);
	struct delta_item item = {draft, FOUND_UNASKED};
	int r = delta_table_reserve(&f->table, 1, 1);

	if (r < 0) {
		delta_fifo_discard(f, draft);
		return r;
	}
	if (entry == NONE)
		item = look(f, draft);
	if (!item_is_unchanged(item))
		queue_delta(f, entry, o->key_hash,
			    (struct delta_node){.ref = draft, .found = item.found, .type = DELTA_CHANGED},
			    &f->table.queue);
	return 0;
}

int
delta_fifo_delete(struct delta_fifo *f, uint32_t draft)
{
	const struct object *o = delta_fifo_object(f, draft);
	uint32_t entry = entry_find(f, o), known = entry == NONE ? known_find(f, o) : 0;
	int r = delta_table_reserve(&f->table, 1, 1);

	if (r < 0 || (entry == NONE && !known))
		delta_fifo_discard(f, draft);
	else
		queue_delta(f, entry, o->key_hash,
			    (struct delta_node){.ref = draft, .found = known, .type = DELTA_DELETED},
			    &f->table.queue);
	return r;
}

struct delta_item
delta_fifo_stage(struct delta_fifo *f, uint32_t draft)
{
	/* With something queued, what is known now need not be what is known when the list is whole. */
	if (!delta_fifo_is_empty(f))
		return (struct delta_item){draft, FOUND_UNASKED};
	return look(f, draft);
}

void
delta_fifo_unstage(struct delta_fifo *f, struct delta_item item)
{
	if (!item_is_unchanged(item))
		delta_fifo_discard(f, item.ref);
}

static bool
ends_deleted(const struct delta_fifo *f, uint32_t entry)
{
	return f->table.nodes[f->table.entries[entry].last].type == DELTA_DELETED;
}

/* A burial, behind what is queued of the key; of this known object, when nothing is. */
static uint32_t
bury(struct delta_fifo *f, uint32_t entry, uint64_t key_hash, uint32_t known)
{
	if (entry != NONE && ends_deleted(f, entry))
		return entry;
	return queue_delta(f, entry, key_hash,
			   (struct delta_node){.ref = entry == NONE ? known : 0,
					       .type = DELTA_DELETED,
					       .flags = NODE_BURIAL | NODE_LISTED},
			   &f->table.queue);
}

/*
 * What will be known under the item's key when all that is queued was processed, if that is another object;
 * else 0.
 */
static uint32_t
other_object(const struct delta_fifo *f, uint32_t entry, struct delta_item item)
{
	uint32_t last;

	if (entry == NONE)
		return item.found & FOUND_NEW ? found_known(item.found) : 0;
	last = f->table.nodes[f->table.entries[entry].last].ref;
	return ends_deleted(f, entry) ||
			       object_has_uid_of(delta_fifo_object(f, last), delta_fifo_object(f, item.ref))
		       ? 0
		       : last;
}

/* An item goes to the items, and in front of all of them the burial of another object that had its name. */
static void
queue_item(struct delta_fifo *f, struct delta_item item, struct delta_list *items)
{
	const struct object *o = delta_fifo_object(f, item.ref);
	uint32_t entry, other;
	bool again;

	if (item_is_unchanged(item))
		return;
	entry = entry_find(f, o);
	again = entry != NONE && f->table.entries[entry].list == (uint32_t)f->lists;
	/* What a list has twice is no other object's end; the store tells of it in its place, if it is. */
	other = again ? 0 : other_object(f, entry, item);
	if (other)
		entry = bury(f, entry, o->key_hash, other);
	entry = queue_delta(
		f, entry, o->key_hash,
		(struct delta_node){
			.ref = item.ref, .found = item.found, .type = DELTA_REPLACED, .flags = NODE_LISTED},
		items);
	f->table.entries[entry].list = (uint32_t)f->lists;
}

/* What only the queue has, or the store and the queue, and the list has not. */
static void
bury_queued(struct delta_fifo *f, const struct delta_list *l)
{
	for (uint32_t i = l->head; i != NONE; i = f->table.nodes[i].next) {
		const struct delta_node *n = &f->table.nodes[i];

		if (!(n->flags & NODE_DEAD) && f->table.entries[n->entry].list != (uint32_t)f->lists)
			bury(f, n->entry, f->table.entries[n->entry].key_hash, 0);
	}
}

/* What the list has of the known objects, by ordinal. */
struct met {
	uint8_t *ordinals;
	size_t objects; /* so many bits are set */
	size_t items;   /* of the list, that say something new */
	size_t others;  /* and of these: so many may bury another object */
};

/* Ask what is known of each item, and note it. */
static void
meet(struct delta_fifo *f, struct delta_item *items, size_t count, struct met *met)
{
	for (size_t i = 0; i < count; i++) {
		struct delta_item *item = &items[i];
		uint32_t known, ordinal;

		if (item->found == FOUND_UNASKED && entry_find(f, delta_fifo_object(f, item->ref)) == NONE)
			*item = look(f, item->ref);
		if (i + AHEAD < count && found_known(items[i + AHEAD].found))
			__builtin_prefetch(store_arena(f->store)->view.base +
					   ref_offset(found_known(items[i + AHEAD].found)));
		met->items += !item_is_unchanged(*item);
		met->others += item->found == FOUND_UNASKED || item->found > FOUND_NEW;
		known = found_known(item->found);
		if (!known)
			continue;
		ordinal = delta_fifo_object(f, known)->ordinal;
		met->objects += !(met->ordinals[ordinal / 8] & 1u << ordinal % 8);
		met->ordinals[ordinal / 8] |= (uint8_t)(1u << ordinal % 8);
	}
}

/* A known object that the list has not, and that has nothing queued by now. */
static void
bury_known(struct delta_fifo *f, const struct met *met)
{
	uint64_t end = store_resource(f->store, f->resource)->next_ordinal;

	for (uint64_t ordinal = 0; ordinal < end; ordinal++) {
		uint32_t ref = met->ordinals[ordinal / 8] & 1u << ordinal % 8
				       ? 0
				       : store_by_ordinal(f->store, f->resource, (uint32_t)ordinal);
		const struct object *o = ref ? delta_fifo_object(f, ref) : NULL;

		if (o && entry_find(f, o) == NONE)
			bury(f, NONE, o->key_hash, ref);
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
				expect(f, items[i + AHEAD].ref);
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

		if (!o || entry_find(f, o) != NONE ||
		    (count > 0 &&
		     bsearch(&o->key_hash, hashes, count, sizeof(hashes[0]), compare_hashes)))
			continue;
		r = delta_table_reserve(&f->table, 1, 1);
		if (r == 0) {
			bury(f, NONE, o->key_hash, ref);
			*ret_count += 1;
		}
	}
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
 * Hand over a key's first Delta. What was not asked yet is asked now; one that says nothing is discarded.
 * Returns   process()'s result, 0 where there was nothing to process
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
		struct delta_item item = look(f, n->ref);

		delta.found = item.found;
		if (item_is_unchanged(item))
			return 0;
	}
	return process(context, &delta);
}

/* A key, when the block that it stands in may be given back. */
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

/* The key's first Delta was processed: on to the next that says something. */
static void
done_with(struct delta_fifo *f, uint32_t i, const struct kept_key *key)
{
	uint32_t entry = f->table.nodes[i].entry, next = f->table.nodes[i].later;

	node_free(f, i);
	for (; next != NONE; next = f->table.nodes[next].later) {
		struct delta_node *n = &f->table.nodes[next];

		if (n->flags & NODE_BURIAL && !(n->flags & NODE_DEAD))
			n->ref = store_find(f->store, f->resource, key->hash, key->text, key->ns_length,
					    key->text + key->ns_length, key->name_length);
		if (n->ref && !(n->flags & NODE_DEAD))
			break;
		n->flags |= NODE_DEAD;
	}
	if (next == NONE)
		delta_entry_free(&f->table, entry);
	else
		f->table.entries[entry].first = next;
}

/* What is popped soon: a list's drafts have not been looked at since they came. */
static void
expect_next(const struct delta_fifo *f)
{
	const struct delta_table *t = &f->table;
	uint32_t next = t->queue.head;

	if (next == NONE)
		return;
	delta_node_expect(t, next);
	next = t->nodes[next].next;
	if (next != NONE && t->nodes[next].ref != 0)
		expect(f, t->nodes[next].ref);
}

int
delta_fifo_pop(struct delta_fifo *f, size_t max, delta_process_fn *process, void *context)
{
	struct delta_table *t = &f->table;
	struct kept_key key = {.hash = 0};
	int result = 0;

	while (t->queue.head != NONE) {
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
		if (t->entries[n->entry].first != i) { /* one before it waits */
			delta_list_append(t, &t->waiting, i);
			continue;
		}
		expect_next(f);
		if (n->later != NONE)
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

/* ---- the rest ------------------------------------------------------------- */

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
	for (uint32_t i = f->table.queue.head; i != NONE; i = f->table.nodes[i].next)
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
