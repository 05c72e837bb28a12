/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the set of resources: added by configuration, adopted with a root, emptied, dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"
#include "writer/store/store_definition.h"
#include "writer/store/store_document.h"
#include "writer/store/store_internal.h"

/* ---- adding, emptying, dropping ---- */

static void
await_list(struct store_resource *res)
{
	res->now.version_length = 0;
	memset(res->now.version, 0, sizeof(res->now.version));
	res->now.complete_from = 0;
	res->now.state = RESOURCE_LISTING;
	res->dirty = true;
}

/* Remove all objects and index entries; the resource stays, empty and LISTING. */
static void
empty_resource(struct store *s, unsigned id)
{
	struct store_resource *res = s->resources[id];
	struct trie_iter it;

	store_note(s, QUEUE_RESET, id, ++s->seq, 0, 0);
	for (int r = trie_first(&it, &s->arena->view, res->now.ordinals); r > 0; r = trie_next(&it))
		if (object_at(&s->arena->view, it.leaf))
			store_let_go(s, &res->left, s->seq, it.leaf);
	index_retire_all(s->edit, s->arena, res->now.identity);
	trie_retire_all(s->edit, res->now.ordinals);
	trie_retire_all(s->edit, res->now.by_seq);
	for (unsigned i = 0; i < res->indexes.count; i++) {
		index_retire_all(s->edit, s->arena, res->indexes.roots[i]);
		res->indexes.roots[i] = 0;
	}
	shortcut_drop(&res->shortcuts, s->arena, &res->now);
	res->now.identity = res->now.ordinals = res->now.by_seq = 0;
	res->now.object_count = res->now.next_ordinal = 0;
	await_list(res);
	res->now.changed_seq = s->seq;
	res->now.tombstone_floor = s->seq;
	res->synced_told = false;
	ordinals_done(&res->ordinals);
	tombstones_drop_all(s, res);
	res->dirty = true;
}

/* A part of what readers know under this name is dropped: raise the floor, so that they compare anew. */
static void
reset_others(struct store *s, const char *name)
{
	for (unsigned i = 0; i < s->resource_count; i++) {
		struct store_resource *res = s->resources[i];

		if (strcmp(res->name, name) != 0)
			continue;
		res->now.tombstone_floor = s->seq;
		res->now.complete_from = 0;
		res->dirty = true;
	}
}

static void
remove_resource(struct store *s, unsigned i)
{
	struct store_resource *res = s->resources[i];
	_Atomic uint64_t *contact = s->arena->header->contact_boot_ns;
	char name[sizeof(res->name)];

	memcpy(name, res->name, sizeof(name));
	empty_resource(s, i);
	intern_unref(s->intern, res->now.descriptor);
	if (res->now.status)
		intern_unref(s->intern, res->now.status);
	if (res->published)
		arena_retire(s->arena, res->published);
	store_resource_free(res);
	s->resource_count--;
	memmove(&s->resources[i], &s->resources[i + 1], (s->resource_count - i) * sizeof(s->resources[0]));
	for (; i < s->resource_count; i++)
		atomic_store_explicit(&contact[i],
				      atomic_load_explicit(&contact[i + 1], memory_order_relaxed),
				      memory_order_relaxed);
	s->root_changed = s->table_changed = true;
	reset_others(s, name);
}

/* True if both describe the same resource, in the same namespace or both in all. */
static bool
same_place(const struct store *s, const struct store_resource *a, const struct store_resource *b)
{
	const struct arena_view *view = &s->arena->view;
	const char *x = "", *y = "";
	size_t x_length = 0, y_length = 0;

	value_string(value_at_name(value_of_block(view, a->now.descriptor), "namespace"), &x, &x_length);
	value_string(value_at_name(value_of_block(view, b->now.descriptor), "namespace"), &y, &y_length);
	return strcmp(a->name, b->name) == 0 && x_length == y_length && memcmp(x, y, x_length) == 0;
}

