/* SPDX-License-Identifier: Apache-2.0 */
/* Lays out tables; see aligned_table.h. */
#include "tools/informerctl/aligned_table.h"

#include <errno.h>
#include <stdlib.h>

#define WIDTH_MIN 6
#define PADDING 3

/* Length of the shown part of a cell: its first line. */
static size_t
shown(struct field_text cell)
{
	size_t i = 0;

	while (i < cell.length && cell.data[i] != '\n' && cell.data[i] != '\r' && cell.data[i] != '\f')
		i++;
	return i;
}

/* A cell's width in characters. */
static size_t
width(struct field_text cell)
{
	size_t n = 0, end = shown(cell);

	for (size_t i = 0; i < end; i++)
		n += ((unsigned char)cell.data[i] & 0xc0) != 0x80;
	return end < cell.length ? n + 3 : n;
}

/* Write a cell without control characters, which could steer the terminal. */
static void
write_cell(struct field_text cell, struct text *out)
{
	size_t end = shown(cell);

	for (size_t i = 0; i < end; i++) {
		unsigned char c = (unsigned char)cell.data[i];

		if (c < 0x20 || c == 0x7f)
			text_addc(out, c == '\t' ? ' ' : '?');
		else
			text_addc(out, (char)c);
	}
	if (end < cell.length)
		text_adds(out, "...");
}

void
table_write_more(const struct cells *cells, size_t columns, size_t *widths, struct text *out)
{
	if (cells->text.error < 0) {
		out->error = cells->text.error;
		return;
	}
	for (size_t i = 0; i < cells->count; i++) {
		size_t w = width(cells_at(cells, i)) + PADDING;

		if (w > widths[i % columns])
			widths[i % columns] = w < WIDTH_MIN ? WIDTH_MIN : w;
	}
	for (size_t i = 0; i < cells->count; i++) {
		struct field_text cell = cells_at(cells, i);

		write_cell(cell, out);
		if (i % columns == columns - 1)
			text_addc(out, '\n');
		else
			text_pad(out, ' ', widths[i % columns] - width(cell));
	}
}

void
table_write(const struct cells *cells, size_t columns, struct text *out)
{
	size_t *widths = calloc(columns + 1, sizeof(*widths));

	if (widths)
		table_write_more(cells, columns, widths, out);
	else
		out->error = -ENOMEM;
	free(widths);
}
