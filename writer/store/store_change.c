/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds, updates and deletes objects.
 *
 * A change touches several tries and must not stop half way. So each change first reserves the memory that
 * it can need at most (arena_ensure(), store_reserve_notes()). After that it fails only if the arena is
 * damaged.
 */
#include "writer/store/store_internal.h"

#include <errno.h>
#include <string.h>

#include "shm-layout/object.h"
#include "shm-layout/tombstone.h"
#include "writer/store/collision_edit.h"
#include "writer/store/store_keys.h"
#include "writer/store/trie_warm.h"

/* The tries of fewer objects are in the caches anyway. */
#define WARM_MIN 8192u

/*
 * Compute what the change does to the indexes, and reserve all memory that it may need. 0, -ENOSPC, -ENOMEM.
 *
 * leaving   the object that is deleted, in its final state, or 0
 * ret_keep  `leaving` leaves a tombstone: the limits allow it, and there is room
 */
static int
prepare_change(struct store *s, struct store_resource *res, struct value before, struct value after,
	       uint32_t leaving, bool *ret_keep)
{
	struct arena_need need, with_tombstone;
	int r = index_change_prepare(&s->change, &res->indexes, s->arena->header->hash_key, before, after,
				     leaving != 0, &need);

	if (r < 0)
		return r;
	/* ordinals, by-seq and identity, twice for an object that replaces another */
	arena_need_add(&need, 8 * PATH_BYTES, NODE_BYTES);
	with_tombstone = need;
	r = store_reserve_notes(s, res, 3);
	*ret_keep = leaving && res->tombstones.limits.count > 0;
	if (r == 0 && *ret_keep)
		r = tombstone_prepare(s, res, leaving, &with_tombstone);
	if (r == 0)
		r = trie_edit_reserve(s->edit, (size_t)(with_tombstone.bytes / 48));
	if (r < 0)
		return r;
	r = arena_ensure(s->arena, with_tombstone);
	if (r == -ENOSPC && *ret_keep) { /* the object must go even without a tombstone */
		*ret_keep = false;
		r = arena_ensure(s->arena, need);
	}
	return r;
}

/*
 * Prefetch a new object's place in the identity trie and in the indexes, and the objects that stand there:
 * their keys are compared.
 */
static void
warm(const struct store *s, const struct store_resource *res, uint64_t key_hash)
{
	struct trie_walk walks[TRIE_WARM_MAX] = {{key_hash, res->now.identity}};
	size_t count = index_change_walks(&s->change, &res->indexes, walks + 1, TRIE_WARM_MAX - 1) + 1,
	       met = 0;

	trie_warm(&s->arena->view, walks, count);
	for (size_t i = 0; i < count; i++)
		if (link_is_immediate(walks[i].link))
			walks[met++] = (struct trie_walk){link_value(walks[i].link), res->now.ordinals};
	trie_warm(&s->arena->view, walks, met);
}

static int
leave_indexes(struct store *s, struct store_resource *res, uint32_t ordinal)
{
	return index_change_leave(&s->change, &res->indexes, s->edit, s->arena, res->now.ordinals, ordinal);
}

static int
enter_indexes(struct store *s, struct store_resource *res, uint32_t ordinal)
{
	return index_change_enter(&s->change, &res->indexes, s->edit, s->arena, res->now.ordinals, ordinal);
}

/* Make the draft the state that ordinals and by-seq lead to. old_ref: the previous one, or 0 */
static int
put_object(struct store *s, unsigned id, uint32_t ref, uint32_t ordinal, uint32_t old_ref)
{
	struct store_resource *res = s->resources[id];
	const struct store_keys by_seq = store_by_seq_keys(s, res);
	struct object *o = arena_payload(s->arena, ref);
	int r;

	o->seq = ++s->seq;
	o->created_seq = old_ref ? object_at(&s->arena->view, old_ref)->created_seq : o->seq;
	o->ordinal = ordinal;
	o->resource = (uint16_t)id;
	arena_seal(s->arena, ref);
	r = old_ref ? trie_exchange(s->edit, &res->now.ordinals, ordinal, old_ref, ref)
		    : trie_put(s->edit, &res->now.ordinals, ordinal, ref, &store_ordinal_keys, NULL);
	if (r == 0)
		r = trie_put(s->edit, &res->now.by_seq, o->seq, link_of(ordinal), &by_seq.keys, NULL);
	res->now.changed_seq = s->seq;
	if (!old_ref || s->change.gains)
		res->now.valued_seq = s->seq;
	res->dirty = true;
	return r;
}

static int
add_object(struct store *s, unsigned id, uint32_t ref)
{
	struct store_resource *res = s->resources[id];
	const struct store_keys identity = store_identity_keys(s, res);
	uint64_t key_hash = object_at(&s->arena->view, ref)->key_hash;
	uint32_t ordinal, leaf;
	int r = ordinals_take(&res->ordinals, s->epoch, &res->now.next_ordinal, &ordinal);

	if (r < 0)
		return r;
	r = trie_insert(s->edit, &res->now.identity, key_hash, link_of(ordinal), &identity.keys, &leaf);
	if (r > 0) /* another key has this hash */
		r = collision_file(s->edit, s->arena, &res->now.identity, key_hash, link_of(ordinal),
				   &identity.keys);
	if (r == 0)
		r = put_object(s, id, ref, ordinal, 0);
	if (r < 0)
		return r;
	res->now.object_count++;
	store_note(s, QUEUE_ADDED, id, s->seq, 0, ref);
	shortcut_note(&res->shortcuts, key_hash, ordinal, 0, ref);
	return enter_indexes(s, res, ordinal);
}

