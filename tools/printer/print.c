/* SPDX-License-Identifier: Apache-2.0 */
/* The table of printers, and the default printer; see print.h. */
#include "tools/printer/print.h"

#include "tools/printer/pieces.h"

static void
print_any(struct field object, const struct print_options *options, struct cells *cells)
{
	print_name(object, cells);
	print_age(object, options->now_ns, cells);
}

static const struct print_column any_columns[] = {{"Name", false}, {"Age", false}};
static const struct printer any = {"", "", any_columns, 2, print_any};

const struct printer *
print_find(struct field_text group, struct field_text resource)
{
	static const struct printer *const printers[] = {&print_pod, &print_service, &print_node,
							 &print_deployment};

	for (size_t i = 0; i < sizeof(printers) / sizeof(*printers); i++)
		if (field_text_is(group, printers[i]->group) &&
		    field_text_is(resource, printers[i]->resource))
			return printers[i];
	return &any;
}
