/*
 * The store: what is known, and changes to it.
 *
 * A change touches several tries; it may not stop half way. So each first makes sure of the memory that it can need at most
 * (arena_ensure), and then cannot fail but for a damaged arena.
 */
#include "writer/store_internal.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/collision.h"
#include "shm-layout/object.h"
#include "writer/collision_edit.h"

#define PATH_BYTES (TRIE_DEPTH_MAX * 288ull)

/* ---- life ---- */

int
store_new(struct arena *arena, struct intern *intern, struct slots *slots, struct store **ret_store)
{
	struct store *s = calloc(1, sizeof(*s));
	uint64_t root_offset = atomic_load_explicit(&arena->header->root, memory_order_relaxed);
	int r = -ENOMEM;

	if (!s)
		return r;
	s->arena = arena;
	s->slots = slots;
	s->intern = intern ? intern : intern_new(arena);
	s->edit = trie_edit_new(arena);
	if (!s->intern || !s->edit)
		goto fail;
	path_compile(&s->uid_path, "metadata.uid", strlen("metadata.uid"), NULL, NULL);
	path_compile(&s->version_path, "metadata.resourceVersion", strlen("metadata.resourceVersion"), NULL, NULL);
	if (root_offset) {
		const struct root *root = root_at(&arena->view, root_offset);

		r = root ? store_load_resources(s, root) : -EBADMSG;
		if (r < 0)
			goto fail;
		s->root = (uint32_t)(root_offset / REF_UNIT);
		s->epoch = root->epoch;
		s->seq = root->seq;
		memcpy(s->lineage, root->lineage, sizeof(s->lineage));
		arena_set_working_epoch(arena, s->epoch + 1);
	} else {
		s->epoch = EPOCH_FIRST - 1;
		randombytes_buf(s->lineage, sizeof(s->lineage));
		arena_set_working_epoch(arena, s->epoch + 1);
		s->resources_changed = true;
		r = store_commit(s);
		if (r < 0)
			goto fail;
	}
	*ret_store = s;
	return 0;
fail:
	if (intern)
		s->intern = NULL; /* still the caller's */
	store_free(s);
	return r;
}

void
store_free(struct store *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->resource_count; i++)
		store_resource_free(s->resources[i]);
	index_change_done(&s->change);
	trie_edit_free(s->edit);
	intern_free(s->intern);
	free(s);
}

struct arena *
store_arena(const struct store *s)
{
	return s->arena;
}

struct intern *
store_intern(const struct store *s)
{
	return s->intern;
}

uint64_t
store_epoch(const struct store *s)
{
	return s->epoch;
}

unsigned
store_resource_count(const struct store *s)
{
	return s->resource_count;
}

const struct resource *
store_resource(const struct store *s, unsigned id)
{
	return id < s->resource_count ? &s->resources[id]->now : NULL;
}

/* ---- what is known ---- */

static const struct object *
object_of(const struct store *s, uint32_t ref)
{
	return object_at(&s->arena->view, ref);
}

uint32_t
store_by_ordinal(const struct store *s, unsigned resource, uint32_t ordinal)
{
	const struct object *o;
	uint32_t leaf;

	if (trie_get(&s->arena->view, s->resources[resource]->now.ordinals, ordinal, &leaf) <= 0)
		return 0;
	o = object_of(s, leaf);
	return o && o->ordinal == ordinal ? leaf : 0;
}

/* The leaf under key_hash and the position in it of the entry with this key; its object's ref, or 0. */
static uint32_t
find_key(const struct store *s, unsigned resource, uint64_t key_hash, const char *ns, size_t ns_length, const char *name,
	 size_t name_length, uint32_t *ret_leaf, uint32_t *ret_i)
{
	const struct arena_view *view = &s->arena->view;
	uint32_t link;

	if (trie_get(view, s->resources[resource]->now.identity, key_hash, ret_leaf) <= 0)
		return 0;
	for (uint32_t i = 0; (link = leaf_link(view, *ret_leaf, i)) != 0; i++) {
		uint32_t ref = link_is_immediate(link) ? store_by_ordinal(s, resource, link_value(link)) : 0;
		const struct object *o = ref ? object_of(s, ref) : NULL;

		if (o && o->key_hash == key_hash && object_has_key(o, ns, ns_length, name, name_length)) {
			*ret_i = i;
			return ref;
		}
	}
	return 0;
}

uint32_t
store_find(const struct store *s, unsigned resource, uint64_t key_hash, const char *ns, size_t ns_length, const char *name,
	   size_t name_length)
{
	uint32_t leaf, i;

	return find_key(s, resource, key_hash, ns, ns_length, name, name_length, &leaf, &i);
}

void
store_object_identity(const struct store *s, uint32_t ref, const char **ret_uid, size_t *ret_uid_length,
		      const char **ret_version, size_t *ret_version_length)
{
	struct value body = value_of_object(&s->arena->view, ref);

	if (!value_string(path_get(&s->uid_path, body), ret_uid, ret_uid_length)) {
		*ret_uid = "";
		*ret_uid_length = 0;
	}
	if (!value_string(path_get(&s->version_path, body), ret_version, ret_version_length)) {
		*ret_version = "";
		*ret_version_length = 0;
	}
}

