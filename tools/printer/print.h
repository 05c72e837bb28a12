/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printer: turns an object into the cells of its table row, as the API server does for kubectl.
 *
 * A printer is a list of columns and a function. It is independent of the object's storage (field.h) and of
 * the table's layout: informerctl prints cells in columns, informer-sim puts them into a Table answer.
 *
 * Source: Kubernetes, pkg/printers/internalversion/printers.go (1.32); each print_*.c follows one of its
 * functions
 */
#ifndef TOOLS_PRINTER_PRINT_H
#define TOOLS_PRINTER_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/printer/cells.h"
#include "tools/printer/field.h"

/* wide: include the columns of -o wide. now_ns: wall time for ages. */
struct print_options {
	bool wide;
	int64_t now_ns;
};

struct print_column {
	const char *name; /* the API server's name: "Nominated Node"; clients print it in capitals */
	bool wide;
};

/*
 * print: adds one cell for each column; the wide ones are last and only if asked for. The first is the
 * object's name.
 */
struct printer {
	const char *group;
	const char *resource;
	const struct print_column *columns;
	size_t column_count;
	void (*print)(struct field object, const struct print_options *options, struct cells *cells);
};

/* The printer of a resource, named in the plural; a default (NAME, AGE) for resources without their own. */
const struct printer *
print_find(struct field_text group, struct field_text resource);

extern const struct printer print_pod, print_service, print_node, print_deployment;

#endif