static int
update_object(struct store *s, unsigned id, uint32_t old_ref, uint32_t ref)
{
	struct store_resource *res = s->resources[id];
	const struct object *old = object_at(&s->arena->view, old_ref);
	int r = leave_indexes(s, res, old->ordinal);

	if (r == 0)
		r = trie_remove(s->edit, &res->now.by_seq, old->seq, link_of(old->ordinal));
	if (r == 0)
		r = put_object(s, id, ref, old->ordinal, old_ref);
	if (r == 0)
		r = enter_indexes(s, res, old->ordinal);
	if (r < 0)
		return r;
	store_note(s, QUEUE_UPDATED, id, s->seq, old_ref, ref);
	shortcut_note(&res->shortcuts, old->key_hash, old->ordinal, old_ref, ref);
	store_let_go(s, &res->left, s->seq, old_ref);
	return 0;
}

/*
 * How an object ended: its final state (a ref; the last known state if no final one came), and whether the
 * deletion was seen.
 */
struct ending {
	uint32_t final;
	bool seen;
};

/* Copy to the final state what the store had given the object. */
static void
finish_final(struct store *s, uint32_t ref, uint32_t known)
{
	const struct object *last = object_at(&s->arena->view, known);
	struct object *o = arena_payload(s->arena, ref);

	o->seq = last->seq;
	o->created_seq = last->created_seq;
	o->ordinal = last->ordinal;
	o->resource = last->resource;
	arena_seal(s->arena, ref);
}

static int
remove_object(struct store *s, unsigned id, uint32_t ref, bool keep, struct ending ending)
{
	struct store_resource *res = s->resources[id];
	const struct store_keys identity = store_identity_keys(s, res);
	const struct object *o = object_at(&s->arena->view, ref);
	int r = leave_indexes(s, res, o->ordinal);

	if (r == 0)
		r = trie_remove(s->edit, &res->now.by_seq, o->seq, link_of(o->ordinal));
	if (r == 0)
		r = collision_unfile(s->edit, s->arena, &res->now.identity, o->key_hash, link_of(o->ordinal),
				     &identity.keys);
	if (r == 0)
		r = trie_remove(s->edit, &res->now.ordinals, o->ordinal, ref);
	if (r < 0)
		return r;
	ordinals_give(&res->ordinals, s->epoch + 1, o->ordinal);
	res->now.object_count--;
	res->now.changed_seq = ++s->seq;
	res->dirty = true;
	store_note(s, QUEUE_DELETED, id, s->seq, ref, ending.seen ? ending.final : 0);
	shortcut_note(&res->shortcuts, o->key_hash, o->ordinal, ref, 0);
	if (ending.final != ref) {
		finish_final(s, ending.final, ref);
		store_let_go(s, &res->left, s->seq, ref);
	}
	if (!keep || !ending.seen)
		res->now.complete_from = 0;
	if (keep)
		return tombstone_leave(s, res, ending.final, s->seq, ending.seen ? 0 : TOMBSTONE_UNSEEN);
	res->now.tombstone_floor = s->seq;
	store_let_go(s, &res->left, s->seq, ending.final);
	return 0;
}

int
store_put(struct store *s, unsigned resource, struct draft d, uint32_t found)
{
	static const struct value nothing;
	struct store_resource *res = s->resources[resource];
	uint32_t known = found_known(found), leaving = found & FOUND_NEW ? known : 0;
	struct value before = known ? value_of_object(&s->arena->view, known) : nothing;
	bool keep;
	int r = prepare_change(s, res, before, value_of_object(&s->arena->view, d.ref), leaving, &keep);

	if (r < 0)
		return r;
	if (res->now.object_count >= WARM_MIN)
		warm(s, res, object_at(&s->arena->view, d.ref)->key_hash);
	arena_open_reserve(s->arena, true);
	if (known && !leaving) {
		r = update_object(s, resource, known, d.ref);
	} else {
		/* another UID under the name: the old object is gone, this is a new one */
		r = leaving ? remove_object(s, resource, known, keep, (struct ending){known, false}) : 0;
		if (r == 0)
			r = add_object(s, resource, d.ref);
		if (r == 0 && leaving)
			tombstones_trim(s, res);
	}
	arena_open_reserve(s->arena, false);
	return r;
}

int
store_delete(struct store *s, unsigned resource, uint32_t known, bool seen, struct draft final)
{
	static const struct value nothing;
	struct store_resource *res = s->resources[resource];
	struct ending ending = {final.ref ? final.ref : known, seen};
	bool keep;
	int r;

	arena_open_reserve(s->arena, true);
	r = prepare_change(s, res, value_of_object(&s->arena->view, known), nothing, ending.final, &keep);
	if (r == 0)
		r = remove_object(s, resource, known, keep, ending);
	if (r == 0)
		tombstones_trim(s, res);
	arena_open_reserve(s->arena, false);
	return r;
}
