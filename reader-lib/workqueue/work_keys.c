/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a workqueue: a table, a line and a list of those that are processed.
 */
#include "reader-lib/workqueue/work_keys.h"

#include <string.h>

int
work_keys_init(struct work_keys *keys, const struct allocator *memory)
{
	keys->memory = *memory;
	keys->last = &keys->first;
	return key_table_init(&keys->table, memory);
}

void
work_keys_done(struct work_keys *keys)
{
	struct key_node *node;

	while ((node = key_table_take(&keys->table)))
		allocator_put(&keys->memory, node);
	key_table_done(&keys->table);
}

static struct work_key *
key_of_node(struct key_node *node)
{
	return (struct work_key *)(void *)node;
}

struct work_key *
work_keys_find(struct work_keys *keys, const char *key, size_t length)
{
	return key_of_node(
		key_table_find(&keys->table, key_table_hash(&keys->table, key, length), key, length));
}

struct work_key *
work_keys_get(struct work_keys *keys, const char *key, size_t length)
{
	uint64_t hash = key_table_hash(&keys->table, key, length);
	struct key_node *node = key_table_find(&keys->table, hash, key, length);
	struct work_key *k;

	if (node)
		return key_of_node(node);
	k = allocator_get(&keys->memory, sizeof(*k) + length + 1);
	if (!k)
		return NULL;
	if (length > 0)
		memcpy(k->key, key, length);
	key_table_insert(&keys->table, &k->node, hash, k->key, length);
	return k;
}

void
work_keys_drop_if_idle(struct work_keys *keys, struct work_key *k)
{
	if (k->dirty || k->processing || k->delayed.at || k->failures)
		return;
	key_table_remove(&keys->table, &k->node);
	allocator_put(&keys->memory, k);
}

static void
line_up(struct work_keys *keys, struct work_key *k)
{
	k->next = NULL;
	*keys->last = k;
	keys->last = &k->next;
	keys->length++;
}

bool
work_keys_make_dirty(struct work_keys *keys, struct work_key *k, uint64_t now_ns)
{
	if (k->dirty)
		return false;
	k->dirty = true;
	k->dirty_ns = now_ns;
	keys->dirty++;
	keys->counts.adds++;
	if (k->processing)
		return false;
	line_up(keys, k);
	return true;
}

struct work_key *
work_keys_take(struct work_keys *keys, uint64_t now_ns)
{
	struct work_key *k = keys->first;

	keys->first = k->next;
	if (!keys->first)
		keys->last = &keys->first;
	keys->length--;
	keys->dirty--;
	k->dirty = false;
	k->processing = true;
	k->started_ns = now_ns;
	k->busy_previous = NULL;
	k->busy_next = keys->busy;
	if (keys->busy)
		keys->busy->busy_previous = k;
	keys->busy = k;
	histogram_observe(&keys->counts.queue, since(now_ns, k->dirty_ns));
	return k;
}

bool
work_keys_finish(struct work_keys *keys, struct work_key *k, uint64_t now_ns)
{
	bool again = k->dirty;

	histogram_observe(&keys->counts.work, since(now_ns, k->started_ns));
	if (k->busy_next)
		k->busy_next->busy_previous = k->busy_previous;
	if (k->busy_previous)
		k->busy_previous->busy_next = k->busy_next;
	else
		keys->busy = k->busy_next;
	k->processing = false;
	if (again)
		line_up(keys, k);
	work_keys_drop_if_idle(keys, k);
	return again;
}
