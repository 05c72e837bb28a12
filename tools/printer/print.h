/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printers: from an object to the cells of its table row, as the API server answers kubectl.
 *
 * A printer is a list of columns and a function, and knows neither where the object is kept (field.h) nor how
 * a table is laid out (table.h): informerctl prints cells in columns, informer-sim puts them into a Table
 * answer.
 *
 * Source: Kubernetes, pkg/printers/internalversion/printers.go (1.32), of which each print_*.c follows one
 * function
 */
#ifndef TOOLS_PRINTER_PRINT_H
#define TOOLS_PRINTER_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/printer/field.h"
#include "tools/printer/text.h"

/* Cells, one behind the other: cell i ends at ends[i] of the text and begins where the one before it ends. */
struct cells {
	struct text text;
	size_t *ends;
	size_t count;
	size_t size;
};

#define CELLS_INIT {.text = TEXT_INIT(-1)}

void
cells_done(struct cells *cells);
/* What was added to cells->text since the last end is a cell. */
void
cells_end(struct cells *cells);
/* One whole cell. */
void
cells_add(struct cells *cells, struct field_text text);
void
cells_adds(struct cells *cells, const char *string);
void
cells_addf(struct cells *cells, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same in capitals, as kubectl heads its columns. */
void
cells_add_heading(struct cells *cells, const char *name);
/* The text, or `otherwise` when it is empty. */
void
cells_add_or(struct cells *cells, struct field_text text, const char *otherwise);
struct field_text
cells_at(const struct cells *cells, size_t i);

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

/* ---- pieces that printers share ---- */

/* metadata.name; how long ago metadata.creationTimestamp was. One cell each. */
void
print_name(struct field object, struct cells *cells);
void
print_age(struct field object, const struct print_options *options, struct cells *cells);
/*
 * A map of strings as "a=1,b=2" in order of keys, "<none>" when there is nothing; added to `text`, no cell of
 * its own.
 */
void
print_labels(struct field map, struct text *text);
/* One string member of each element, joined by commas; added to `text`. Returns how many there were. */
size_t
print_joined(struct field array, const char *member, struct text *text);

/*
 * The members of a map in order of their keys (bytes). Free it; NULL without memory, or when there are
 * none.
 */
struct print_member {
	struct field_text key;
	struct field value;
};
struct print_member *
print_sorted(struct field map, size_t *ret_count);

#endif
