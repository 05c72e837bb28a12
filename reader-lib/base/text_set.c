/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps each text once, in the order of arrival, for indexes that hand out values without duplicates.
 */
#include "reader-lib/base/text_set.h"

#include <errno.h>

int
text_set_init(struct text_set *set, const struct allocator *memory)
{
	set->memory = *memory;
	set->first = NULL;
	set->last = &set->first;
	return key_table_init(&set->table, &set->memory, offsetof(struct set_text, bytes));
}

int
text_set_add(struct text_set *set, const char *data, size_t length)
{
	size_t before = set->table.count;
	struct set_text *v = (struct set_text *)(void *)key_table_get(&set->table, data, length);

	if (!v || set->table.count == before)
		return v ? 0 : -ENOMEM;
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
