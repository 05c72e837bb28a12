/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps tombstones of deleted objects (shm-layout/tombstone.h): each delete leaves one, and the oldest are
 * dropped first.
 *
 * A tombstone stands in by-seq under its seq, and in `deleted` under its object's key and values. Those are
 * not stored: dropping the tombstone computes them again from the object. They are the same, since the
 * definitions stay while the resource keeps its content.
 *
 * Dropping a tombstone edits tries and so needs memory. Without memory it stays beyond its limit until a
 * later try. A delete without room for a tombstone leaves none, and the floor rises instead.
 */
#include "writer/store/store_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/collision.h"
#include "shm-layout/index_def.h"
#include "shm-layout/object.h"
#include "shm-layout/tombstone.h"
#include "shm-layout/time_ns.h"
#include "writer/store/collision_edit.h"
#include "writer/store/store_keys.h"

/* Tombstones that one call drops for their age at most: a mass deletion must not stop the loop later. */
#define EXPIRE_BATCH 1000u
/* Divisor of the arena's budget: the tombstones' part. */
#define ARENA_SHARE 8u
#define NODE_BYTES_MIN 32u

/* ---- the list, oldest first ---- */

struct tombstone_note {
	uint32_t ref;
	uint32_t units;		/* of REF_UNIT bytes, of the tombstone and its object, when it was left */
};

static const struct tombstone_note *
oldest(const struct tombstones *list)
{
	return fifo_ring_at(&list->notes, sizeof(struct tombstone_note), 0);
}

static const struct tombstone *
oldest_tombstone(const struct store *s, const struct tombstones *list)
{
	return tombstone_at(&s->arena->view, oldest(list)->ref);
}

static int
reserve_one(struct tombstones *list)
{
	return fifo_ring_reserve(&list->notes, sizeof(struct tombstone_note), 1);
}

/* The list must have room. */
static void
push(const struct store *s, struct tombstones *list, uint32_t ref, uint32_t object)
{
	const struct block *b = arena_block(s->arena, object);
	const struct object *o = object_at(&s->arena->view, object);
	uint64_t bytes = block_footprint(sizeof(struct tombstone)) + block_footprint(block_length(b)) +
			 intern_own_bytes(s->intern, b->payload + o->body_offset,
					  b->payload + block_length(b));
	struct tombstone_note *note = fifo_ring_push(&list->notes, sizeof(*note));

	*note = (struct tombstone_note){.ref = ref, .units = (uint32_t)(bytes / REF_UNIT)};
	list->bytes += bytes;
}

static void
pop(struct tombstones *list)
{
	list->bytes -= (uint64_t)oldest(list)->units * REF_UNIT;
	fifo_ring_pop(&list->notes);
}

/* ---- keys ---- */

struct each_key {
	const struct store *store;
	enum tombstone_by by;
	int (*each)(uint64_t hash, void *context);
	void *context;
};

static int
each_value(const char *data, size_t length, void *context)
{
	const struct each_key *e = context;

	return e->each(
		tombstone_hash(index_value_hash(e->store->arena->header->hash_key, data, length), e->by),
		e->context);
}

/*
 * Call each() for every hash that an object's tombstone is filed under, duplicates included. A non-zero
 * result of each() stops and is returned.
 */
static int
each_hash(const struct store *s, const struct store_resource *res, uint32_t object,
	  int (*each)(uint64_t hash, void *context), void *context)
{
	const struct object *o = object_at(&s->arena->view, object);
	struct each_key e = {s, TOMBSTONE_BY_KEY, each, context};
	int r;

	if (!o)
		return -EBADMSG;
	r = each(tombstone_hash(o->key_hash, TOMBSTONE_BY_KEY), context);
	for (e.by = TOMBSTONE_BY_UID; e.by <= TOMBSTONE_BY_CONTAINER && r == 0; e.by++)
		if (res->tombstones.indexes[e.by] >= 0)
			r = index_def_each_filed(&res->indexes.defs[res->tombstones.indexes[e.by]],
						 value_of_object(&s->arena->view, object), each_value, &e);
	return r;
}

