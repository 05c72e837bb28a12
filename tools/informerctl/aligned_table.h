/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligned table: prints cells in columns as kubectl does. A column is as wide as its widest cell plus three
 * spaces; lines have no trailing space.
 *
 * Source: k8s.io/cli-runtime pkg/printers (tabwriter with a minimal width of 6 and a padding of 3)
 */
#ifndef TOOLS_INFORMERCTL_ALIGNED_TABLE_H
#define TOOLS_INFORMERCTL_ALIGNED_TABLE_H

#include "tools/printer/cells.h"
#include "tools/printer/text.h"

/*
 * Print rows of `columns` cells; a heading is simply the first row. A cell is cut at a line feed, with "...".
 */
void
table_write(const struct cells *cells, size_t columns, struct text *out);
/*
 * The same for further rows: columns keep their widths or become wider. widths: `columns` of them, zero at
 * first.
 */
void
table_write_more(const struct cells *cells, size_t columns, size_t *widths, struct text *out);

#endif
