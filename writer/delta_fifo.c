/*
 * DeltaFIFO over two pools, entries (a key) and nodes (a Delta), named by 32-bit index: no allocation a key, and
 * everything goes back to the system when the queue has run empty after a long list.
 *
 * Invariants
 *   - every entry stands in the hash table and in one of two lists, `queue` and `waiting`, but for the one that
 *     process() is looking at
 *   - an entry has at least one node, and its first node's ref is not 0: the key is read from there
 */
#include "writer/delta_fifo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/root.h"

#define NONE	      UINT32_MAX
#define KEEP_ENTRIES  1024u /* a pool this small is kept when the queue is empty */
#define LOCAL_DELTAS  16u

enum entry_flags {
	ENTRY_IN_LIST = 1,	/* only during delta_fifo_replace(): an item of the list */
	ENTRY_LISTED = 2,	/* a list's Delta is among its nodes */
	ENTRY_INITIAL = 4,	/* a key of the first list, not processed yet */
};

enum node_flags { NODE_UNCHANGED = 1, NODE_TOMBSTONE = 2 };

struct entry {
	uint64_t key_hash;
	uint32_t next;		/* in its list, or among the free ones */
	uint32_t bucket_next;
	uint32_t first, last;	/* nodes */
	uint32_t flags;
};

struct node {
	uint32_t ref;
	uint32_t next;
	uint8_t type;
	uint8_t flags;
};

struct list {
	uint32_t head, tail;
	size_t count;
};

struct delta_fifo {
	struct known_objects known;

	struct entry *entries;
	struct node *nodes;
	uint32_t *buckets; /* as many as entry_capacity, a power of two */
	uint32_t entry_capacity, entry_used, entry_free, entries_free_count;
	uint32_t node_capacity, node_used, node_free, nodes_free_count;

	struct list queue, waiting;
	size_t listed, initial; /* entries with these flags */
	bool populated, closed;

	uint8_t version_length;
	char version[RESOURCE_VERSION_MAX];
	char key[OBJECT_KEY_MAX]; /* of the entry that process() is looking at */
};

/* ---- pools ---------------------------------------------------------------- */

static void
buckets_fill(struct delta_fifo *f)
{
	memset(f->buckets, 0xff, f->entry_capacity * sizeof(*f->buckets));
	for (const struct list *l = &f->queue;; l = &f->waiting) {
		for (uint32_t i = l->head; i != NONE; i = f->entries[i].next) {
			uint32_t *bucket = &f->buckets[f->entries[i].key_hash & (f->entry_capacity - 1)];

			f->entries[i].bucket_next = *bucket;
			*bucket = i;
		}
		if (l == &f->waiting)
			break;
	}
}

static bool
pool_capacity(uint32_t used, size_t more, uint32_t capacity, uint32_t *ret_capacity)
{
	uint64_t need = (uint64_t)used + more;

	if (more > NONE / 2 || need > NONE / 2)
		return false;
	if (capacity == 0)
		capacity = 64;
	while (capacity < need)
		capacity *= 2;
	*ret_capacity = capacity;
	return true;
}