/* ---- keys of leaves ---- */

struct leaf_keys {
	struct trie_keys keys;
	const struct store *store;
	unsigned resource;
};

static int
identity_of_leaf(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf, struct trie_way way,
		 uint64_t *ret_key)
{
	const struct leaf_keys *k = (const struct leaf_keys *)(const void *)self;
	uint32_t link = leaf_link(view, leaf, 0);
	uint32_t ref = link_is_immediate(link) ? store_by_ordinal(k->store, k->resource, link_value(link)) : 0;

	(void)way;
	if (!ref)
		return -EBADMSG;
	*ret_key = object_of(k->store, ref)->key_hash;
	return 0;
}

static int
seq_of_leaf(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf, struct trie_way way, uint64_t *ret_key)
{
	const struct leaf_keys *k = (const struct leaf_keys *)(const void *)self;
	uint32_t ref = link_is_immediate(leaf) ? store_by_ordinal(k->store, k->resource, link_value(leaf)) : 0;

	(void)view;
	(void)way;
	if (!ref)
		return -EBADMSG;
	*ret_key = object_of(k->store, ref)->seq;
	return 0;
}

static int
ordinal_of_leaf(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf, struct trie_way way,
		uint64_t *ret_key)
{
	const struct object *o = object_at(view, leaf);

	(void)self;
	(void)way;
	if (!o)
		return -EBADMSG;
	*ret_key = o->ordinal;
	return 0;
}

static const struct trie_keys ordinal_keys = {ordinal_of_leaf, NULL};

/* ---- changes ---- */

/* Compute what the change does to the indexes, and make sure of all memory that it may need. 0, -ENOSPC, -ENOMEM. */
static int
prepare_change(struct store *s, struct store_resource *res, struct value before, struct value after, bool replaced)
{
	uint64_t bytes;
	int r = index_change_prepare(&s->change, &res->indexes, s->arena->header->hash_key, before, after, replaced, &bytes);

	if (r < 0)
		return r;
	bytes += 8 * PATH_BYTES; /* ordinals, by-seq and identity, twice for an object that replaces another */
	r = trie_edit_reserve(s->edit, (size_t)(bytes / 48));
	return r < 0 ? r : arena_ensure(s->arena, bytes);
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
	struct leaf_keys by_seq = {{seq_of_leaf, NULL}, s, id};
	struct object *o = arena_payload(s->arena, ref);
	int r;

	o->seq = ++s->seq;
	o->created_seq = created_seq ? created_seq : o->seq;
	o->ordinal = ordinal;
	o->resource = (uint16_t)id;
	arena_seal(s->arena, ref);
	r = trie_put(s->edit, &res->now.ordinals, ordinal, ref, &ordinal_keys, NULL);
	if (r == 0)
		r = trie_put(s->edit, &res->now.by_seq, o->seq, link_of(ordinal), &by_seq.keys, NULL);
	res->now.changed_seq = s->seq;
	res->dirty = true;
	return r;
}

static void
retire_object(struct store *s, uint32_t ref)
{
	const struct block *b = arena_block(s->arena, ref);
	const struct object *o = object_of(s, ref);

	intern_release_value(s->intern, b->payload + o->body_offset, b->payload + block_length(b));
	arena_retire(s->arena, ref);
}

static int
add_object(struct store *s, unsigned id, uint32_t ref)
{
	struct store_resource *res = s->resources[id];
	struct leaf_keys identity = {{identity_of_leaf, NULL}, s, id};
	uint64_t key_hash = object_of(s, ref)->key_hash;
	uint32_t ordinal, leaf, entry;
	int r = ordinals_take(&res->ordinals, s->epoch, &res->now.next_ordinal, &ordinal);

	if (r < 0)
		return r;
	r = put_object(s, id, ref, ordinal, 0);
	if (r < 0)
		return r;
	r = trie_insert(s->edit, &res->now.identity, key_hash, link_of(ordinal), &identity.keys, &leaf);
	if (r > 0) { /* another key with this hash */
		r = collision_add(s->edit, s->arena, leaf, link_of(ordinal), &entry);
		if (r == 0)
			r = trie_exchange(s->edit, &res->now.identity, key_hash, leaf, entry);
	}
	if (r < 0)
		return r;
	res->now.object_count++;
	return enter_indexes(s, res, ordinal);
}

static int
update_object(struct store *s, unsigned id, uint32_t old_ref, uint32_t ref)
{
	struct store_resource *res = s->resources[id];
	struct leaf_keys by_seq = {{seq_of_leaf, NULL}, s, id};
	const struct object *old = object_of(s, old_ref);
	int r = leave_indexes(s, res, old->ordinal);

	if (r == 0)
		r = trie_remove(s->edit, &res->now.by_seq, old->seq, &by_seq.keys, NULL);
	if (r == 0)
		r = put_object(s, id, ref, old->ordinal, old->created_seq);
	if (r == 0)
		r = enter_indexes(s, res, old->ordinal);
	if (r == 0)
		retire_object(s, old_ref);
	return r;
}

