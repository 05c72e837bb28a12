/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that were found in one snapshot, to be given out in order of their keys, each once.
 *
 * The keys are copied: what is sorted by must not change meanwhile, and the arena is not ours.
 */
#ifndef READER_LIB_READ_FOUND_LIST_H
#define READER_LIB_READ_FOUND_LIST_H

#include "reader-lib/informer.h"

struct found_item {
	struct informer_object object;
	size_t key_at;
	size_t key_length;
};

/* Zeroed, with inf set, is empty. */
struct found_list {
	struct informer *inf;
	struct found_item *items;
	size_t count, capacity;
	char *keys;
	size_t keys_used, keys_capacity;
};

/* 0, -ENOMEM, or what informer_object_key() says. */
int found_list_add(struct found_list *list, const struct informer_object *object);
/* Sort, and drop what is there twice. */
void found_list_sort(struct found_list *list);
void found_list_done(struct found_list *list);

#endif
