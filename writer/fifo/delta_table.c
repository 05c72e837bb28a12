/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the DeltaFIFO's entries and nodes for delta_fifo.c: pools that grow by doubling and are named by
 * index, chains of the hash table, and the two lists. When the last entry goes, all memory goes.
 */
#include "writer/fifo/delta_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEEP 1024u /* pools this small are kept when all is empty */

static const struct delta_list empty_list = { DELTA_NONE, DELTA_NONE, 0 };

/* ---- pools ---------------------------------------------------------------- */

static void
rehash(struct delta_table *t)
{
	const struct delta_list *lists[] = { &t->queue, &t->waiting };

	memset(t->buckets, 0xff, t->entry_capacity * sizeof(*t->buckets));
	for (size_t n = 0; n < 2; n++)
		for (uint32_t i = lists[n]->head; i != DELTA_NONE; i = t->entries[i].next)
			delta_entry_hash(t, i);
}

static bool
next_capacity(uint32_t used, size_t more, uint32_t capacity, uint32_t *ret_capacity)
{
	uint64_t need = (uint64_t)used + more;

	if (more > DELTA_NONE / 2 || need > DELTA_NONE / 2)
		return false;
	if (capacity == 0)
		capacity = 64;
	while (capacity < need)
		capacity *= 2;
	*ret_capacity = capacity;
	return true;
}

static int
grow_nodes(struct delta_table *t, uint32_t capacity)
{
	struct delta_node *grown = realloc(t->nodes, capacity * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	t->nodes = grown;
	t->node_capacity = capacity;
	return 0;
}

static int
grow_entries(struct delta_table *t, uint32_t capacity)
{
	uint32_t *buckets = malloc(capacity * sizeof(*buckets));
	struct delta_entry *grown;

	if (!buckets)
		return -ENOMEM;
	grown = realloc(t->entries, capacity * sizeof(*grown));
	if (!grown) {
		free(buckets);
		return -ENOMEM;
	}
	free(t->buckets);
	t->buckets = buckets;
	t->entries = grown;
	t->entry_capacity = capacity;
	rehash(t);
	return 0;
}

int
delta_table_reserve(struct delta_table *t, size_t entries, size_t nodes)
{
	size_t more_entries = entries > t->entries_free_count ? entries - t->entries_free_count : 0;
	size_t more_nodes = nodes > t->nodes_free_count ? nodes - t->nodes_free_count : 0;
	uint32_t entry_capacity, node_capacity;
	int r = 0;

	if (!next_capacity(t->node_used, more_nodes, t->node_capacity, &node_capacity) ||
	    !next_capacity(t->entry_used, more_entries, t->entry_capacity, &entry_capacity))
		return -ENOMEM;
	if (node_capacity != t->node_capacity)
		r = grow_nodes(t, node_capacity);
	if (r == 0 && entry_capacity != t->entry_capacity)
		r = grow_entries(t, entry_capacity);
	return r;
}

void
delta_table_done(struct delta_table *t)
{
	free(t->entries);
	free(t->nodes);
	free(t->buckets);
	*t = (struct delta_table){ 0 };
}

void
delta_table_reset(struct delta_table *t)
{
	if (t->entry_capacity > KEEP || t->node_capacity > KEEP)
		delta_table_done(t);
	t->entry_used = t->node_used = 0;
	t->entry_free = t->node_free = DELTA_NONE;
	t->entries_free_count = t->nodes_free_count = 0;
	t->queue = t->waiting = empty_list;
}

size_t
delta_table_bytes(const struct delta_table *t)
{
	return t->entry_capacity * (sizeof(*t->entries) + sizeof(*t->buckets)) +
	       t->node_capacity * sizeof(*t->nodes);
}

uint32_t
delta_node_new(struct delta_table *t, unsigned type, unsigned flags, uint32_t ref, uint32_t found)
{
	uint32_t i = t->node_free;

	if (i != DELTA_NONE) {
		t->node_free = t->nodes[i].next;
		t->nodes_free_count--;
	} else {
		i = t->node_used++;
	}
	t->nodes[i] = (struct delta_node){
		.ref = ref,
		.found = found,
		.next = DELTA_NONE,
		.type = (uint8_t)type,
		.flags = (uint8_t)flags,
	};
	return i;
}

uint32_t
delta_entry_new(struct delta_table *t, uint64_t key_hash, uint32_t node)
{
	uint32_t i = t->entry_free;

	if (i != DELTA_NONE) {
		t->entry_free = t->entries[i].next;
		t->entries_free_count--;
	} else {
		i = t->entry_used++;
	}
	t->entries[i] = (struct delta_entry){ .key_hash = key_hash, .first = node, .last = node };
	delta_entry_hash(t, i);
	delta_list_append(t, &t->queue, i);
	return i;
}

void
delta_node_append(struct delta_table *t, uint32_t entry, uint32_t node)
{
	struct delta_entry *e = &t->entries[entry];

	t->nodes[node].next = DELTA_NONE;
	if (e->first == DELTA_NONE)
		e->first = node;
	else
		t->nodes[e->last].next = node;
	e->last = node;
}

void
delta_node_free(struct delta_table *t, uint32_t node)
{
	t->nodes[node].next = t->node_free;
	t->node_free = node;
	t->nodes_free_count++;
}

void
delta_entry_free(struct delta_table *t, uint32_t entry)
{
	t->entries[entry].next = t->entry_free;
	t->entry_free = entry;
	t->entries_free_count++;
}

/* ---- the hash table ---------------------------------------------------------- */

uint32_t
delta_bucket(const struct delta_table *t, uint64_t key_hash)
{
	return t->entry_capacity ? t->buckets[key_hash & (t->entry_capacity - 1)] : DELTA_NONE;
}

void
delta_entry_hash(struct delta_table *t, uint32_t entry)
{
	uint32_t *bucket = &t->buckets[t->entries[entry].key_hash & (t->entry_capacity - 1)];

	t->entries[entry].bucket_next = *bucket;
	*bucket = entry;
}

void
delta_entry_unhash(struct delta_table *t, uint32_t entry)
{
	uint32_t *at = &t->buckets[t->entries[entry].key_hash & (t->entry_capacity - 1)];

	while (*at != entry)
		at = &t->entries[*at].bucket_next;
	*at = t->entries[entry].bucket_next;
}

/* ---- the lists ---------------------------------------------------------------- */

void
delta_list_append(struct delta_table *t, struct delta_list *l, uint32_t entry)
{
	t->entries[entry].next = DELTA_NONE;
	if (l->tail == DELTA_NONE)
		l->head = entry;
	else
		t->entries[l->tail].next = entry;
	l->tail = entry;
	l->count++;
}

uint32_t
delta_list_take(struct delta_table *t, struct delta_list *l)
{
	uint32_t entry = l->head;

	l->head = t->entries[entry].next;
	if (l->head == DELTA_NONE)
		l->tail = DELTA_NONE;
	l->count--;
	return entry;
}

void
delta_list_prepend(struct delta_table *t, struct delta_list *to, struct delta_list *from)
{
	if (from->head == DELTA_NONE)
		return;
	t->entries[from->tail].next = to->head;
	if (to->head == DELTA_NONE)
		to->tail = from->tail;
	to->head = from->head;
	to->count += from->count;
	*from = empty_list;
}