static int
remove_object(struct store *s, unsigned id, uint32_t ref, uint32_t leaf, uint32_t i)
{
	struct store_resource *res = s->resources[id];
	struct leaf_keys identity = {{identity_of_leaf, NULL}, s, id}, by_seq = {{seq_of_leaf, NULL}, s, id};
	const struct object *o = object_of(s, ref);
	uint32_t entry;
	int r = leave_indexes(s, res, o->ordinal);

	if (r == 0)
		r = trie_remove(s->edit, &res->now.by_seq, o->seq, &by_seq.keys, NULL);
	if (r == 0 && leaf_is_collision(&s->arena->view, leaf)) {
		r = collision_set(s->edit, s->arena, leaf, i, 0, &entry);
		if (r == 0)
			r = trie_exchange(s->edit, &res->now.identity, o->key_hash, leaf, entry);
	} else if (r == 0) {
		r = trie_remove(s->edit, &res->now.identity, o->key_hash, &identity.keys, NULL);
	}
	if (r == 0)
		r = trie_remove(s->edit, &res->now.ordinals, o->ordinal, &ordinal_keys, NULL);
	if (r < 0)
		return r;
	ordinals_give(&res->ordinals, s->epoch + 1, o->ordinal);
	res->now.object_count--;
	res->now.changed_seq = ++s->seq;
	res->dirty = true;
	retire_object(s, ref);
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
	const struct object *o = object_of(s, d.ref);
	enum store_change change = STORE_ADDED;
	struct value before = nothing, after;
	uint32_t known, leaf, i;
	int r;

	if (!o || o->name_length == 0)
		return -EBADMSG;
	known = find_key(s, resource, o->key_hash, object_namespace(o), o->namespace_length, object_name(o), o->name_length,
			 &leaf, &i);
	after = value_of_object(&s->arena->view, d.ref);
	if (known) {
		const char *uid, *version, *known_uid, *known_version;
		size_t uid_length, version_length, known_uid_length, known_version_length;

		store_object_identity(s, d.ref, &uid, &uid_length, &version, &version_length);
		store_object_identity(s, known, &known_uid, &known_uid_length, &known_version, &known_version_length);
		change = same(uid, uid_length, known_uid, known_uid_length) ? STORE_UPDATED : STORE_ADDED;
		if (change == STORE_UPDATED && version_length > 0 &&
		    same(version, version_length, known_version, known_version_length)) {
			draft_discard(s->arena, s->intern, d);
			if (ret_change)
				*ret_change = STORE_NOTHING;
			return 0;
		}
		before = value_of_object(&s->arena->view, known);
	}
	r = prepare_change(s, res, before, after, change == STORE_ADDED);
	if (r < 0)
		return r;
	arena_open_reserve(s->arena, true);
	if (known && change == STORE_UPDATED) {
		r = update_object(s, resource, known, d.ref);
	} else {
		/* another UID under the name: the old object is gone, this is a new one */
		r = known ? remove_object(s, resource, known, leaf, i) : 0;
		if (r == 0)
			r = add_object(s, resource, d.ref);
	}
	arena_open_reserve(s->arena, false);
	if (r == 0 && ret_change)
		*ret_change = change;
	return r;
}

int
store_delete(struct store *s, unsigned resource, uint64_t key_hash, const char *ns, size_t ns_length, const char *name,
	     size_t name_length, enum store_change *ret_change)
{
	static const struct value nothing;
	uint32_t leaf, i;
	uint32_t known = find_key(s, resource, key_hash, ns, ns_length, name, name_length, &leaf, &i);
	int r;

	if (ret_change)
		*ret_change = known ? STORE_DELETED : STORE_NOTHING;
	if (!known)
		return 0;
	arena_open_reserve(s->arena, true);
	r = prepare_change(s, s->resources[resource], value_of_object(&s->arena->view, known), nothing, false);
	if (r == 0)
		r = remove_object(s, resource, known, leaf, i);
	arena_open_reserve(s->arena, false);
	return r;
}

int
store_set_version(struct store *s, unsigned resource, const char *version, size_t length)
{
	struct resource *now = &s->resources[resource]->now;

	if (length > RESOURCE_VERSION_MAX)
		return -E2BIG;
	if (same(now->version, now->version_length, version, length))
		return 0;
	memset(now->version, 0, sizeof(now->version));
	memcpy(now->version, version, length);
	now->version_length = (uint8_t)length;
	s->resources[resource]->dirty = true;
	return 0;
}

void
store_set_state(struct store *s, unsigned resource, enum resource_state state)
{
	struct store_resource *res = s->resources[resource];

	if (res->now.state == (uint32_t)state)
		return;
	res->now.state = (uint32_t)state;
	res->dirty = true;
}
