/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics text is Prometheus' exposition format (text/plain; version=0.0.4), written family by family:
 *
 *	metrics_family(m, "informer_objects", "gauge", "Objects in the cache.");
 *	metrics_sample(m, "", 1200, LABELS("resource", "pods"));
 *
 * Label values come from outside: they are escaped, and characters other than printable ASCII become '?'.
 */
#ifndef WRITER_BASE_METRICS_TEXT_H
#define WRITER_BASE_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/*
 * Zeroed is empty. The struct must not move until metrics_take(). family, type and help are borrowed until
 * the next family.
 */
struct metrics_text {
	FILE *out; /* writes text; NULL: nothing was written */
	char *text;
	size_t length;
	bool failed; /* memory ran out: there will be no text */
	const char *family, *type, *help;
	bool told; /* the family's head was written */
};

/* Begin a family: the following samples belong to it. A family without samples is not written. */
void metrics_family(struct metrics_text *m, const char *name, const char *type, const char *help);

#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

/*
 * Write a sample: suffix ("" or "_bucket" and the like), value, and LABELS of alternating names and values,
 * or NULL. A label whose value is NULL is left out.
 */
void metrics_sample(struct metrics_text *m, const char *suffix, double value, const char *const *labels);

/* Take the text, malloc'ed, with its length; m is empty then. NULL when memory ran out. */
char *metrics_take(struct metrics_text *m, size_t *ret_length);

#endif
