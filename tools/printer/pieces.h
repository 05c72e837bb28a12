/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What printers have in common: the cells that every table begins with, and texts of maps and lists.
 */
#ifndef TOOLS_PRINTER_PIECES_H
#define TOOLS_PRINTER_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "tools/printer/cells.h"
#include "tools/printer/field.h"

/* metadata.name; how long ago metadata.creationTimestamp was. One cell each. */
void
print_name(struct field object, struct cells *cells);
void
print_age(struct field object, int64_t now_ns, struct cells *cells);
/*
 * A map of strings as "a=1,b=2" in order of keys, "<none>" when there is nothing; added to `text`, no cell of
 * its own.
 */
void
print_labels(struct field map, struct text *text);
/* One string member of each element, joined by commas; added to `text`. Returns how many there were. */
size_t
print_joined(struct field array, const char *member, struct text *text);

#endif
