/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printers: from an object to the cells of its table row, as the API server answers kubectl.
 *
 * A printer is a list of columns and a function, and knows neither where the object is kept (field.h) nor how
 * a table is laid out: informerctl prints cells in columns, informer-sim puts them into a Table answer.
 *
 * Source: Kubernetes, pkg/printers/internalversion/printers.go (1.32), of which each print_*.c follows one
 * function
 */
#ifndef TOOLS_PRINTER_PRINT_H
#define TOOLS_PRINTER_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/printer/cells.h"
#include "tools/printer/field.h"

/* wide: also the columns of -o wide. now_ns: wall time that ages are counted to. */
struct print_options {
	bool wide;
	int64_t now_ns;
};

struct print_column {
	const char *name; /* as the API server names it: "Nominated Node"; clients show it in capitals */
	bool wide;
};

/*
 * print: one cell for each column, the wide ones (which stand last) only if asked; the first is the object's
 * name.
 */
struct printer {
	const char *group;
	const char *resource;
	const struct print_column *columns;
	size_t column_count;
	void (*print)(struct field object, const struct print_options *options, struct cells *cells);
};

/* The printer of a resource, named in the plural; NAME AGE for all that have none of their own. */
const struct printer *
print_find(struct field_text group, struct field_text resource);

extern const struct printer print_pod, print_service, print_node, print_deployment;

#endif
