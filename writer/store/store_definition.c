/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a descriptor's name and indexes into a resource that has nothing else yet.
 */
#include "writer/store/store_definition.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/store/store_internal.h"

void
store_resource_free(struct store_resource *res)
{
	if (!res)
		return;
	index_table_changed(&res->indexes);
	for (unsigned i = 0; i < res->indexes.count; i++)
		index_def_done(&res->indexes.defs[i]);
	free(res->indexes.defs);
	free(res->indexes.roots);
	ordinals_done(&res->ordinals);
	tombstones_done(res);
	retained_log_done(&res->left);
	retained_log_done(&res->fallen);
	shortcut_edit_done(&res->shortcuts);
	free(res);
}

/* Write resource.group into name; false when it is missing or too long. */
static bool
read_name(struct value document, char *name, size_t size)
{
	const char *resource, *group = "";
	size_t resource_length, group_length = 0;

	if (!value_string(value_at_name(document, "resource"), &resource, &resource_length) ||
	    resource_length == 0)
		return false;
	value_string(value_at_name(document, "group"), &group, &group_length);
	return (size_t)snprintf(name, size, "%.*s%s%.*s", (int)resource_length, resource,
				group_length ? "." : "", (int)group_length, group) < size;
}

int
store_read_descriptor(struct store *s, struct store_resource *res, const char **ret_why)
{
	struct value document = value_of_block(&s->arena->view, res->now.descriptor), indexes;
	struct value_iter it;
	size_t count;

	*ret_why = "the descriptor names no resource";
	if (!read_name(document, res->name, sizeof(res->name)))
		return -EINVAL;
	indexes = value_at_name(document, "indexes");
	count = value_kind(indexes) == VALUE_ARRAY ? value_count(indexes) : 0;
	res->indexes.defs = calloc(count ? count : 1, sizeof(*res->indexes.defs));
	res->indexes.roots = calloc(count ? count : 1, sizeof(*res->indexes.roots));
	if (!res->indexes.defs || !res->indexes.roots)
		return -ENOMEM;
	res->tombstones.limits = STORE_TOMBSTONES;
	tombstones_begin(res);
	if (count == 0)
		return 0;
	it = value_iterate(indexes);
	while (value_next(&it)) {
		int r = index_def_read(&res->indexes.defs[res->indexes.count], it.item, ret_why);

		if (r < 0)
			return r;
		res->indexes.count++;
	}
	tombstones_begin(res);
	return it.damaged || res->indexes.count != count ? -EBADMSG : 0;
}
