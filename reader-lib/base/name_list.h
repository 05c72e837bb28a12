/* SPDX-License-Identifier: Apache-2.0 */
/* A list of names for a message, separated by commas. Names that do not fit are left out. */
#ifndef READER_LIB_BASE_NAME_LIST_H
#define READER_LIB_BASE_NAME_LIST_H

#include <stddef.h>

/* All zero: empty. */
struct name_list {
	char text[400];
	size_t length;
};

/* Add a name after a word that says what it is, such as "handler "; "": none. */
void name_list_add(struct name_list *list, const char *what, const char *name, size_t length);

#endif
