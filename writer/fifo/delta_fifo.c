/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeltaFIFO: what the Deltas mean. They are kept in a delta_table.
 *
 * Invariants
 *   - every entry stands in the hash table and in one of two lists, `queue` and `waiting`, but for the one
 *     that process() is looking at
 *   - an entry has at least one node, and its first node's ref is not 0: the key is read from there
 */
#include "writer/fifo/delta_fifo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/root.h"
#include "writer/fifo/delta_table.h"

#define NONE	     DELTA_NONE
#define LOCAL_DELTAS 16u

enum entry_flags {
	ENTRY_IN_LIST = 1,	/* only during delta_fifo_replace(): an item of the list */
	ENTRY_LISTED = 2,	/* a list's Delta is among its nodes */
};

enum node_flags { NODE_UNCHANGED = 1, NODE_TOMBSTONE = 2 };

struct delta_fifo {
	struct known_objects known;
	struct delta_table table;
	size_t listed;		/* entries with ENTRY_LISTED */
	uint64_t lists;

	uint8_t version_length;
	char version[RESOURCE_VERSION_MAX];
	char key[OBJECT_KEY_MAX]; /* of the entry that process() is looking at */
};

/* ---- keys ----------------------------------------------------------------- */

static const struct object *
known_object(const struct delta_fifo *f, uint32_t ref)
{
	return f->known.object(f->known.context, ref);
}

static uint32_t
known_find(const struct delta_fifo *f, const struct object *o)
{
	return f->known.find(f->known.context, o->key_hash, object_namespace(o), o->namespace_length,
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
		o = known_object(f, f->table.nodes[f->table.entries[i].first].ref);
		if (o && object_has_key(o, object_namespace(key), key->namespace_length, object_name(key),
					key->name_length))
			return i;
	}
	return NONE;
}

/* Whether a node's ref is a draft, which somebody must take or discard. */
static bool
node_owns(const struct delta_node *n)
{
	return n->type != DELTA_SYNC && !(n->flags & (NODE_UNCHANGED | NODE_TOMBSTONE));
}

static void
entry_flag(struct delta_fifo *f, uint32_t i, unsigned flag)
{
	struct delta_entry *e = &f->table.entries[i];

	f->listed += flag == ENTRY_LISTED && !(e->flags & flag);
	e->flags |= flag;
}

/* ---- queueing ------------------------------------------------------------- */

/* Two DELETED at the end of an entry become one. */
static bool
merge_deleted(struct delta_fifo *f, struct delta_entry *e, unsigned flags, uint32_t ref)
{
	struct delta_node *last = &f->table.nodes[e->last];

	if (last->type != DELTA_DELETED)
		return false;
	if (flags & NODE_TOMBSTONE)
		return true;
	if (node_owns(last))
		f->known.discard(f->known.context, last->ref);
	last->ref = ref;
	last->flags = 0;
	return true;
}

/* After delta_table_reserve(&f->table, 1, 1). i is entry_find()'s answer; returns the entry. */
static uint32_t
queue_delta(struct delta_fifo *f, uint32_t i, uint64_t key_hash, enum delta_type type, unsigned flags,
	    uint32_t ref, uint32_t found)
{
	uint32_t node;

	if (i != NONE && type == DELTA_DELETED && merge_deleted(f, &f->table.entries[i], flags, ref))
		return i;
	node = delta_node_new(&f->table, type, flags, ref, i == NONE ? found : FOUND_UNASKED);
	if (i == NONE)
		return delta_entry_new(&f->table, key_hash, node);
	delta_node_append(&f->table, i, node);
	return i;
}

/* What the store knows of a draft's key. A draft that repeats it gives way to the known object. */
static struct delta_item
look(const struct delta_fifo *f, uint32_t draft)
{
	bool same;
	uint32_t found = f->known.look(f->known.context, draft, &same);

	if (!same)
		return (struct delta_item){draft, found};
	f->known.discard(f->known.context, draft);
	return (struct delta_item){found, found};
}

static bool
item_is_unchanged(struct delta_item item)
{
	return item.ref == item.found;
}

/* A new state; what is known says nothing of it while something is queued for its key. */
static uint32_t
queue_state(struct delta_fifo *f, uint32_t entry, uint64_t key_hash, enum delta_type type,
	    struct delta_item item)
{
	if (entry == NONE && item.found == FOUND_UNASKED)
		item = look(f, item.ref);
	return queue_delta(f, entry, key_hash, type, item_is_unchanged(item) ? NODE_UNCHANGED : 0, item.ref,
			   item.found);
}

static int
queue_draft(struct delta_fifo *f, enum delta_type type, uint32_t draft)
{
	const struct object *o = known_object(f, draft);
	uint32_t entry;
	int r;

	if (!o)
		return -EBADMSG;
	r = delta_table_reserve(&f->table, 1, 1);
	if (r < 0)
		return r;
	entry = entry_find(f, o);
	if (type != DELTA_DELETED)
		queue_state(f, entry, o->key_hash, type, (struct delta_item){draft, FOUND_UNASKED});
	else if (entry == NONE && known_find(f, o) == 0)
		f->known.discard(f->known.context, draft);
	else
		queue_delta(f, entry, o->key_hash, type, 0, draft, FOUND_UNASKED);
	return 0;
}

