/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers objects that were found, sorts them by their copied keys and leaves out what came twice, for
 * lists over an index.
 */
#include "reader-lib/read/found_list.h"

#include <stdlib.h>
#include <string.h>

#include "reader-lib/attach/handle.h"
#include "shm-layout/object.h"

#define FIRST_CAPACITY 16u

/*
 * Room for `more` behind `used`: the array itself, or a larger one with the same content. NULL: no memory,
 * and nothing changed.
 */
static void *
room_for(const struct informer *inf, void *array, size_t *capacity, size_t used, size_t more, size_t size)
{
	size_t bigger = *capacity ? *capacity : FIRST_CAPACITY;
	void *memory;

	if (used + more <= *capacity)
		return array;
	while (bigger < used + more)
		bigger *= 2;
	memory = memory_get(inf, bigger * size);
	if (!memory)
		return NULL;
	if (array)
		memcpy(memory, array, used * size);
	memory_put(inf, array);
	*capacity = bigger;
	return memory;
}

int
found_list_add(struct found_list *list, const struct informer_object *object)
{
	char key[OBJECT_KEY_MAX + 1];
	size_t length;
	void *room;
	int r = informer_object_key(object, key, sizeof(key), &length);

	if (r < 0)
		return r;
	room = room_for(list->inf, list->items, &list->capacity, list->count, 1, sizeof(list->items[0]));
	if (!room)
		return -ENOMEM;
	list->items = room;
	room = room_for(list->inf, list->keys, &list->keys_capacity, list->keys_used, length, 1);
	if (!room)
		return -ENOMEM;
	list->keys = room;
	memcpy(list->keys + list->keys_used, key, length);
	list->items[list->count++] = (struct found_item){*object, list->keys_used, length};
	list->keys_used += length;
	return 0;
}

static int
compare(const void *a, const void *b, void *context)
{
	const struct found_item *one = a, *other = b;
	const char *keys = context;
	size_t shorter = one->key_length < other->key_length ? one->key_length : other->key_length;
	int order = memcmp(keys + one->key_at, keys + other->key_at, shorter);

	return order ? order : (one->key_length > other->key_length) - (one->key_length < other->key_length);
}

void
found_list_sort(struct found_list *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort_r(list->items, list->count, sizeof(list->items[0]), compare, list->keys);
	for (size_t i = 0; i < list->count; i++) {
		if (i == 0 || compare(&list->items[kept - 1], &list->items[i], list->keys) != 0)
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
}

void
found_list_done(struct found_list *list)
{
	memory_put(list->inf, list->items);
	memory_put(list->inf, list->keys);
	*list = (struct found_list){.inf = list->inf};
}
