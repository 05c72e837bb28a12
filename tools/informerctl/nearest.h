/* Which name somebody may have meant. */
#ifndef INFORMERCTL_NEAREST_H
#define INFORMERCTL_NEAREST_H

#include <stddef.h>

/* The nearest of `names` to a misspelt word by edits (a third of its letters at most), or NULL when none is near. */
const char *
nearest(const char *word, const char *const *names, size_t count);

#endif
