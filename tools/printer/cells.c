/* SPDX-License-Identifier: Apache-2.0 */
/* Filling cells; see cells.h. */
#include "tools/printer/cells.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
cells_done(struct cells *cells)
{
	text_done(&cells->text);
	free(cells->ends);
	cells->ends = NULL;
	cells->count = cells->size = 0;
}

void
cells_end(struct cells *cells)
{
	if (cells->count == cells->size) {
		size_t size = cells->size ? cells->size * 2 : 256;
		size_t *ends = reallocarray(cells->ends, size, sizeof(*ends));

		if (!ends) {
			cells->text.error = -ENOMEM;
			return;
		}
		cells->ends = ends;
		cells->size = size;
	}
	cells->ends[cells->count++] = cells->text.length;
}

void
cells_add(struct cells *cells, struct field_text text)
{
	text_add(&cells->text, text.data, text.length);
	cells_end(cells);
}

void
cells_adds(struct cells *cells, const char *string)
{
	text_adds(&cells->text, string);
	cells_end(cells);
}

void
cells_addf(struct cells *cells, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cells_adds(cells, text);
}

void
cells_add_heading(struct cells *cells, const char *name)
{
	for (; *name; name++)
		text_addc(&cells->text, (char)toupper((unsigned char)*name));
	cells_end(cells);
}

void
cells_add_or(struct cells *cells, struct field_text text, const char *otherwise)
{
	if (text.length > 0)
		cells_add(cells, text);
	else
		cells_adds(cells, otherwise);
}

struct field_text
cells_at(const struct cells *cells, size_t i)
{
	size_t start = i > 0 ? cells->ends[i - 1] : 0;

	return (struct field_text){cells->text.data ? cells->text.data + start : "", cells->ends[i] - start};
}
