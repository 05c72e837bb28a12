/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers objects, sorts them by their copied keys and leaves out duplicates, for lists over an index.
 */
#include "reader-lib/read/found_list.h"

#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"

void
found_list_init(struct found_list *list, struct informer *inf)
{
	small_buffer_init(&list->items, &inf->memory, list->first_items, sizeof(list->first_items));
	small_buffer_init(&list->keys, &inf->memory, list->first_keys, sizeof(list->first_keys));
}

int
found_list_add(struct found_list *list, const struct informer_object *object)
{
	struct found_item item = {*object, list->keys.used, 0};
	char key[OBJECT_KEY_MAX + 1];
	int r = informer_object_key(object, key, sizeof(key), &item.key_length);

	if (r < 0)
		return r;
	if (small_buffer_add(&list->keys, key, item.key_length) < 0 ||
	    small_buffer_add(&list->items, &item, sizeof(item)) < 0)
		return -ENOMEM;
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

const struct found_item *
found_list_sort(struct found_list *list, size_t *ret_count)
{
	struct found_item *items = (struct found_item *)(void *)list->items.data;
	size_t count = list->items.used / sizeof(items[0]), kept = 0;

	qsort_r(items, count, sizeof(items[0]), compare, list->keys.data);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || compare(&items[kept - 1], &items[i], list->keys.data) != 0)
			items[kept++] = items[i];
	}
	*ret_count = kept;
	return items;
}

void
found_list_done(struct found_list *list)
{
	small_buffer_done(&list->items);
	small_buffer_done(&list->keys);
}
