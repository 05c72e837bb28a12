/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces: the cells that every table begins with, and texts of maps and lists. */
#ifndef TOOLS_PRINTER_PIECES_H
#define TOOLS_PRINTER_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "tools/printer/cells.h"
#include "tools/printer/field.h"

/* One cell each: metadata.name, and the age by metadata.creationTimestamp. */
void
print_name(struct field object, struct cells *cells);
void
print_age(struct field object, int64_t now_ns, struct cells *cells);
/* Append a map of strings to `text` as "a=1,b=2" in order of keys; "<none>" if empty. Ends no cell. */
void
print_labels(struct field map, struct text *text);
/* Append one string member of each element, joined by commas, to `text`. Returns their number. */
size_t
print_joined(struct field array, const char *member, struct text *text);

#endif