static int
collect(uint64_t hash, void *context)
{
	struct tombstone_keys *keys = context;

	for (size_t i = 0; i < keys->count; i++)
		if (keys->keys[i].hash == hash)
			return 0;
	if (keys->count == keys->capacity) {
		size_t wider = keys->capacity ? keys->capacity * 2 : 32;
		struct tombstone_key *p = realloc(keys->keys, wider * sizeof(*p));

		if (!p)
			return -ENOMEM;
		keys->keys = p;
		keys->capacity = wider;
	}
	keys->keys[keys->count++] = (struct tombstone_key){.hash = hash};
	return 0;
}

/* Set the scratch keys to those of this object's tombstone. filed: whether they are filed already. */
static int
collect_keys(struct store *s, const struct store_resource *res, uint32_t object, uint32_t tombstone,
	     bool filed)
{
	int r;

	s->tombstone_keys.ref = tombstone;
	s->tombstone_keys.count = 0;
	r = each_hash(s, res, object, collect, &s->tombstone_keys);
	for (size_t i = 0; i < s->tombstone_keys.count; i++)
		s->tombstone_keys.keys[i].filed = filed;
	return r;
}

struct hash_search {
	struct trie_way way;
	uint64_t found;
};

static int
hash_fits(uint64_t hash, void *context)
{
	struct hash_search *search = context;

	search->found = hash;
	return (hash & search->way.mask) == search->way.bits;
}

/* The hash under which a leaf of `deleted` stands: one of its first tombstone's that fits the path. */
static int
key_of_leaf(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf, struct trie_way way,
	    uint64_t *ret_key)
{
	const struct store_keys *k = (const struct store_keys *)(const void *)self;
	const struct tombstone_keys *own = &k->store->tombstone_keys;
	uint32_t ref = leaf_link(view, leaf, 0);
	struct hash_search search = {way, 0};
	const struct tombstone *t;

	if (ref == own->ref) { /* half filed: only the filed hashes count */
		for (size_t i = 0; i < own->count; i++) {
			*ret_key = own->keys[i].hash;
			if (own->keys[i].filed && hash_fits(*ret_key, &search))
				return 0;
		}
		return -EBADMSG;
	}
	t = tombstone_at(view, ref);
	if (!t || each_hash(k->store, k->resource, t->object, hash_fits, &search) <= 0)
		return -EBADMSG;
	*ret_key = search.found;
	return 0;
}

/* ---- index entries ---- */

/* Add what filing or unfiling the scratch keys allocates at most, by-seq and the tombstone included. */
static void
need_to_edit(const struct store *s, const struct store_resource *res, struct arena_need *need)
{
	arena_need_add(need, PATH_BYTES + block_footprint(sizeof(struct tombstone)), NODE_BYTES);
	for (size_t i = 0; i < s->tombstone_keys.count; i++) {
		uint32_t leaf, links = 0;
		uint64_t collision;

		if (trie_get(&s->arena->view, res->now.deleted, s->tombstone_keys.keys[i].hash, &leaf) > 0)
			while (leaf_link(&s->arena->view, leaf, links) != 0)
				links++;
		collision = block_footprint((links + 1) * (uint32_t)sizeof(uint32_t));
		arena_need_add(need, PATH_BYTES + collision, collision);
	}
}

static int
file_key(struct store *s, struct store_resource *res, struct tombstone_key *key, uint32_t ref)
{
	const struct store_keys keys = {{key_of_leaf, NULL}, s, res};
	int r = collision_file(s->edit, s->arena, &res->now.deleted, key->hash, ref, &keys.keys);

	key->filed = r == 0;
	return r;
}

static int
unfile_key(struct store *s, struct store_resource *res, struct tombstone_key *key, uint32_t ref)
{
	const struct store_keys keys = {{key_of_leaf, NULL}, s, res};
	int r = collision_unfile(s->edit, s->arena, &res->now.deleted, key->hash, ref, &keys.keys);

	key->filed = r < 0;
	return r;
}

/* ---- adding and dropping ---- */

int
tombstone_prepare(struct store *s, struct store_resource *res, uint32_t object, struct arena_need *need)
{
	int r = reserve_one(&res->tombstones);

	if (r == 0)
		r = collect_keys(s, res, object, 0, false);
	if (r == 0)
		need_to_edit(s, res, need);
	return r;
}

