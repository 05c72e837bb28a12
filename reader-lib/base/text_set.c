/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps each text once, in the order of arrival, for indexes that hand out values without duplicates.
 */
#include "reader-lib/base/text_set.h"

#include <errno.h>
#include <string.h>

int
text_set_init(struct text_set *set, const struct allocator *memory)
{
	set->memory = *memory;
	set->first = NULL;
	set->last = &set->first;
	return key_table_init(&set->table, &set->memory);
}

int
text_set_add(struct text_set *set, const char *data, size_t length)
{
	uint64_t hash = key_table_hash(&set->table, data, length);
	struct set_text *v;

	if (key_table_find(&set->table, hash, data, length))
		return 0;
	v = allocator_get(&set->memory, sizeof(*v) + length);
	if (!v)
		return -ENOMEM;
	if (length > 0)
		memcpy(v->bytes, data, length);
	key_table_insert(&set->table, &v->node, hash, v->bytes, length);
	*set->last = v;
	set->last = &v->next;
	return 1;
}

void
text_set_done(struct text_set *set)
{
	while (set->first) {
		struct set_text *v = set->first;

		set->first = v->next;
		allocator_put(&set->memory, v);
	}
	key_table_done(&set->table);
}
