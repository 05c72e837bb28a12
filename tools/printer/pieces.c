/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that several printers share; see pieces.h. */
#include "tools/printer/pieces.h"

#include <stdlib.h>

#include "tools/printer/age.h"

struct member {
	struct field_text key;
	struct field value;
};

/* The members of a map, sorted bytewise by key; the caller frees them. NULL: no members, or no memory. */
static struct member *
sorted_members(struct field map, size_t *ret_count)
{
	size_t size = field_kind(map) == FIELD_OBJECT ? field_count(map) : 0, count = 0;
	struct member *members;
	struct field_iter it;

	*ret_count = 0;
	members = size ? calloc(size, sizeof(*members)) : NULL;
	if (!members)
		return NULL;
	field_iterate(map, &it);
	while (count < size && field_next(&it))
		members[count++] = (struct member){{it.key, it.key_length}, it.item};
	qsort(members, count, sizeof(*members), field_text_compare);
	*ret_count = count;
	return members;
}

void
print_name(struct field object, struct cells *cells)
{
	cells_add(cells, field_string(field_at(object, "metadata", "name")));
}

void
print_age(struct field object, int64_t now_ns, struct cells *cells)
{
	char age[AGE_TEXT_MAX];

	cells_adds(cells, age_since(field_at(object, "metadata", "creationTimestamp"), now_ns, age));
}

void
print_labels(struct field map, struct text *text)
{
	struct member *members;
	size_t count;

	members = sorted_members(map, &count);
	for (size_t i = 0; i < count; i++) {
		struct field_text value = field_string(members[i].value);

		if (i > 0)
			text_addc(text, ',');
		text_add(text, members[i].key.data, members[i].key.length);
		text_addc(text, '=');
		text_add(text, value.data, value.length);
	}
	if (count == 0)
		text_adds(text, "<none>");
	free(members);
}

size_t
print_joined(struct field array, const char *member, struct text *text)
{
	struct field_iter it;
	size_t count = 0;

	field_iterate(array, &it);
	while (field_next(&it)) {
		struct field_text part = field_string(member ? field_get(it.item, member) : it.item);

		if (count++ > 0)
			text_addc(text, ',');
		text_add(text, part.data, part.length);
	}
	return count;
}
