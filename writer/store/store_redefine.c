/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another definition of a resource while its content goes on.
 *
 * The indexes that are new stand behind those that are shown, and are filled as the objects are synced, one
 * by one; commits show the old definition until all are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"
#include "writer/store/store_definition.h"
#include "writer/store/store_document.h"
#include "writer/store/store_internal.h"

/*
 * What the resource becomes when all objects are synced.
 *
 * places  of its indexes in the resource's table
 */
struct next_definition {
	uint32_t descriptor;
	uint8_t fingerprint[24];
	unsigned count;
	unsigned places[];
};

void
store_redefine_abandon(struct store *s, struct store_resource *res)
{
	struct index_table *table = &res->indexes;

	if (!res->next)
		return;
	index_table_changed(table);
	while (table->count > table->shown) {
		table->count--;
		index_retire_all(s->edit, s->arena, table->roots[table->count]);
		index_def_done(&table->defs[table->count]);
	}
	intern_unref(s->intern, res->next->descriptor);
	free(res->next);
	res->next = NULL;
}

void
store_redefine_stop(struct store *s, unsigned id)
{
	store_redefine_abandon(s, s->resources[id]);
}

/* Room for so many more. 0, -ENOMEM. */
static int
grow_table(struct index_table *table, unsigned more)
{
	size_t room = (size_t)table->count + more + 1;
	struct index_def *defs = realloc(table->defs, room * sizeof(*defs));
	uint32_t *roots;

	if (!defs)
		return -ENOMEM;
	table->defs = defs;
	roots = realloc(table->roots, room * sizeof(*roots));
	if (!roots)
		return -ENOMEM;
	table->roots = roots;
	return 0;
}

/* Where an index equal to this one stands among the first `count`; count: nowhere. */
static unsigned
find_same(const struct index_table *table, unsigned count, const struct index_def *def)
{
	unsigned i = 0;

	while (i < count && !index_def_same(&table->defs[i], def))
		i++;
	return i;
}

/*
 * Each index of the new definition gets its place: where an equal one stands, or behind all, to be filled.
 * defs' content is taken.
 */
static void
place_indexes(struct index_table *table, struct index_table *from, unsigned *places)
{
	for (unsigned i = 0; i < from->count; i++) {
		unsigned place = find_same(table, table->shown, &from->defs[i]);

		if (place < table->shown) {
			index_def_done(&from->defs[i]);
		} else {
			place = table->count++;
			table->defs[place] = from->defs[i];
			table->roots[place] = 0;
		}
		places[i] = place;
	}
	from->count = 0;
}

int
store_redefine(struct store *s, unsigned id, const char *descriptor_json, const uint8_t fingerprint[24])
{
	struct store_resource *res = s->resources[id], *described = calloc(1, sizeof(*described));
	struct next_definition *next;
	const char *why;
	int r;

	if (!described)
		return -ENOMEM;
	r = store_make_document(s, descriptor_json, &described->now.descriptor);
	if (r < 0) {
		free(described);
		return r;
	}
	r = store_read_descriptor(s, described, &why);
	next = calloc(1, sizeof(*next) + (described->indexes.count + 1) * sizeof(next->places[0]));
	if (r == 0)
		r = next ? grow_table(&res->indexes, described->indexes.count) : -ENOMEM;
	if (r < 0) {
		intern_unref(s->intern, described->now.descriptor);
		store_resource_free(described);
		free(next);
		return r;
	}
	store_redefine_abandon(s, res);
	next->descriptor = described->now.descriptor;
	memcpy(next->fingerprint, fingerprint, sizeof(next->fingerprint));
	next->count = described->indexes.count;
	place_indexes(&res->indexes, &described->indexes, next->places);
	index_table_changed(&res->indexes);
	res->next = next;
	store_resource_free(described);
	return 0;
}

void
store_disown(struct store *s, unsigned id)
{
	struct store_resource *res = s->resources[id];

	memset(res->now.fingerprint, 0, sizeof(res->now.fingerprint));
	res->dirty = true;
	s->root_changed = s->table_changed = true;
}

/*
 * Indexes that the next definition has not: their values are given up, those that it has move to their
 * places.
 */
static int
exchange_indexes(struct store *s, struct store_resource *res)
{
	const struct next_definition *next = res->next;
	struct index_table *old = &res->indexes,
			   table = {
				   .count = next->count,
				   .shown = next->count,
				   .defs = calloc(next->count + 1, sizeof(*table.defs)),
				   .roots = calloc(next->count + 1, sizeof(*table.roots)),
			   };

	if (!table.defs || !table.roots) {
		free(table.defs);
		free(table.roots);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < next->count; i++) {
		table.defs[i] = old->defs[next->places[i]];
		table.roots[i] = old->roots[next->places[i]];
		memset(&old->defs[next->places[i]], 0, sizeof(old->defs[0]));
		old->roots[next->places[i]] = 0;
	}
	index_table_changed(old);
	for (unsigned i = 0; i < old->count; i++) {
		index_retire_all(s->edit, s->arena, old->roots[i]);
		index_def_done(&old->defs[i]);
	}
	free(old->defs);
	free(old->roots);
	*old = table;
	return 0;
}

int
store_redefined(struct store *s, unsigned id)
{
	struct store_resource *res = s->resources[id];
	struct next_definition *next = res->next;
	int r;

	if (!next)
		return 0;
	r = tombstones_redefine(s, res, next->places, next->count);
	if (r == 0)
		r = exchange_indexes(s, res);
	if (r < 0)
		return r;
	intern_unref(s->intern, res->now.descriptor);
	res->now.descriptor = next->descriptor;
	memcpy(res->now.fingerprint, next->fingerprint, sizeof(res->now.fingerprint));
	tombstones_begin(res);
	free(next);
	res->next = NULL;
	res->dirty = true;
	s->root_changed = s->table_changed = true;
	return 0;
}