int
delta_fifo_add(struct delta_fifo *f, uint32_t draft)
{
	return queue_draft(f, DELTA_ADDED, draft);
}

int
delta_fifo_update(struct delta_fifo *f, uint32_t draft)
{
	return queue_draft(f, DELTA_UPDATED, draft);
}

int
delta_fifo_delete(struct delta_fifo *f, uint32_t draft)
{
	return queue_draft(f, DELTA_DELETED, draft);
}

struct delta_item
delta_fifo_stage(struct delta_fifo *f, uint32_t draft)
{
	/* With something queued, what is known now need not be what is known when the list is whole. */
	if (!known_object(f, draft) || !delta_fifo_is_empty(f))
		return (struct delta_item){draft, FOUND_UNASKED};
	return look(f, draft);
}

void
delta_fifo_unstage(struct delta_fifo *f, struct delta_item item)
{
	if (!item_is_unchanged(item))
		f->known.discard(f->known.context, item.ref);
}

static void
queue_item(struct delta_fifo *f, struct delta_item item)
{
	const struct object *o = known_object(f, item.ref);
	uint32_t entry = queue_state(f, entry_find(f, o), o->key_hash, DELTA_REPLACED, item);

	entry_flag(f, entry, ENTRY_IN_LIST);
	entry_flag(f, entry, ENTRY_LISTED);
}

/* What only the queue has, or the store and the queue, and the list has not. */
static void
bury_queued(struct delta_fifo *f, const struct delta_list *l)
{
	for (uint32_t i = l->head; i != NONE; i = f->table.entries[i].next) {
		if (f->table.entries[i].flags & ENTRY_IN_LIST) {
			f->table.entries[i].flags &= ~(unsigned)ENTRY_IN_LIST;
			continue;
		}
		queue_delta(f, i, f->table.entries[i].key_hash, DELTA_DELETED, NODE_TOMBSTONE, 0,
			    FOUND_UNASKED);
		entry_flag(f, i, ENTRY_LISTED);
	}
}

/* A known object that has nothing queued by now is not in the list. */
static void
bury_known(void *visitor, uint32_t ref)
{
	struct delta_fifo *f = visitor;
	const struct object *o = known_object(f, ref);
	uint32_t entry;

	if (!o || entry_find(f, o) != NONE || delta_table_reserve(&f->table, 1, 1) < 0)
		return;
	entry = queue_delta(f, NONE, o->key_hash, DELTA_DELETED, NODE_TOMBSTONE, ref, FOUND_UNASKED);
	entry_flag(f, entry, ENTRY_LISTED);
}

int
delta_fifo_replace(struct delta_fifo *f, const struct delta_item *items, size_t count)
{
	size_t known = (size_t)f->known.count(f->known.context);
	int r;

	for (size_t i = 0; i < count; i++)
		if (!known_object(f, items[i].ref))
			return -EBADMSG;
	r = delta_table_reserve(&f->table, count + known,
				count + known + f->table.queue.count + f->table.waiting.count);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		queue_item(f, items[i]);
	bury_queued(f, &f->table.queue);
	bury_queued(f, &f->table.waiting);
	f->known.each(f->known.context, bury_known, f);
	f->lists++;
	return 0;
}

static void
sync_known(void *visitor, uint32_t ref)
{
	struct delta_fifo *f = visitor;
	const struct object *o = known_object(f, ref);

	if (o && entry_find(f, o) == NONE && delta_table_reserve(&f->table, 1, 1) == 0)
		queue_delta(f, NONE, o->key_hash, DELTA_SYNC, 0, ref, FOUND_UNASKED);
}

