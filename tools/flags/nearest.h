/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the name that a misspelt word may mean. */
#ifndef TOOLS_FLAGS_NEAREST_H
#define TOOLS_FLAGS_NEAREST_H

#include <stddef.h>

/*
 * Returns the only name that begins with the word (of at least 3 letters); else the nearest by edit distance,
 * at most a third of the word's letters; else NULL.
 */
const char *
nearest(const char *word, const char *const *names, size_t count);

#endif
