/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes to what the store knows: objects come, change, go.
 *
 * A change touches several tries; it may not stop half way. So each first makes sure of the memory that it
 * can need at most (arena_ensure, store_reserve_notes), and then cannot fail but for a damaged arena.
 */
#include "writer/store/store_internal.h"

#include <errno.h>
#include <string.h>

#include "shm-layout/object.h"
#include "shm-layout/tombstone.h"
#include "writer/decode/value_same.h"
#include "writer/store/collision_edit.h"
#include "writer/store/store_keys.h"

/*
 * Compute what the change does to the indexes, and make sure of all memory that it may need. 0, -ENOSPC,
 * -ENOMEM.
 *
 * leaving   the object that goes, in its final state, or 0
 * ret_keep  it leaves a tombstone: limits allow it, and there is room
 */
static int
prepare_change(struct store *s, struct store_resource *res, struct value before, struct value after,
	       uint32_t leaving, bool *ret_keep)
{
	uint64_t bytes, more = 0;
	int r = index_change_prepare(&s->change, &res->indexes, s->arena->header->hash_key, before, after,
				     leaving != 0, &bytes);

	if (r < 0)
		return r;
	/* ordinals, by-seq and identity, twice for an object that replaces another */
	bytes += 8 * PATH_BYTES;
	r = store_reserve_notes(s, res, 3);
	*ret_keep = leaving && res->tombstones.limits.count > 0;
	if (r == 0 && *ret_keep)
		r = tombstone_prepare(s, res, leaving, &more);
	if (r == 0)
		r = trie_edit_reserve(s->edit, (size_t)((bytes + more) / 48));
	if (r < 0)
		return r;
	r = arena_ensure(s->arena, bytes + more);
	if (r == -ENOSPC && *ret_keep) { /* it must be able to go all the same */
		*ret_keep = false;
		r = arena_ensure(s->arena, bytes);
	}
	return r;
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

/* The draft becomes the state that ordinals and by-seq lead to. */
static int
put_object(struct store *s, unsigned id, uint32_t ref, uint32_t ordinal, uint64_t created_seq)
{
	struct store_resource *res = s->resources[id];
	const struct store_keys by_seq = store_by_seq_keys(s, res);
	struct object *o = arena_payload(s->arena, ref);
	int r;

	o->seq = ++s->seq;
	o->created_seq = created_seq ? created_seq : o->seq;
	o->ordinal = ordinal;
	o->resource = (uint16_t)id;
	arena_seal(s->arena, ref);
	r = trie_put(s->edit, &res->now.ordinals, ordinal, ref, &store_ordinal_keys, NULL);
	if (r == 0)
		r = trie_put(s->edit, &res->now.by_seq, o->seq, link_of(ordinal), &by_seq.keys, NULL);
	res->now.changed_seq = s->seq;
	res->dirty = true;
	return r;
}

static int
add_object(struct store *s, unsigned id, uint32_t ref)
{
	struct store_resource *res = s->resources[id];
	const struct store_keys identity = store_identity_keys(s, res);
	uint64_t key_hash = object_at(&s->arena->view, ref)->key_hash;
	uint32_t ordinal;
	int r = ordinals_take(&res->ordinals, s->epoch, &res->now.next_ordinal, &ordinal);

	if (r < 0)
		return r;
	r = put_object(s, id, ref, ordinal, 0);
	if (r < 0)
		return r;
	r = collision_file(s->edit, s->arena, &res->now.identity, key_hash, link_of(ordinal), &identity.keys);
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
	const struct store_keys by_seq = store_by_seq_keys(s, res);
	const struct object *old = object_at(&s->arena->view, old_ref);
	int r = leave_indexes(s, res, old->ordinal);

	if (r == 0)
		r = trie_remove(s->edit, &res->now.by_seq, old->seq, &by_seq.keys, NULL);
	if (r == 0)
		r = put_object(s, id, ref, old->ordinal, old->created_seq);
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
 * What is known of how an object ended: its final state (a ref; that of the last known when nothing else
 * came), and whether it was seen.
 */
struct ending {
	uint32_t final;
	bool seen;
};

/* The final state takes over what the store had given the object. */
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
	const struct store_keys identity = store_identity_keys(s, res), by_seq = store_by_seq_keys(s, res);
	const struct object *o = object_at(&s->arena->view, ref);
	int r = leave_indexes(s, res, o->ordinal);

	if (r == 0)
		r = trie_remove(s->edit, &res->now.by_seq, o->seq, &by_seq.keys, NULL);
	if (r == 0)
		r = collision_unfile(s->edit, s->arena, &res->now.identity, o->key_hash, link_of(o->ordinal),
				     &identity.keys);
	if (r == 0)
		r = trie_remove(s->edit, &res->now.ordinals, o->ordinal, &store_ordinal_keys, NULL);
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
	if (keep)
		return tombstone_leave(s, res, ending.final, s->seq, ending.seen ? 0 : TOMBSTONE_UNSEEN);
	res->now.tombstone_floor = s->seq;
	store_let_go(s, &res->left, s->seq, ending.final);
	return 0;
}

static bool
same(const char *a, size_t a_length, const char *b, size_t b_length)
{
	return a_length == b_length && memcmp(a, b, a_length) == 0;
}

int
store_put(struct store *s, unsigned resource, struct draft d, enum store_change *ret_change)
{
	static const struct value nothing;
	struct store_resource *res = s->resources[resource];
	const struct object *o = object_at(&s->arena->view, d.ref);
	enum store_change change = STORE_ADDED;
	struct value before = nothing, after;
	uint32_t known;
	bool keep;
	int r;

	if (!o || o->name_length == 0)
		return -EBADMSG;
	known = store_find(s, resource, o->key_hash, object_namespace(o), o->namespace_length, object_name(o),
			   o->name_length);
	after = value_of_object(&s->arena->view, d.ref);
	if (known) {
		const char *uid, *version, *known_uid, *known_version;
		size_t uid_length, version_length, known_uid_length, known_version_length;

		store_object_identity(s, d.ref, &uid, &uid_length, &version, &version_length);
		store_object_identity(s, known, &known_uid, &known_uid_length, &known_version,
				      &known_version_length);
		before = value_of_object(&s->arena->view, known);
		change = same(uid, uid_length, known_uid, known_uid_length) ? STORE_UPDATED : STORE_ADDED;
		if (change == STORE_UPDATED && version_length > 0 &&
		    same(version, version_length, known_version, known_version_length) &&
		    value_same(before, after)) {
			draft_discard(s->arena, s->intern, d);
			if (ret_change)
				*ret_change = STORE_NOTHING;
			return 0;
		}
	}
	r = prepare_change(s, res, before, after, change == STORE_ADDED ? known : 0, &keep);
	if (r < 0)
		return r;
	arena_open_reserve(s->arena, true);
	if (known && change == STORE_UPDATED) {
		r = update_object(s, resource, known, d.ref);
	} else {
		/* another UID under the name: the old object is gone, this is a new one */
		r = known ? remove_object(s, resource, known, keep, (struct ending){known, false}) : 0;
		if (r == 0)
			r = add_object(s, resource, d.ref);
		if (r == 0 && known)
			tombstones_trim(s, res);
	}
	arena_open_reserve(s->arena, false);
	if (r == 0 && ret_change)
		*ret_change = change;
	return r;
}

int
store_delete(struct store *s, unsigned resource, uint64_t key_hash, const char *ns, size_t ns_length,
	     const char *name, size_t name_length, bool seen, struct draft final,
	     enum store_change *ret_change)
{
	static const struct value nothing;
	struct store_resource *res = s->resources[resource];
	uint32_t known = store_find(s, resource, key_hash, ns, ns_length, name, name_length);
	struct ending ending = {final.ref ? final.ref : known, seen};
	bool keep;
	int r;

	if (ret_change)
		*ret_change = known ? STORE_DELETED : STORE_NOTHING;
	if (!known) {
		if (final.ref)
			draft_discard(s->arena, s->intern, final);
		return 0;
	}
	arena_open_reserve(s->arena, true);
	r = prepare_change(s, res, value_of_object(&s->arena->view, known), nothing, ending.final, &keep);
	if (r == 0)
		r = remove_object(s, resource, known, keep, ending);
	if (r == 0)
		tombstones_trim(s, res);
	arena_open_reserve(s->arena, false);
	return r;
}

int
store_sync(struct store *s, unsigned resource, uint32_t ref, struct draft changed)
{
	struct store_resource *res = s->resources[resource];
	const struct object *o = object_at(&s->arena->view, ref);
	struct value before = value_of_object(&s->arena->view, ref);
	struct value after = changed.ref ? value_of_object(&s->arena->view, changed.ref) : before;
	uint64_t bytes;
	int r;

	if (!o || !before.at || !after.at || store_ordinal_ref(s, res, o->ordinal) != ref)
		return -EBADMSG;
	r = index_change_prepare_sync(&s->change, &res->indexes, s->arena->header->hash_key, before, after,
				      &bytes);
	if (r == 0)
		r = store_reserve_notes(s, res, 1);
	bytes += 4 * PATH_BYTES;
	if (r == 0)
		r = trie_edit_reserve(s->edit, (size_t)(bytes / 48));
	if (r == 0)
		r = arena_ensure(s->arena, bytes);
	if (r < 0)
		return r;
	arena_open_reserve(s->arena, true);
	r = changed.ref ? update_object(s, resource, ref, changed.ref) : enter_indexes(s, res, o->ordinal);
	arena_open_reserve(s->arena, false);
	return r;
}
