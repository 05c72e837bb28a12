/* SPDX-License-Identifier: Apache-2.0 */
#include "reader-lib/events/parked_keys.h"

#include <errno.h>

int
parked_keys_init(struct parked_keys *keys, const struct allocator *memory)
{
	keys->memory = *memory;
	return key_table_init(&keys->table, memory, offsetof(struct parked_key, text));
}

/* ---- lists ---- */

static void
leave(struct parked_key *key)
{
	struct parked_list *list = key->list;

	*(key->previous ? &key->previous->next : &list->first) = key->next;
	*(key->next ? &key->next->previous : &list->last) = key->previous;
}

static void
join(struct parked_list *list, struct parked_key *key)
{
	key->list = list;
	key->previous = list->last;
	key->next = NULL;
	*(list->last ? &list->last->next : &list->first) = key;
	list->last = key;
}

static void
move(struct parked_list *list, struct parked_key *key)
{
	leave(key);
	join(list, key);
}

void
parked_keys_touch(struct parked_keys *keys, const char *text, size_t length)
{
	uint64_t hash = key_table_hash(&keys->table, text, length);
	struct key_node *node = key_table_find(&keys->table, hash, text, length);

	if (node)
		move(&keys->fresh, (struct parked_key *)node);
}

void
parked_keys_touch_all(struct parked_keys *keys)
{
	while (keys->looked.first)
		move(&keys->fresh, keys->looked.first);
}

void
parked_keys_looked(struct parked_keys *keys, struct parked_key *key)
{
	move(&keys->looked, key);
}

/* ---- callers ---- */

static void
free_key(struct parked_keys *keys, struct parked_key *key)
{
	leave(key);
	key_table_remove(&keys->table, &key->node);
	allocator_put(&keys->memory, key);
}

int
parked_keys_add(struct parked_keys *keys, const char *text, size_t length, uint64_t end_ns, void *context)
{
	struct parked *p = allocator_get(&keys->memory, sizeof(*p));
	struct parked_key *key = p ? (struct parked_key *)key_table_get(&keys->table, text, length) : NULL;

	if (key && !key->list)
		join(&keys->fresh, key);
	if (!key || (end_ns != UINT64_MAX && delay_heap_reserve(&keys->deadlines, &keys->memory) < 0)) {
		if (key && !key->first)
			free_key(keys, key);
		allocator_put(&keys->memory, p);
		return -ENOMEM;
	}
	p->key = key;
	p->context = context;
	p->previous = key->last;
	*(key->last ? &key->last->next : &key->first) = p;
	key->last = p;
	p->deadline.ready_ns = end_ns;
	if (end_ns != UINT64_MAX)
		delay_heap_push(&keys->deadlines, &p->deadline);
	keys->count++;
	return 0;
}

static struct parked *
take(struct parked_keys *keys, struct parked *p, bool *ret_last)
{
	struct parked_key *key = p->key;

	if (p->deadline.at) {
		delay_heap_advance(&keys->deadlines, &p->deadline, 0);
		delay_heap_pop(&keys->deadlines);
	}
	*(p->previous ? &p->previous->next : &key->first) = p->next;
	*(p->next ? &p->next->previous : &key->last) = p->previous;
	keys->count--;
	if (ret_last)
		*ret_last = !key->first;
	if (!key->first)
		free_key(keys, key);
	return p;
}

struct parked *
parked_keys_take(struct parked_keys *keys, struct parked_key *key, bool *ret_last)
{
	return take(keys, key->first, ret_last);
}

struct parked *
parked_keys_take_expired(struct parked_keys *keys, uint64_t now_ns)
{
	struct delayed *top = delay_heap_top(&keys->deadlines);

	return top && top->ready_ns <= now_ns ? take(keys, (struct parked *)top, NULL) : NULL;
}

void
parked_keys_done(struct parked_keys *keys)
{
	struct parked_key *key;

	while ((key = keys->fresh.first) || (key = keys->looked.first))
		allocator_put(&keys->memory, take(keys, key->first, NULL));
	delay_heap_done(&keys->deadlines, &keys->memory);
	key_table_done(&keys->table);
}
