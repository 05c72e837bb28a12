/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: its life, and what is known.
 */
#include "writer/store/store_internal.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/collision.h"
#include "shm-layout/object.h"
#include "writer/decode/value_same.h"

/* ---- life ---- */

int
store_new(struct arena *arena, struct intern *intern, struct pins *pins, struct store **ret_store)
{
	struct store *s = calloc(1, sizeof(*s));
	uint64_t root_offset = atomic_load_explicit(&arena->header->root, memory_order_relaxed);
	int r = -ENOMEM;

	if (!s)
		return r;
	s->arena = arena;
	s->pins = pins;
	s->intern = intern ? intern : intern_new(arena);
	s->edit = trie_edit_new(arena);
	if (!s->intern || !s->edit)
		goto fail;
	path_compile(&s->uid_path, "metadata.uid", strlen("metadata.uid"), NULL, NULL);
	path_compile(&s->version_path, "metadata.resourceVersion", strlen("metadata.resourceVersion"), NULL,
		     NULL);
	if (root_offset) {
		const struct root *root = root_at(&arena->view, root_offset);

		r = root ? store_load_resources(s, root) : -EBADMSG;
		if (r < 0)
			goto fail;
		s->root = (uint32_t)(root_offset / REF_UNIT);
		s->epoch = root->epoch;
		s->seq = s->published_seq = root->seq;
		s->consumers = root->consumers;
		s->table = root->table;
		memcpy(s->lineage, root->lineage, sizeof(s->lineage));
		arena_set_working_epoch(arena, s->epoch + 1);
	} else {
		s->epoch = EPOCH_FIRST - 1;
		randombytes_buf(s->lineage, sizeof(s->lineage));
		arena_set_working_epoch(arena, s->epoch + 1);
		s->root_changed = true;
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
	free(s->events);
	free(s->tombstone_keys.keys);
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

const char *
store_resource_name(const struct store *s, unsigned id)
{
	return id < s->resource_count ? s->resources[id]->name : "";
}

/* ---- what is known ---- */

static const struct object *
object_of(const struct store *s, uint32_t ref)
{
	return object_at(&s->arena->view, ref);
}

uint32_t
store_ordinal_ref(const struct store *s, const struct store_resource *res, uint32_t ordinal)
{
	const struct object *o;
	uint32_t leaf;

	if (trie_get(&s->arena->view, res->now.ordinals, ordinal, &leaf) <= 0)
		return 0;
	o = object_of(s, leaf);
	return o && o->ordinal == ordinal ? leaf : 0;
}

uint32_t
store_by_ordinal(const struct store *s, unsigned resource, uint32_t ordinal)
{
	return store_ordinal_ref(s, s->resources[resource], ordinal);
}

uint32_t
store_find_key(const struct store *s, unsigned resource, uint64_t key_hash, const char *ns, size_t ns_length,
	       const char *name, size_t name_length, uint32_t *ret_leaf, uint32_t *ret_i)
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
store_find(const struct store *s, unsigned resource, uint64_t key_hash, const char *ns, size_t ns_length,
	   const char *name, size_t name_length)
{
	uint32_t leaf, i;

	return store_find_key(s, resource, key_hash, ns, ns_length, name, name_length, &leaf, &i);
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

static bool
same_text(const char *a, size_t a_length, const char *b, size_t b_length)
{
	return a_length == b_length && memcmp(a, b, a_length) == 0;
}

bool
store_same_state(const struct store *s, uint32_t known, uint32_t draft)
{
	const char *uid, *version, *known_uid, *known_version;
	size_t uid_length, version_length, known_uid_length, known_version_length;

	store_object_identity(s, draft, &uid, &uid_length, &version, &version_length);
	store_object_identity(s, known, &known_uid, &known_uid_length, &known_version, &known_version_length);
	if (uid_length == 0 || version_length == 0 ||
	    !same_text(uid, uid_length, known_uid, known_uid_length) ||
	    !same_text(version, version_length, known_version, known_version_length))
		return false;
	return value_same(value_of_object(&s->arena->view, known), value_of_object(&s->arena->view, draft));
}

int
store_set_version(struct store *s, unsigned resource, const char *version, size_t length)
{
	struct resource *now = &s->resources[resource]->now;

	if (length > RESOURCE_VERSION_MAX)
		return -E2BIG;
	if (now->version_length == length && memcmp(now->version, version, length) == 0)
		return 0;
	memset(now->version, 0, sizeof(now->version));
	memcpy(now->version, version, length);
	now->version_length = (uint8_t)length;
	s->resources[resource]->dirty = true;
	return 0;
}

void
store_set_cluster(struct store *s, unsigned resource, const uint8_t cluster[8])
{
	struct resource *now = &s->resources[resource]->now;

	if (memcmp(now->cluster, cluster, sizeof(now->cluster)) == 0)
		return;
	memcpy(now->cluster, cluster, sizeof(now->cluster));
	s->resources[resource]->dirty = true;
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
