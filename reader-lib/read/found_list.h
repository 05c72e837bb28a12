/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of objects found in one snapshot, sorted by key, without duplicates.
 *
 * The list copies the keys: bytes in the arena could change while they are sorted.
 */
#ifndef READER_LIB_READ_FOUND_LIST_H
#define READER_LIB_READ_FOUND_LIST_H

#include "reader-lib/attach/handle.h"
#include "reader-lib/base/small_buffer.h"

struct found_item {
	struct informer_object object;
	size_t key_at;
	size_t key_length;
};

/* items: entries of struct found_item */
struct found_list {
	struct small_buffer items, keys;
	struct found_item first_items[16];
	uint8_t first_keys[1024];
};

void found_list_init(struct found_list *list, struct informer *inf);
/* Returns 0, -ENOMEM, or an error of informer_object_key(). */
int found_list_add(struct found_list *list, const struct informer_object *object);
/* Sort, and drop duplicates. Returns the remaining items, lent until the list changes. */
const struct found_item *found_list_sort(struct found_list *list, size_t *ret_count);
void found_list_done(struct found_list *list);

#endif