int
tombstone_leave(struct store *s, struct store_resource *res, uint32_t object, uint64_t seq, uint32_t flags)
{
	const struct store_keys by_seq = store_by_seq_keys(s, res);
	struct tombstone *t;
	uint32_t ref;
	int r = trie_edit_new_block(s->edit, BLOCK_TOMBSTONE, sizeof(*t), 0, &ref);

	if (r < 0)
		return r;
	t = arena_payload(s->arena, ref);
	*t = (struct tombstone){
		.seq = seq,
		.deleted_boot_ns = time_ns(CLOCK_BOOTTIME),
		.deleted_wall_ns = time_ns(CLOCK_REALTIME),
		.object = object,
		.flags = flags,
	};
	s->tombstone_keys.ref = ref;
	r = trie_put(s->edit, &res->now.by_seq, seq, ref, &by_seq.keys, NULL);
	for (size_t i = 0; i < s->tombstone_keys.count && r == 0; i++)
		r = file_key(s, res, &s->tombstone_keys.keys[i], ref);
	if (r < 0)
		return r;
	push(s, &res->tombstones, ref, object);
	return 0;
}

/* Drop the oldest tombstone. 0; -ENOSPC, -ENOMEM: it stays; -EBADMSG */
static int
drop_oldest(struct store *s, struct store_resource *res)
{
	uint32_t ref = oldest(&res->tombstones)->ref, object;
	const struct tombstone *t = oldest_tombstone(s, &res->tombstones);
	struct arena_need need = {0};
	uint64_t seq;
	int r;

	if (!t)
		return -EBADMSG;
	object = t->object;
	seq = t->seq;
	r = collect_keys(s, res, object, ref, true);
	if (r == 0 && s->lowest)
		r = retained_log_reserve(&res->fallen, 1);
	if (r < 0)
		return r;
	need_to_edit(s, res, &need);
	r = trie_edit_reserve(s->edit, (size_t)(need.bytes / NODE_BYTES_MIN));
	if (r == 0)
		r = arena_ensure(s->arena, need);
	if (r == 0)
		r = trie_remove(s->edit, &res->now.by_seq, seq, ref);
	for (size_t i = 0; i < s->tombstone_keys.count && r == 0; i++)
		r = unfile_key(s, res, &s->tombstone_keys.keys[i], ref);
	s->tombstone_keys.ref = 0;
	if (r < 0)
		return r;
	pop(&res->tombstones);
	if (res->now.tombstone_floor < seq)
		res->now.tombstone_floor = seq;
	res->now.complete_from = 0;
	res->dirty = true;
	trie_edit_drop_block(s->edit, ref);
	store_let_go(s, &res->fallen, seq, object);
	return 0;
}

void
tombstones_trim(struct store *s, struct store_resource *res)
{
	const struct tombstones *list = &res->tombstones;
	uint64_t bytes = arena_budget(s->arena) / ARENA_SHARE;

	if (bytes > list->limits.bytes)
		bytes = list->limits.bytes;
	while (list->notes.count > 0 && (list->notes.count > list->limits.count || list->bytes > bytes))
		if (drop_oldest(s, res) < 0)
			break;
}

bool
tombstones_give_way(struct store *s)
{
	bool dropped = false;

	if (!arena_was_refused(s->arena))
		return false;
	arena_open_reserve(s->arena, true);
	for (unsigned i = 0; i < s->resource_count; i++) {
		struct store_resource *res = s->resources[i];

		for (size_t n = (res->tombstones.notes.count + 1) / 2; n > 0 && drop_oldest(s, res) == 0; n--)
			dropped = true;
	}
	arena_open_reserve(s->arena, false);
	if (dropped)
		store_release_held(s); /* before the commit: its readers then do not need them */
	return dropped;
}

void
tombstones_drop_all(struct store *s, struct store_resource *res)
{
	struct trie_iter it;

	for (int r = trie_first(&it, &s->arena->view, res->now.deleted); r > 0; r = trie_next(&it))
		if (leaf_is_collision(&s->arena->view, it.leaf))
			trie_edit_drop_block(s->edit, it.leaf);
	trie_retire_all(s->edit, res->now.deleted);
	res->now.deleted = 0;
	for (; res->tombstones.notes.count > 0; pop(&res->tombstones)) {
		uint32_t ref = oldest(&res->tombstones)->ref;
		const struct tombstone *t = oldest_tombstone(s, &res->tombstones);

		if (!t)
			continue;
		store_let_go(s, &res->fallen, t->seq, t->object);
		trie_edit_drop_block(s->edit, ref);
	}
}

