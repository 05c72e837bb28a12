/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of index values, in the order in which they were added.
 */
#ifndef READER_LIB_BASE_TEXT_SET_H
#define READER_LIB_BASE_TEXT_SET_H

#include "reader-lib/base/key_table.h"

struct set_text {
	struct key_node node;
	struct set_text *next;
	char bytes[];
};

struct text_set {
	struct allocator memory;
	struct key_table table;
	struct set_text *first, **last;
};

/* 0 or -ENOMEM */
int text_set_init(struct text_set *set, const struct allocator *memory);
/* 1 added, 0 present already, -ENOMEM */
int text_set_add(struct text_set *set, const char *data, size_t length);
/* Free the set. An all-zero set is allowed. */
void text_set_done(struct text_set *set);

#endif
