/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives a resource another definition and keeps its content.
 *
 * An index of the new definition takes over the trie of an equal old index, or is filled from the objects.
 * The resource does not change before all indexes are filled.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"
#include "shm-layout/trie.h"
#include "writer/store/store_definition.h"
#include "writer/store/store_document.h"
#include "writer/store/store_internal.h"

#define NOWHERE UINT32_MAX

/* from[i]: the place in the old table of the index equal to the new index i, or NOWHERE. */
struct new_definition {
	struct store_resource *described; /* has the new descriptor and definitions */
	struct index_table fresh;	  /* indexes without an old trie, being filled; definitions lent */
	unsigned from[];
};

static unsigned
find_same(const struct index_table *table, const struct index_def *def)
{
	for (unsigned i = 0; i < table->count; i++)
		if (index_def_same(&table->defs[i], def))
			return i;
	return NOWHERE;
}

/* Free what was made for the definition and the resource did not take. NULL is fine. */
static void
give_up(struct store *s, struct new_definition *d)
{
	if (!d)
		return;
	index_table_changed(&d->fresh);
	for (unsigned i = 0; i < d->fresh.count; i++)
		index_retire_all(s->edit, s->arena, d->fresh.roots[i]);
	free(d->fresh.defs);
	free(d->fresh.roots);
	if (d->described && d->described->now.descriptor)
		intern_unref(s->intern, d->described->now.descriptor);
	store_resource_free(d->described);
	free(d);
}

static int
read_definition(struct store *s, const struct store_resource *res, const char *descriptor_json,
		struct new_definition **ret)
{
	struct store_resource *described = calloc(1, sizeof(*described));
	struct new_definition *d = NULL;
	const char *why;
	int r = described ? store_make_document(s, descriptor_json, &described->now.descriptor) : -ENOMEM;

	if (r == 0)
		r = store_read_descriptor(s, described, &why);
	if (described)
		d = calloc(1, sizeof(*d) + (described->indexes.count + 1) * sizeof(d->from[0]));
	if (!d) {
		if (described && described->now.descriptor)
			intern_unref(s->intern, described->now.descriptor);
		store_resource_free(described);
		return -ENOMEM;
	}
	d->described = described;
	d->fresh.defs = calloc(described->indexes.count + 1, sizeof(*d->fresh.defs));
	d->fresh.roots = calloc(described->indexes.count + 1, sizeof(*d->fresh.roots));
	if (r == 0 && (!d->fresh.defs || !d->fresh.roots))
		r = -ENOMEM;
	for (unsigned i = 0; i < described->indexes.count && r == 0; i++) {
		d->from[i] = find_same(&res->indexes, &described->indexes.defs[i]);
		if (d->from[i] == NOWHERE)
			d->fresh.defs[d->fresh.count++] = described->indexes.defs[i];
	}
	if (r < 0)
		give_up(s, d);
	else
		*ret = d;
	return r;
}

static int
file_object(struct store *s, struct index_table *fresh, uint32_t ordinals, uint32_t ref)
{
	static const struct value nothing;
	const struct object *o = object_at(&s->arena->view, ref);
	struct value body = value_of_object(&s->arena->view, ref);
	struct arena_need need;
	int r;

	if (!o || !body.at)
		return -EBADMSG;
	r = index_change_prepare(&s->change, fresh, s->arena->header->hash_key, nothing, body, false, &need);
	if (r == 0)
		r = trie_edit_reserve(s->edit, (size_t)(need.bytes / 48));
	if (r == 0)
		r = arena_ensure(s->arena, need);
	if (r < 0)
		return r;
	arena_open_reserve(s->arena, true);
	r = index_change_enter(&s->change, fresh, s->edit, s->arena, ordinals, o->ordinal);
	arena_open_reserve(s->arena, false);
	return r;
}

static int
fill(struct store *s, struct index_table *fresh, uint32_t ordinals)
{
	struct trie_iter it;
	int more, r = 0;

	if (fresh->count == 0)
		return 0;
	for (more = trie_first(&it, &s->arena->view, ordinals); more > 0 && r == 0; more = trie_next(&it))
		r = file_object(s, fresh, ordinals, it.leaf);
	return r == 0 && more < 0 ? more : r;
}

/* The new table takes the tries that it needs from the old one; `d` frees the rest. */
static void
exchange(struct store_resource *res, struct new_definition *d)
{
	struct index_table *old = &res->indexes, *new = &d->described->indexes, is;
	unsigned filled = 0;

	for (unsigned i = 0; i < new->count; i++) {
		uint32_t *root = d->from[i] == NOWHERE ? &d->fresh.roots[filled++] : &old->roots[d->from[i]];

		new->roots[i] = *root;
		*root = 0;
	}
	is = *old;
	*old = *new;
	*new = is;
	index_table_changed(old);
	index_table_changed(new);
}

int
store_redefine(struct store *s, unsigned id, const char *descriptor_json, const uint8_t fingerprint[24])
{
	struct store_resource *res = s->resources[id];
	struct new_definition *d = NULL;
	uint32_t descriptor;
	int r = read_definition(s, res, descriptor_json, &d);

	if (r == 0)
		r = fill(s, &d->fresh, res->now.ordinals);
	if (r == 0)
		r = tombstones_redefine(s, res, &d->described->indexes);
	if (r < 0) {
		give_up(s, d);
		return r;
	}
	exchange(res, d);
	for (unsigned i = 0; i < d->described->indexes.count; i++)
		index_retire_all(s->edit, s->arena, d->described->indexes.roots[i]);
	descriptor = res->now.descriptor;
	res->now.descriptor = d->described->now.descriptor;
	d->described->now.descriptor = descriptor;
	memcpy(res->now.fingerprint, fingerprint, sizeof(res->now.fingerprint));
	tombstones_begin(res);
	res->dirty = true;
	s->root_changed = s->table_changed = true;
	give_up(s, d);
	return 0;
}
