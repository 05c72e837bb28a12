/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics text: the exposition format of Prometheus (text/plain; version=0.0.4), written family by family:
 *
 *	metrics_family(m, "informer_objects", "gauge", "Objects in the cache.");
 *	metrics_sample(m, "", 1200, LABELS("resource", "pods"));
 *
 * Label values come from outside: they are escaped, and what is not printable ASCII becomes '?'.
 */
#ifndef WRITER_BASE_METRICS_TEXT_H
#define WRITER_BASE_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Zeroed is empty; it stays where it is until metrics_take(). family, type and help are borrowed until the
 * next family. */
struct metrics_text {
	FILE *out; /* writes text; NULL: nothing was written */
	char *text;
	size_t length;
	bool failed; /* memory ran out: there will be no text */
	const char *family, *type, *help;
	bool told; /* the family's head was written */
};

/* The samples that follow are of this family. One without samples is not written. */
void metrics_family(struct metrics_text *m, const char *name, const char *type, const char *help);

#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

/*
 * A sample: suffix ("" or "_bucket" and the like), value, LABELS of names and values in turn, or NULL. A
 * label whose value is NULL is left out.
 */
void metrics_sample(struct metrics_text *m, const char *suffix, double value, const char *const *labels);

/* The text, malloc'ed, with its length; m is empty then. NULL when memory ran out. */
char *metrics_take(struct metrics_text *m, size_t *ret_length);

#endif
