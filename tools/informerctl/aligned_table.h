/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table for people: columns as wide as their widest cell and three spaces, no space at a line's end; as
 * kubectl lays them out.
 *
 * Source: k8s.io/cli-runtime pkg/printers (tabwriter with a minimal width of 6 and a padding of 3)
 */
#ifndef TOOLS_INFORMERCTL_ALIGNED_TABLE_H
#define TOOLS_INFORMERCTL_ALIGNED_TABLE_H

#include "tools/printer/cells.h"
#include "tools/printer/text.h"

/*
 * Rows of `columns` cells each; the first row is the heading where there is one. A cell's line feed cuts it,
 * with "...".
 */
void
table_write(const struct cells *cells, size_t columns, struct text *out);
/*
 * The same for rows that follow others: columns are as wide as they were, or wider. widths: `columns` of
 * them, zero at first.
 */
void
table_write_more(const struct cells *cells, size_t columns, size_t *widths, struct text *out);

#endif