/* Empty the resource at this place, and let it take over the definition of `res`, which is freed. */
static void
renew_resource(struct store *s, unsigned id, struct store_resource *res)
{
	struct store_resource *known = s->resources[id];
	struct index_table indexes = known->indexes;

	empty_resource(s, id);
	intern_unref(s->intern, known->now.descriptor);
	known->now.descriptor = res->now.descriptor;
	memcpy(known->now.fingerprint, res->now.fingerprint, sizeof(known->now.fingerprint));
	memset(known->now.cluster, 0, sizeof(known->now.cluster));
	known->indexes = res->indexes;
	tombstones_begin(known);
	known->claimed = true;
	s->table_changed = true;
	res->indexes = indexes;
	store_resource_free(res);
}

/* How much of the content of a resource with the same name and namespace `res` can keep. */
enum match { MATCH_NONE, MATCH_PLACE, MATCH_SOURCE, MATCH_CONTENT, MATCH_ALL };

static enum match
compare(const struct store *s, const struct store_resource *known, const struct store_resource *res)
{
	const uint8_t *a = known->now.fingerprint, *b = res->now.fingerprint;

	if (known->claimed || !same_place(s, known, res))
		return MATCH_NONE;
	if (memcmp(a, b, STORE_SOURCE_BYTES) != 0)
		return MATCH_PLACE;
	if (memcmp(a, b, sizeof(known->now.fingerprint)) != 0)
		return MATCH_SOURCE;
	/* equal descriptors are one block */
	return known->now.descriptor == res->now.descriptor ? MATCH_ALL : MATCH_CONTENT;
}

/* 1 or 2: its content stays; -ENOSPC: there is no room for its new indexes; other negative errno */
static int
go_on_with(struct store *s, unsigned id, const char *descriptor_json, const uint8_t fingerprint[24],
	   enum match match)
{
	int r = match == MATCH_ALL ? 0 : store_redefine(s, id, descriptor_json, fingerprint);

	if (r < 0)
		return r;
	if (match == MATCH_SOURCE)
		await_list(s->resources[id]);
	s->resources[id]->claimed = true;
	return match == MATCH_SOURCE ? 2 : 1;
}

static int
append_resource(struct store *s, struct store_resource *res)
{
	if (s->resource_count == RESOURCE_MAX)
		return -ENOSPC;
	res->now.state = RESOURCE_LISTING;
	res->now.changed_seq = s->seq;
	res->now.tombstone_floor = s->seq;
	res->claimed = true;
	res->dirty = true;
	s->resources[s->resource_count++] = res;
	s->root_changed = s->table_changed = true;
	return 0;
}

int
store_add_resource(struct store *s, const char *descriptor_json, const uint8_t fingerprint[24],
		   unsigned *ret_id)
{
	struct store_resource *res = calloc(1, sizeof(*res));
	enum match best = MATCH_NONE;
	const char *why;
	int r;

	if (!res)
		return -ENOMEM;
	r = store_prepare_events(s);
	if (r == 0)
		r = store_make_document(s, descriptor_json, &res->now.descriptor);
	if (r < 0) {
		free(res);
		return r;
	}
	r = store_read_descriptor(s, res, &why);
	memcpy(res->now.fingerprint, fingerprint, sizeof(res->now.fingerprint));
	*ret_id = s->resource_count;
	for (unsigned i = 0; i < s->resource_count && r == 0; i++) {
		enum match match = compare(s, s->resources[i], res);

		if (match > best) {
			best = match;
			*ret_id = i;
		}
	}
	if (r == 0 && best >= MATCH_SOURCE) {
		r = go_on_with(s, *ret_id, descriptor_json, fingerprint, best);
		if (r == -ENOSPC)
			best = MATCH_PLACE;
	}
	if (best == MATCH_PLACE) {
		renew_resource(s, *ret_id, res);
		return 0;
	}
	if (r == 0) {
		r = append_resource(s, res);
		if (r == 0)
			return 0;
	}
	intern_unref(s->intern, res->now.descriptor);
	store_resource_free(res);
	return r;
}

