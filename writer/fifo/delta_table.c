/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the DeltaFIFO's entries and nodes for delta_fifo.c: the pools, the chains of the hash table, and the
 * lists.
 */
#include "writer/fifo/delta_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEEP 1024u /* larger pools are freed when all is empty */

/* ---- the hash table ---------------------------------------------------------- */

uint32_t
delta_bucket(const struct delta_table *t, uint64_t key_hash)
{
	return t->entry_capacity ? t->buckets[key_hash & (t->entry_capacity - 1)] : DELTA_NONE;
}

static void
hash(struct delta_table *t, uint32_t entry)
{
	uint32_t *bucket = &t->buckets[t->entries[entry].key_hash & (t->entry_capacity - 1)];

	t->entries[entry].bucket_next = *bucket;
	*bucket = entry;
}

static void
unhash(struct delta_table *t, uint32_t entry)
{
	uint32_t *at = &t->buckets[t->entries[entry].key_hash & (t->entry_capacity - 1)];

	while (*at != entry)
		at = &t->entries[*at].bucket_next;
	*at = t->entries[entry].bucket_next;
}

static void
rehash(struct delta_table *t)
{
	memset(t->buckets, 0xff, t->entry_capacity * sizeof(*t->buckets));
	for (uint32_t i = 0; i < t->entry_used; i++)
		if (t->entries[i].first != DELTA_NONE)
			hash(t, i);
}

/* ---- pools ---------------------------------------------------------------- */

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
	*t = (struct delta_table){0};
}

void
delta_table_reset(struct delta_table *t)
{
	if (t->entry_capacity > KEEP || t->node_capacity > KEEP)
		delta_table_done(t);
	t->entry_used = t->node_used = 0;
	t->entry_free = t->node_free = DELTA_NONE;
	t->entries_free_count = t->nodes_free_count = 0;
	t->queue = t->waiting = DELTA_LIST_EMPTY;
}

static uint32_t
entry_new(struct delta_table *t, uint64_t key_hash, uint32_t node)
{
	uint32_t i = t->entry_free;

	if (i != DELTA_NONE) {
		t->entry_free = t->entries[i].bucket_next;
		t->entries_free_count--;
	} else {
		i = t->entry_used++;
	}
	t->entries[i] = (struct delta_entry){.key_hash = key_hash, .first = node, .last = node};
	hash(t, i);
	return i;
}

uint32_t
delta_node_new(struct delta_table *t, uint32_t entry, uint64_t key_hash, struct delta_node node)
{
	uint32_t i = t->node_free;

	if (i != DELTA_NONE) {
		t->node_free = t->nodes[i].next;
		t->nodes_free_count--;
	} else {
		i = t->node_used++;
	}
	node.next = node.later = DELTA_NONE;
	if (entry == DELTA_NONE) {
		entry = entry_new(t, key_hash, i);
	} else {
		t->nodes[t->entries[entry].last].later = i;
		t->entries[entry].last = i;
	}
	node.entry = entry;
	t->nodes[i] = node;
	return i;
}

void
delta_node_free(struct delta_table *t, uint32_t node)
{
	t->nodes[node].next = t->node_free;
	t->node_free = node;
	t->nodes_free_count++;
}

void
delta_node_expect(const struct delta_table *t, uint32_t node)
{
	uint64_t key_hash = t->entries[t->nodes[node].entry].key_hash;

	__builtin_prefetch(&t->buckets[key_hash & (t->entry_capacity - 1)], 1);
}

void
delta_entry_free(struct delta_table *t, uint32_t entry)
{
	unhash(t, entry);
	t->entries[entry].first = DELTA_NONE;
	t->entries[entry].bucket_next = t->entry_free;
	t->entry_free = entry;
	t->entries_free_count++;
}

/* ---- lists of deltas ---------------------------------------------------------- */

void
delta_list_append(struct delta_table *t, struct delta_list *l, uint32_t node)
{
	t->nodes[node].next = DELTA_NONE;
	if (l->tail == DELTA_NONE)
		l->head = node;
	else
		t->nodes[l->tail].next = node;
	l->tail = node;
	l->count++;
}

uint32_t
delta_list_take(struct delta_table *t, struct delta_list *l)
{
	uint32_t node = l->head;

	l->head = t->nodes[node].next;
	if (l->head == DELTA_NONE)
		l->tail = DELTA_NONE;
	l->count--;
	return node;
}

void
delta_list_join(struct delta_table *t, struct delta_list *first, struct delta_list *second)
{
	if (second->head == DELTA_NONE)
		return;
	if (first->tail == DELTA_NONE)
		first->head = second->head;
	else
		t->nodes[first->tail].next = second->head;
	first->tail = second->tail;
	first->count += second->count;
	*second = DELTA_LIST_EMPTY;
}