/* Make sure that `entries` keys and `nodes` Deltas can be queued without failing. */
static int
reserve(struct delta_fifo *f, size_t entries, size_t nodes)
{
	size_t more_entries = entries > f->entries_free_count ? entries - f->entries_free_count : 0;
	size_t more_nodes = nodes > f->nodes_free_count ? nodes - f->nodes_free_count : 0;
	uint32_t capacity;

	if (!pool_capacity(f->node_used, more_nodes, f->node_capacity, &capacity))
		return -ENOMEM;
	if (capacity != f->node_capacity) {
		struct node *grown = realloc(f->nodes, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		f->nodes = grown;
		f->node_capacity = capacity;
	}
	if (!pool_capacity(f->entry_used, more_entries, f->entry_capacity, &capacity))
		return -ENOMEM;
	if (capacity != f->entry_capacity) {
		uint32_t *buckets = malloc(capacity * sizeof(*buckets));
		struct entry *grown;

		if (!buckets)
			return -ENOMEM;
		grown = realloc(f->entries, capacity * sizeof(*grown));
		if (!grown) {
			free(buckets);
			return -ENOMEM;
		}
		free(f->buckets);
		f->buckets = buckets;
		f->entries = grown;
		f->entry_capacity = capacity;
		buckets_fill(f);
	}
	return 0;
}

static void
pools_reset(struct delta_fifo *f)
{
	f->entry_used = f->node_used = 0;
	f->entry_free = f->node_free = NONE;
	f->entries_free_count = f->nodes_free_count = 0;
	f->queue = f->waiting = (struct list){ NONE, NONE, 0 };
	if (f->entry_capacity > KEEP_ENTRIES || f->node_capacity > KEEP_ENTRIES) {
		free(f->entries);
		free(f->nodes);
		free(f->buckets);
		f->entries = NULL;
		f->nodes = NULL;
		f->buckets = NULL;
		f->entry_capacity = f->node_capacity = 0;
	}
}

/* After reserve(): cannot fail. */
static uint32_t
node_new(struct delta_fifo *f, enum delta_type type, unsigned flags, uint32_t ref)
{
	uint32_t i = f->node_free;

	if (i != NONE) {
		f->node_free = f->nodes[i].next;
		f->nodes_free_count--;
	} else {
		i = f->node_used++;
	}
	f->nodes[i] = (struct node){ .ref = ref, .next = NONE, .type = (uint8_t)type, .flags = (uint8_t)flags };
	return i;
}

static void
node_free(struct delta_fifo *f, uint32_t i)
{
	f->nodes[i].next = f->node_free;
	f->node_free = i;
	f->nodes_free_count++;
}

static void
entry_free(struct delta_fifo *f, uint32_t i)
{
	f->entries[i].next = f->entry_free;
	f->entry_free = i;
	f->entries_free_count++;
}

static void
list_append(struct delta_fifo *f, struct list *l, uint32_t i)
{
	f->entries[i].next = NONE;
	if (l->tail == NONE)
		l->head = i;
	else
		f->entries[l->tail].next = i;
	l->tail = i;
	l->count++;
}

/* ---- keys ----------------------------------------------------------------- */

static const struct object *
known_object(const struct delta_fifo *f, uint32_t ref)
{
	return f->known.object(f->known.context, ref);
}

static uint32_t
known_find(const struct delta_fifo *f, const struct object *o)
{
	return f->known.find(f->known.context, o->key_hash, object_namespace(o), o->namespace_length, object_name(o),
			     o->name_length);
}

static uint32_t
entry_find(const struct delta_fifo *f, const struct object *key)
{
	if (f->entry_capacity == 0)
		return NONE;
	for (uint32_t i = f->buckets[key->key_hash & (f->entry_capacity - 1)]; i != NONE; i = f->entries[i].bucket_next) {
		const struct object *o;

		if (f->entries[i].key_hash != key->key_hash)
			continue;
		o = known_object(f, f->nodes[f->entries[i].first].ref);
		if (o && object_has_key(o, object_namespace(key), key->namespace_length, object_name(key), key->name_length))
			return i;
	}
	return NONE;
}

static void
entry_hash(struct delta_fifo *f, uint32_t i)
{
	uint32_t *bucket = &f->buckets[f->entries[i].key_hash & (f->entry_capacity - 1)];

	f->entries[i].bucket_next = *bucket;
	*bucket = i;
}

static void
entry_unhash(struct delta_fifo *f, uint32_t i)
{
	uint32_t *at = &f->buckets[f->entries[i].key_hash & (f->entry_capacity - 1)];

	while (*at != i)
		at = &f->entries[*at].bucket_next;
	*at = f->entries[i].bucket_next;
}

/* Whether a node's ref is a draft, which somebody must take or discard. */
static bool
node_owns(const struct node *n)
{
	return n->type != DELTA_SYNC && !(n->flags & (NODE_UNCHANGED | NODE_TOMBSTONE));
}

static void
entry_flag(struct delta_fifo *f, uint32_t i, unsigned flag)
{
	struct entry *e = &f->entries[i];

	if (!(e->flags & flag)) {
		f->listed += flag == ENTRY_LISTED;
		f->initial += flag == ENTRY_INITIAL;
	}
	e->flags |= flag;
}

/* ---- queueing ------------------------------------------------------------- */

/* Two DELETED at the end of an entry become one. */
static bool
merge_deleted(struct delta_fifo *f, struct entry *e, unsigned flags, uint32_t ref)
{
	struct node *last = &f->nodes[e->last];

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

/* After reserve(f, 1, 1). i is entry_find()'s answer; returns the entry. */
static uint32_t
queue_delta(struct delta_fifo *f, uint32_t i, uint64_t key_hash, enum delta_type type, unsigned flags, uint32_t ref)
{
	uint32_t node;

	if (i != NONE && type == DELTA_DELETED && merge_deleted(f, &f->entries[i], flags, ref))
		return i;
	node = node_new(f, type, flags, ref);
	if (i != NONE) {
		f->nodes[f->entries[i].last].next = node;
		f->entries[i].last = node;
		return i;
	}
	i = f->entry_free;
	if (i != NONE) {
		f->entry_free = f->entries[i].next;
		f->entries_free_count--;
	} else {
		i = f->entry_used++;
	}
	f->entries[i] = (struct entry){ .key_hash = key_hash, .first = node, .last = node };
	entry_hash(f, i);
	list_append(f, &f->queue, i);
	return i;
}

/* The known object that a new state repeats, when nothing is queued between them; or 0. */
static uint32_t
unchanged_from(const struct delta_fifo *f, uint32_t entry, const struct object *o, uint32_t draft)
{
	uint32_t known;

	if (entry != NONE)
		return 0;
	known = known_find(f, o);
	return known != 0 && f->known.same(f->known.context, known, draft) ? known : 0;
}

static int
queue_draft(struct delta_fifo *f, enum delta_type type, uint32_t draft)
{
	const struct object *o;
	uint32_t entry, known;
	int r;

	if (f->closed)
		return -ESHUTDOWN;
	o = known_object(f, draft);
	if (!o)
		return -EBADMSG;
	r = reserve(f, 1, 1);
	if (r < 0)
		return r;
	f->populated = true;
	entry = entry_find(f, o);
	if (type == DELTA_DELETED) {
		if (entry == NONE && known_find(f, o) == 0)
			f->known.discard(f->known.context, draft);
		else
			queue_delta(f, entry, o->key_hash, type, 0, draft);
		return 0;
	}
	known = unchanged_from(f, entry, o, draft);
	if (known == 0) {
		queue_delta(f, entry, o->key_hash, type, 0, draft);
	} else {
		queue_delta(f, entry, o->key_hash, type, NODE_UNCHANGED, known);
		f->known.discard(f->known.context, draft);
	}
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

uint32_t
delta_fifo_stage(struct delta_fifo *f, uint32_t draft)
{
	const struct object *o = known_object(f, draft);
	uint32_t known;

	/* With something queued, what is known now need not be what is known when the list is whole. */
	if (!o || !delta_fifo_is_empty(f))
		return draft;
	known = unchanged_from(f, NONE, o, draft);
	if (known == 0)
		return draft;
	f->known.discard(f->known.context, draft);
	return known | DELTA_ITEM_UNCHANGED;
}

void
delta_fifo_unstage(struct delta_fifo *f, uint32_t item)
{
	if (!(item & DELTA_ITEM_UNCHANGED))
		f->known.discard(f->known.context, item);
}

static void
queue_item(struct delta_fifo *f, uint32_t item)
{
	uint32_t ref = item & ~DELTA_ITEM_UNCHANGED, entry, known;
	const struct object *o = known_object(f, ref);
	bool unchanged = (item & DELTA_ITEM_UNCHANGED) != 0;

	entry = entry_find(f, o);
	if (!unchanged) {
		known = unchanged_from(f, entry, o, ref);
		if (known != 0) {
			f->known.discard(f->known.context, ref);
			ref = known;
			o = known_object(f, ref);
			unchanged = true;
		}
	}
	entry = queue_delta(f, entry, o->key_hash, DELTA_REPLACED, unchanged ? NODE_UNCHANGED : 0, ref);
	entry_flag(f, entry, ENTRY_IN_LIST);
	entry_flag(f, entry, ENTRY_LISTED);
	if (!f->populated)
		entry_flag(f, entry, ENTRY_INITIAL);
}

/* What only the queue has, or the store and the queue, and the list has not. */
static void
bury_queued(struct delta_fifo *f, const struct list *l)
{
	for (uint32_t i = l->head; i != NONE; i = f->entries[i].next) {
		if (f->entries[i].flags & ENTRY_IN_LIST) {
			f->entries[i].flags &= ~(unsigned)ENTRY_IN_LIST;
			continue;
		}
		queue_delta(f, i, f->entries[i].key_hash, DELTA_DELETED, NODE_TOMBSTONE, 0);
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

	if (!o || entry_find(f, o) != NONE || reserve(f, 1, 1) < 0)
		return;
	entry = queue_delta(f, NONE, o->key_hash, DELTA_DELETED, NODE_TOMBSTONE, ref);
	entry_flag(f, entry, ENTRY_LISTED);
	if (!f->populated)
		entry_flag(f, entry, ENTRY_INITIAL);
}

int
delta_fifo_replace(struct delta_fifo *f, const uint32_t *items, size_t count)
{
	size_t known = (size_t)f->known.count(f->known.context);
	int r;

	if (f->closed)
		return -ESHUTDOWN;
	for (size_t i = 0; i < count; i++)
		if (!known_object(f, items[i] & ~DELTA_ITEM_UNCHANGED))
			return -EBADMSG;
	r = reserve(f, count + known, count + known + f->queue.count + f->waiting.count);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		queue_item(f, items[i]);
	bury_queued(f, &f->queue);
	bury_queued(f, &f->waiting);
	f->known.each(f->known.context, bury_known, f);
	f->populated = true;
	return 0;
}

static void
sync_known(void *visitor, uint32_t ref)
{
	struct delta_fifo *f = visitor;
	const struct object *o = known_object(f, ref);

	if (o && entry_find(f, o) == NONE && reserve(f, 1, 1) == 0)
		queue_delta(f, NONE, o->key_hash, DELTA_SYNC, 0, ref);
}

int
delta_fifo_resync(struct delta_fifo *f)
{
	size_t known = (size_t)f->known.count(f->known.context);
	int r;

	if (f->closed)
		return -ESHUTDOWN;
	r = reserve(f, known, known);
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
 * Drop the first `done` Deltas of an entry, and look again at what the others borrow from the store: what was known
 * when they were queued may have been replaced by those that are done. False: nothing is left.
 */
static bool
entry_keep_rest(struct delta_fifo *f, uint32_t i, const struct deltas *key, size_t done)
{
	struct entry *e = &f->entries[i];
	uint32_t known = f->known.find(f->known.context, key->key_hash, key->ns, key->ns_length, key->name, key->name_length);
	uint32_t rest = e->first, next;

	for (; done > 0; done--) {
		next = f->nodes[rest].next;
		node_free(f, rest);
		rest = next;
	}
	e->first = e->last = NONE;
	for (; rest != NONE; rest = next) {
		struct node *n = &f->nodes[rest];

		next = n->next;
		if (!node_owns(n)) {
			n->ref = known;
			if (known == 0 && (e->first == NONE || n->type != DELTA_DELETED)) {
				node_free(f, rest);
				continue;
			}
		}
		n->next = NONE;
		if (e->first == NONE)
			e->first = rest;
		else
			f->nodes[e->last].next = rest;
		e->last = rest;
	}
	return e->first != NONE;
}

/* The Deltas of the entry at the queue's head as process() sees them; local or allocated. */
static struct delta *
entry_deltas(struct delta_fifo *f, uint32_t i, struct delta *local, struct deltas *ret)
{
	const struct object *o = known_object(f, f->nodes[f->entries[i].first].ref);
	struct delta *items = local;
	size_t count = 0;

	for (uint32_t n = f->entries[i].first; n != NONE; n = f->nodes[n].next)
		count++;
	if (count > LOCAL_DELTAS) {
		items = malloc(count * sizeof(*items));
		if (!items)
			return NULL;
	}
	count = 0;
	for (uint32_t n = f->entries[i].first; n != NONE; n = f->nodes[n].next)
		items[count++] = (struct delta){
			.type = (enum delta_type)f->nodes[n].type,
			.unchanged = (f->nodes[n].flags & NODE_UNCHANGED) != 0,
			.tombstone = (f->nodes[n].flags & NODE_TOMBSTONE) != 0,
			.ref = f->nodes[n].ref,
		};
	/* A copy: the block it stands in may be given back by the first of these Deltas. */
	memcpy(f->key, o->key, (size_t)o->namespace_length + o->name_length);
	*ret = (struct deltas){
		.key_hash = f->entries[i].key_hash,
		.ns = f->key, .ns_length = o->namespace_length,
		.name = f->key + o->namespace_length, .name_length = o->name_length,
		.items = items, .count = count,
	};
	return items;
}

static void
entry_done(struct delta_fifo *f, uint32_t i)
{
	struct entry *e = &f->entries[i];

	f->listed -= (e->flags & ENTRY_LISTED) != 0;
	f->initial -= (e->flags & ENTRY_INITIAL) != 0;
	for (uint32_t n = e->first, next; n != NONE; n = next) {
		next = f->nodes[n].next;
		node_free(f, n);
	}
	entry_free(f, i);
}

int
delta_fifo_pop(struct delta_fifo *f, size_t max, delta_process_fn *process, void *context, size_t *ret_keys)
{
	size_t keys = 0;
	int result = 0;

	if (ret_keys)
		*ret_keys = 0;
	if (f->closed && delta_fifo_is_empty(f))
		return -ESHUTDOWN;
	for (; max > 0 && f->queue.head != NONE; max--) {
		uint32_t i = f->queue.head;
		struct delta local[LOCAL_DELTAS], *items;
		struct deltas deltas;
		size_t done;
		int r;

		items = entry_deltas(f, i, local, &deltas);
		if (!items) {
			result = -ENOMEM;
			break;
		}
		entry_unhash(f, i);
		f->queue.head = f->entries[i].next;
		if (f->queue.head == NONE)
			f->queue.tail = NONE;
		f->queue.count--;

		done = 0;
		r = process(context, &deltas, &done);
		if (r < 0)
			result = r;
		if (r < 0 && done < deltas.count && entry_keep_rest(f, i, &deltas, done)) {
			entry_hash(f, i);
			list_append(f, &f->waiting, i);
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
		pools_reset(f);
	return result;
}

void
delta_fifo_retry(struct delta_fifo *f)
{
	if (f->waiting.head == NONE)
		return;
	f->entries[f->waiting.tail].next = f->queue.head;
	if (f->queue.head == NONE)
		f->queue.tail = f->waiting.tail;
	f->queue.head = f->waiting.head;
	f->queue.count += f->waiting.count;
	f->waiting = (struct list){ NONE, NONE, 0 };
}

/* ---- the rest ------------------------------------------------------------- */

struct delta_fifo *
delta_fifo_new(const struct known_objects *known)
{
	struct delta_fifo *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->known = *known;
	pools_reset(f);
	return f;
}

void
delta_fifo_free(struct delta_fifo *f)
{
	if (!f)
		return;
	delta_fifo_retry(f);
	for (uint32_t i = f->queue.head; i != NONE; i = f->entries[i].next)
		for (uint32_t n = f->entries[i].first; n != NONE; n = f->nodes[n].next)
			if (node_owns(&f->nodes[n]))
				f->known.discard(f->known.context, f->nodes[n].ref);
	free(f->entries);
	free(f->nodes);
	free(f->buckets);
	free(f);
}

size_t
delta_fifo_queued(const struct delta_fifo *f)
{
	return f->queue.count;
}

size_t
delta_fifo_waiting(const struct delta_fifo *f)
{
	return f->waiting.count;
}

bool
delta_fifo_is_listing(const struct delta_fifo *f)
{
	return f->listed > 0;
}

bool
delta_fifo_has_synced(const struct delta_fifo *f)
{
	return f->populated && f->initial == 0;
}

void
delta_fifo_close(struct delta_fifo *f)
{
	f->closed = true;
}

size_t
delta_fifo_bytes(const struct delta_fifo *f)
{
	return sizeof(*f) + f->entry_capacity * (sizeof(*f->entries) + sizeof(*f->buckets)) +
	       f->node_capacity * sizeof(*f->nodes);
}

const char *
delta_type_name(enum delta_type type)
{
	static const char *const names[] = { "ADDED", "UPDATED", "DELETED", "REPLACED", "SYNC" };

	return (size_t)type < sizeof(names) / sizeof(names[0]) ? names[type] : "?";
}
