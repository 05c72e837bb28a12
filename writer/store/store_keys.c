/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds objects by key and ordinal, and computes the keys of leaves.
 */
#include "writer/store/store_keys.h"

#include <errno.h>
#include <string.h>

#include "shm-layout/collision.h"
#include "shm-layout/object.h"
#include "shm-layout/ordinal.h"
#include "shm-layout/tombstone.h"
#include "writer/decode/value_same.h"
#include "writer/store/store_internal.h"

/* ---- lookup by key and by ordinal ---- */

uint32_t
store_ordinal_ref(const struct store *s, const struct store_resource *res, uint32_t ordinal)
{
	const struct object *o;
	uint32_t ref;

	return ordinal_object(&s->arena->view, res->now.ordinals, ordinal, &ref, &o) > 0 ? ref : 0;
}

uint32_t
store_by_ordinal(const struct store *s, unsigned resource, uint32_t ordinal)
{
	return store_ordinal_ref(s, s->resources[resource], ordinal);
}

uint32_t
store_find(const struct store *s, unsigned resource, uint64_t key_hash, const char *ns, size_t ns_length,
	   const char *name, size_t name_length)
{
	const struct store_resource *res = s->resources[resource];
	const struct arena_view *view = &s->arena->view;
	const uint32_t *links;
	uint32_t leaf, count;

	if (trie_get(view, res->now.identity, key_hash, &leaf) <= 0)
		return 0;
	count = leaf_links(view, &leaf, &links);
	for (uint32_t i = 0; i < count; i++) {
		const struct object *o;
		uint32_t ref;

		if (link_is_immediate(links[i]) &&
		    ordinal_object(view, res->now.ordinals, link_value(links[i]), &ref, &o) > 0 &&
		    o->key_hash == key_hash && object_has_key(o, ns, ns_length, name, name_length))
			return ref;
	}
	return 0;
}

uint32_t
store_look(const struct store *s, unsigned resource, uint32_t draft, bool *ret_same)
{
	const struct arena_view *view = &s->arena->view;
	const struct object *o = object_at(view, draft), *was;
	uint32_t known = store_find(s, resource, o->key_hash, object_namespace(o), o->namespace_length,
				    object_name(o), o->name_length);

	*ret_same = false;
	if (!known)
		return FOUND_NEW;
	was = object_at(view, known);
	if (!object_has_uid_of(o, was))
		return FOUND_NEW | known;
	*ret_same = o->version_length > 0 && object_has_version_of(o, was) &&
		    value_same(value_of_object(view, known), value_of_object(view, draft));
	return known;
}

/* ---- keys of leaves ---- */

static int
identity_of_leaf(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf,
		 struct trie_way way, uint64_t *ret_key)
{
	const struct store_keys *k = (const struct store_keys *)(const void *)self;
	uint32_t link = leaf_link(view, leaf, 0);
	uint32_t ref = link_is_immediate(link) ? store_ordinal_ref(k->store, k->resource, link_value(link))
					       : 0;

	(void)way;
	if (!ref)
		return -EBADMSG;
	*ret_key = object_at(view, ref)->key_hash;
	return 0;
}

static int
seq_of_leaf(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf, struct trie_way way,
	    uint64_t *ret_key)
{
	const struct store_keys *k = (const struct store_keys *)(const void *)self;
	const struct tombstone *t;
	uint32_t ref;

	(void)way;
	if (!link_is_immediate(leaf)) {
		t = tombstone_at(view, leaf);
		if (!t)
			return -EBADMSG;
		*ret_key = t->seq;
		return 0;
	}
	ref = store_ordinal_ref(k->store, k->resource, link_value(leaf));
	if (!ref)
		return -EBADMSG;
	*ret_key = object_at(view, ref)->seq;
	return 0;
}

struct store_keys
store_by_seq_keys(const struct store *s, const struct store_resource *res)
{
	return (struct store_keys){{seq_of_leaf, NULL}, s, res};
}

struct store_keys
store_identity_keys(const struct store *s, const struct store_resource *res)
{
	return (struct store_keys){{identity_of_leaf, NULL}, s, res};
}

static int
ordinal_of_leaf(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf,
		struct trie_way way, uint64_t *ret_key)
{
	const struct object *o = object_at(view, leaf);

	(void)self;
	(void)way;
	if (!o)
		return -EBADMSG;
	*ret_key = o->ordinal;
	return 0;
}

const struct trie_keys store_ordinal_keys = {ordinal_of_leaf, NULL};
