/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells: the cells of table rows in one growing text. Printers fill them; tables lay them out.
 *
 * Without memory text.error is set and later additions are dropped: check it before reading cells.
 */
#ifndef TOOLS_PRINTER_CELLS_H
#define TOOLS_PRINTER_CELLS_H

#include <stddef.h>

#include "tools/printer/field.h"
#include "tools/printer/text.h"

/* Cell i ends at ends[i] of the text, and begins where cell i - 1 ends. */
struct cells {
	struct text text;
	size_t *ends;
	size_t count;
	size_t size;
};

#define CELLS_INIT {.text = TEXT_INIT(-1)}

void
cells_done(struct cells *cells);
/* End the current cell: it is what was added to cells->text since the last end. */
void
cells_end(struct cells *cells);
/* One whole cell. */
void
cells_add(struct cells *cells, struct field_text text);
void
cells_adds(struct cells *cells, const char *string);
void
cells_addf(struct cells *cells, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same in capitals, as kubectl prints headings. */
void
cells_add_heading(struct cells *cells, const char *name);
/* One cell: the text, or `otherwise` if it is empty. */
void
cells_add_or(struct cells *cells, struct field_text text, const char *otherwise);
struct field_text
cells_at(const struct cells *cells, size_t i);

#endif