int
delta_fifo_resync(struct delta_fifo *f)
{
	size_t known = (size_t)f->known.count(f->known.context);
	int r;

	r = delta_table_reserve(&f->table, known, known);
	if (r < 0)
		return r;
	f->known.each(f->known.context, sync_known, f);
	return 0;
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
 * Drop the first `done` Deltas of an entry, and look again at what the others borrow from the store: what was
 * known when they were queued may have been replaced by those that are done. False: nothing is left.
 */
static bool
entry_keep_rest(struct delta_fifo *f, uint32_t i, const struct deltas *key, size_t done)
{
	struct delta_entry *e = &f->table.entries[i];
	uint32_t known = f->known.find(f->known.context, key->key_hash, key->ns, key->ns_length, key->name,
				       key->name_length);
	uint32_t rest = e->first, next;

	for (; done > 0; done--) {
		next = f->table.nodes[rest].next;
		delta_node_free(&f->table, rest);
		rest = next;
	}
	e->first = e->last = NONE;
	for (; rest != NONE; rest = next) {
		struct delta_node *n = &f->table.nodes[rest];

		next = n->next;
		n->found = FOUND_UNASKED;
		if (!node_owns(n)) {
			n->ref = known;
			if (known == 0 && (e->first == NONE || n->type != DELTA_DELETED)) {
				delta_node_free(&f->table, rest);
				continue;
			}
		}
		delta_node_append(&f->table, i, rest);
	}
	return e->first != NONE;
}

/* The Deltas of the entry at the queue's head as process() sees them; local or allocated. */
static struct delta *
entry_deltas(struct delta_fifo *f, uint32_t i, struct delta *local, struct deltas *ret)
{
	const struct object *o = known_object(f, f->table.nodes[f->table.entries[i].first].ref);
	struct delta *items = local;
	size_t count = 0;

	for (uint32_t n = f->table.entries[i].first; n != NONE; n = f->table.nodes[n].next)
		count++;
	if (count > LOCAL_DELTAS) {
		items = malloc(count * sizeof(*items));
		if (!items)
			return NULL;
	}
	count = 0;
	for (uint32_t n = f->table.entries[i].first; n != NONE; n = f->table.nodes[n].next)
		items[count++] = (struct delta){
			.type = (enum delta_type)f->table.nodes[n].type,
			.unchanged = (f->table.nodes[n].flags & NODE_UNCHANGED) != 0,
			.tombstone = (f->table.nodes[n].flags & NODE_TOMBSTONE) != 0,
			.ref = f->table.nodes[n].ref,
			.found = f->table.nodes[n].found,
		};
	/* A copy: the block it stands in may be given back by the first of these Deltas. */
	memcpy(f->key, o->key, (size_t)o->namespace_length + o->name_length);
	*ret = (struct deltas){
		.key_hash = f->table.entries[i].key_hash,
		.ns = f->key, .ns_length = o->namespace_length,
		.name = f->key + o->namespace_length, .name_length = o->name_length,
		.items = items, .count = count,
	};
	return items;
}

static void
entry_done(struct delta_fifo *f, uint32_t i)
{
	struct delta_entry *e = &f->table.entries[i];

	f->listed -= (e->flags & ENTRY_LISTED) != 0;
	for (uint32_t n = e->first, next; n != NONE; n = next) {
		next = f->table.nodes[n].next;
		delta_node_free(&f->table, n);
	}
	delta_entry_free(&f->table, i);
}

int
delta_fifo_pop(struct delta_fifo *f, size_t max, delta_process_fn *process, void *context, size_t *ret_keys)
{
	size_t keys = 0;
	int result = 0;

	if (ret_keys)
		*ret_keys = 0;
	for (; max > 0 && f->table.queue.head != NONE; max--) {
		uint32_t i = f->table.queue.head;
		struct delta local[LOCAL_DELTAS], *items;
		struct deltas deltas;
		size_t done;
		int r;

		items = entry_deltas(f, i, local, &deltas);
		if (!items) {
			result = -ENOMEM;
			break;
		}
		delta_list_take(&f->table, &f->table.queue);
		delta_entry_unhash(&f->table, i);

		done = 0;
		r = process(context, &deltas, &done);
		if (r < 0)
			result = r;
		if (r < 0 && done < deltas.count && entry_keep_rest(f, i, &deltas, done)) {
			delta_entry_hash(&f->table, i);
			delta_list_append(&f->table, &f->table.waiting, i);
		} else {
			entry_done(f, i);
			keys++;
		}
		if (items != local)
			free(items);
	}
	if (ret_keys)
		*ret_keys = keys;
	if (delta_fifo_is_empty(f))
		delta_table_reset(&f->table);
	return result;
}

void
delta_fifo_retry(struct delta_fifo *f)
{
	delta_list_prepend(&f->table, &f->table.queue, &f->table.waiting);
}

/* ---- the rest ------------------------------------------------------------- */

struct delta_fifo *
delta_fifo_new(const struct known_objects *known)
{
	struct delta_fifo *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->known = *known;
	delta_table_reset(&f->table);
	return f;
}

const struct known_objects *
delta_fifo_known(const struct delta_fifo *f)
{
	return &f->known;
}

void
delta_fifo_free(struct delta_fifo *f)
{
	if (!f)
		return;
	delta_fifo_retry(f);
	for (uint32_t i = f->table.queue.head; i != NONE; i = f->table.entries[i].next)
		for (uint32_t n = f->table.entries[i].first; n != NONE; n = f->table.nodes[n].next)
			if (node_owns(&f->table.nodes[n]))
				f->known.discard(f->known.context, f->table.nodes[n].ref);
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

uint64_t
delta_fifo_lists(const struct delta_fifo *f)
{
	return f->lists;
}

bool
delta_fifo_is_listing(const struct delta_fifo *f)
{
	return f->listed > 0;
}

size_t
delta_fifo_bytes(const struct delta_fifo *f)
{
	return sizeof(*f) + delta_table_bytes(&f->table);
}
