/* SPDX-License-Identifier: Apache-2.0 */
/* Which name somebody may have meant. */
#ifndef TOOLS_FLAGS_NEAREST_H
#define TOOLS_FLAGS_NEAREST_H

#include <stddef.h>

/*
 * The only one of `names` that begins with the word, from three letters on; else the nearest to it by edits
 * (a third of its letters at most), or NULL when none is near.
 */
const char *
nearest(const char *word, const char *const *names, size_t count);

#endif