void
store_unclaim(struct store *s, unsigned resource)
{
	s->resources[resource]->claimed = false;
}

void
store_set_fingerprint(struct store *s, unsigned resource, const uint8_t fingerprint[24])
{
	struct resource *now = &s->resources[resource]->now;

	if (memcmp(now->fingerprint, fingerprint, sizeof(now->fingerprint)) == 0)
		return;
	memcpy(now->fingerprint, fingerprint, sizeof(now->fingerprint));
	s->resources[resource]->dirty = true;
	s->root_changed = s->table_changed = true;
}

static const uint8_t disowned[sizeof(((struct resource *)0)->fingerprint)];

bool
store_disown_unclaimed(struct store *s)
{
	bool any = false;

	for (unsigned i = 0; i < s->resource_count; i++) {
		if (s->resources[i]->claimed)
			continue;
		store_set_fingerprint(s, i, disowned);
		any = true;
	}
	return any;
}

/* ---- adoption ---- */

void
store_drop_unwanted(struct store *s, const bool wanted[])
{
	for (unsigned i = s->resource_count; i-- > 0;)
		if (!wanted[i] || memcmp(s->resources[i]->now.fingerprint, disowned, sizeof(disowned)) == 0)
			remove_resource(s, i);
}

/*
 * Ordinals below next_ordinal without an object are free at once: readers have seen no root of this
 * generation but the current one.
 */
static int
find_free_ordinals(struct store *s, struct store_resource *res)
{
	uint64_t expected = 0, room = res->now.next_ordinal - res->now.object_count;
	struct trie_iter it;

	if (res->now.next_ordinal < res->now.object_count || res->now.next_ordinal > LINK_IMMEDIATE)
		return -EBADMSG;
	for (int r = trie_first(&it, &s->arena->view, res->now.ordinals);; r = trie_next(&it)) {
		const struct object *o = r > 0 ? object_at(&s->arena->view, it.leaf) : NULL;
		uint64_t stop = o ? o->ordinal : res->now.next_ordinal;

		if (r < 0 || (r > 0 && !o) || stop > res->now.next_ordinal)
			return -EBADMSG;
		for (; expected < stop; expected++) {
			if (room-- == 0)
				return -EBADMSG;
			ordinals_give(&res->ordinals, 0, (uint32_t)expected);
		}
		if (r == 0)
			return 0;
		expected = stop + 1;
	}
}

void
store_expect(struct store *s, bool more)
{
	if (s->expects_more == more)
		return;
	s->expects_more = more;
	s->root_changed = true;
}

int
store_load_resources(struct store *s, const struct root *root)
{
	for (uint32_t i = 0; i < root->resource_count; i++) {
		const struct resource *r = root_resource(&s->arena->view, root, i);
		struct store_resource *res;
		const char *why;
		int rc;

		if (!root->resources[i] && i + 1 == root->resource_count) {
			s->expects_more = true;
			break;
		}
		if (!r)
			return -EBADMSG;
		res = calloc(1, sizeof(*res));
		if (!res)
			return -ENOMEM;
		s->resources[s->resource_count++] = res;
		memcpy(&res->now, r, sizeof(res->now));
		res->published = root->resources[i];
		res->synced_told = r->state == RESOURCE_SYNCED;
		rc = store_read_descriptor(s, res, &why);
		if (rc == 0 && res->indexes.count != r->index_count)
			rc = -EBADMSG;
		if (rc == 0)
			rc = find_free_ordinals(s, res);
		if (rc == 0)
			rc = tombstones_load(s, res);
		if (rc < 0)
			return rc;
		memcpy(res->indexes.roots, r->indexes, r->index_count * sizeof(uint32_t));
		shortcut_rebuild(s->arena, &res->now);
	}
	return 0;
}
