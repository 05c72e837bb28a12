/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of table rows in one growing text, for printers to fill and for tables to lay out.
 *
 * Without memory text.error is set and what follows is dropped: whoever reads the cells looks there first.
 */
#ifndef TOOLS_PRINTER_CELLS_H
#define TOOLS_PRINTER_CELLS_H

#include <stddef.h>

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

#endif
