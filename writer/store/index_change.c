/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares an object's change in every index of its resource, for store_change.c, and makes it in two steps
 * around the change of the object. So values are computed once, and memory is reserved first.
 */
#include "writer/store/index_change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
make_room(struct index_change *change, unsigned count)
{
	struct value_set *old, *new;

	if (count <= change->capacity)
		return 0;
	old = realloc(change->old, count * sizeof(*old));
	if (old)
		change->old = old;
	new = realloc(change->new, count * sizeof(*new));
	if (new)
		change->new = new;
	if (!old || !new)
		return -ENOMEM;
	memset(old + change->capacity, 0, (count - change->capacity) * sizeof(*old));
	memset(new + change->capacity, 0, (count - change->capacity) * sizeof(*new));
	change->capacity = count;
	return 0;
}

/*
 * Mark the values in both sets, which stay filed. Add what filing or unfiling the others may allocate.
 * Returns whether a value enters.
 */
static bool
compare_sets(struct value_set *old, struct value_set *new, bool replaced, struct arena_need *need)
{
	bool enters = false;
	size_t i = 0, j = 0;

	while (i < old->count || j < new->count) {
		int order = i == old->count ? 1 : j == new->count ? -1 : value_set_compare(old, i, new, j);
		bool stays = order == 0 && !replaced;

		if (order <= 0) {
			old->entries[i].stays = stays;
			old->entries[i].filed = true;
			if (!stays)
				index_edit_need(old->entries[i].length, need);
			i++;
		}
		if (order >= 0) {
			new->entries[j].stays = stays;
			new->entries[j].filed = stays;
			if (!stays)
				index_edit_need(new->entries[j].length, need);
			enters |= !stays;
			j++;
		}
	}
	return enters;
}

void
index_table_changed(struct index_table *table)
{
	index_plan_free(table->plan);
	table->plan = NULL;
}

int
index_change_prepare(struct index_change *change, struct index_table *table, const uint8_t hash_key[16],
		     struct value before, struct value after, bool replaced, struct arena_need *ret_need)
{
	index_mask changed = INDEX_MASK_ALL;
	int r = make_room(change, table->count);

	if (r == 0 && !table->plan) {
		table->plan = index_plan_new(table->defs, table->count);
		r = table->plan ? 0 : -ENOMEM;
	}
	if (r == 0 && !replaced)
		changed = index_plan_compare(table->plan, before, after);
	if (r == 0)
		r = value_sets_fill(change->old, table->count, table->plan, before, changed, hash_key);
	if (r == 0)
		r = value_sets_fill(change->new, table->count, table->plan, after, changed, hash_key);
	*ret_need = (struct arena_need){0};
	change->gains = false;
	for (unsigned n = 0; n < table->count && r == 0; n++)
		change->gains |= compare_sets(&change->old[n], &change->new[n], replaced, ret_need) ||
				 (table->defs[n].prefix > 0 && (changed & index_mask_of(n)));
	return r;
}

int
index_change_leave(struct index_change *change, struct index_table *table, struct trie_edit *edit,
		   struct arena *arena, uint32_t ordinals, uint32_t ordinal)
{
	int r = 0;

	for (unsigned n = 0; n < table->count; n++) {
		struct index_edit ix = {edit, arena, &table->defs[n], ordinals, ordinal, &change->old[n]};

		for (size_t i = 0; i < change->old[n].count && r == 0; i++)
			if (!change->old[n].entries[i].stays)
				r = index_unfile(&ix, &table->roots[n], i);
	}
	return r;
}

int
index_change_enter(struct index_change *change, struct index_table *table, struct trie_edit *edit,
		   struct arena *arena, uint32_t ordinals, uint32_t ordinal)
{
	int r = 0;

	for (unsigned n = 0; n < table->count; n++) {
		struct index_edit ix = {edit, arena, &table->defs[n], ordinals, ordinal, &change->new[n]};

		for (size_t i = 0; i < change->new[n].count && r == 0; i++)
			if (!change->new[n].entries[i].stays)
				r = index_file(&ix, &table->roots[n], i);
	}
	return r;
}

size_t
index_change_walks(const struct index_change *change, const struct index_table *table,
		   struct trie_walk *walks, size_t most)
{
	size_t count = 0;

	for (unsigned n = 0; n < table->count; n++)
		for (size_t i = 0; count < most && i < change->new[n].count; i++)
			if (!change->new[n].entries[i].stays)
				walks[count++] = (struct trie_walk){change->new[n].entries[i].hash,
								    table->roots[n]};
	return count;
}

void
index_change_done(struct index_change *change)
{
	for (unsigned n = 0; n < change->capacity; n++) {
		value_set_done(&change->old[n]);
		value_set_done(&change->new[n]);
	}
	free(change->old);
	free(change->new);
}