/* ---- limits ---- */

void
store_set_tombstone_limits(struct store *s, unsigned resource, struct tombstone_limits limits)
{
	struct store_resource *res = s->resources[resource];

	res->tombstones.limits = limits;
	arena_open_reserve(s->arena, true);
	tombstones_trim(s, res);
	arena_open_reserve(s->arena, false);
}

void
store_expire_tombstones(struct store *s, uint64_t now_boot_ns)
{
	arena_open_reserve(s->arena, true);
	for (unsigned i = 0; i < s->resource_count; i++) {
		struct store_resource *res = s->resources[i];
		uint64_t age = res->tombstones.limits.age_ns;

		if (!res->claimed) /* adopted: its limits are not known yet */
			continue;
		tombstones_trim(s, res); /* drop what earlier calls had no memory for */
		for (unsigned n = 0; n < EXPIRE_BATCH && res->tombstones.notes.count > 0; n++) {
			const struct tombstone *t = oldest_tombstone(s, &res->tombstones);

			if (!t || t->deleted_boot_ns >= now_boot_ns ||
			    now_boot_ns - t->deleted_boot_ns <= age || drop_oldest(s, res) < 0)
				break;
		}
	}
	arena_open_reserve(s->arena, false);
}

void
store_tombstone_stats(const struct store *s, unsigned resource, struct tombstone_stats *ret)
{
	const struct tombstones *list = &s->resources[resource]->tombstones;
	const struct tombstone *t = list->notes.count > 0 ? oldest_tombstone(s, list) : NULL;

	*ret = (struct tombstone_stats){
		.count = list->notes.count,
		.bytes = list->bytes,
		.oldest_boot_ns = t ? t->deleted_boot_ns : 0,
	};
}

/* ---- loading and redefining ---- */

static const enum index_role roles[] = {
	[TOMBSTONE_BY_UID] = INDEX_ROLE_UID, [TOMBSTONE_BY_ADDRESS] = INDEX_ROLE_ADDRESS,
	[TOMBSTONE_BY_CONTAINER] = INDEX_ROLE_CONTAINER,
};

void
tombstones_begin(struct store_resource *res)
{
	res->tombstones.indexes[TOMBSTONE_BY_KEY] = -1;
	for (unsigned by = TOMBSTONE_BY_UID; by <= TOMBSTONE_BY_CONTAINER; by++)
		res->tombstones.indexes[by] = index_with_role(res->indexes.defs, res->indexes.count,
							      roles[by]);
}

/* True if tombstones stand under the same values in another table's index of this role. */
static bool
same_values(const struct store_resource *res, enum tombstone_by by, const struct index_table *other)
{
	int old = res->tombstones.indexes[by], new = index_with_role(other->defs, other->count, roles[by]);

	return old < 0 || new < 0 ? old == new : index_def_same(&res->indexes.defs[old], &other->defs[new]);
}

int
tombstones_redefine(struct store *s, struct store_resource *res, const struct index_table *next)
{
	bool same = true;
	int r = 0;

	for (enum tombstone_by by = TOMBSTONE_BY_UID; by <= TOMBSTONE_BY_CONTAINER; by++)
		same &= same_values(res, by, next);
	arena_open_reserve(s->arena, true);
	while (!same && res->tombstones.notes.count > 0 && r == 0)
		r = drop_oldest(s, res);
	arena_open_reserve(s->arena, false);
	return r;
}

void
tombstones_done(struct store_resource *res)
{
	fifo_ring_done(&res->tombstones.notes);
}

int
tombstones_load(struct store *s, struct store_resource *res)
{
	struct trie_iter it;
	uint64_t last = 0;
	int r;

	for (r = trie_first(&it, &s->arena->view, res->now.by_seq); r > 0; r = trie_next(&it)) {
		const struct tombstone *t;

		if (link_is_immediate(it.leaf))
			continue;
		t = tombstone_at(&s->arena->view, it.leaf);
		if (!t || t->seq <= last || !object_at(&s->arena->view, t->object))
			return -EBADMSG;
		last = t->seq;
		r = reserve_one(&res->tombstones);
		if (r < 0)
			return r;
		push(s, &res->tombstones, it.leaf, t->object);
	}
	return r;
}
