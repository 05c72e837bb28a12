/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report: one row a figure, printed as a table, written as JSON; and rounds, of which it takes the
 * median.
 *
 * Names and JSON are stable: [{"name","value","unit","peer","peer_value","ratio"}]. Unknown values are null.
 * ratio > 1 means that ours is better.
 */
#ifndef TESTS_BENCH_REPORT_H
#define TESTS_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#define ROUNDS_MAX 63

struct rounds {
	unsigned count;
	double value[ROUNDS_MAX];
};

void rounds_add(struct rounds *r, double value);
double rounds_median(const struct rounds *r);        /* 0 without any */
int ascending_doubles(const void *a, const void *b); /* for qsort() */

/*
 * The minimum to reach and the aim; 0: none. With an aim alone there is no minimum to miss. A ratio should be
 * at least that, a value at most (at least, where the unit is 1/s).
 */
struct target {
	double ratio, ratio_aim;
	double value, value_aim;
};

/* What report.c's table says of rows whose names match a pattern. */
struct kind {
	const char *pattern, *unit, *peer;
	struct target target;
};

struct row {
	char name[56], peer[48];
	const struct kind *kind;
	double value, peer_value; /* peer_value 0: none */
};

#define ROWS_MAX 160

/* Shared by the measurements' processes, with values that later rows compare with. */
struct report {
	struct row rows[ROWS_MAX];
	size_t count;
	double client_go_heap; /* bytes a pod, once measured */
	double client_go_pss;  /* of a process with an informer for 10k pods, once measured */
};

/* Add a row, and print it on stderr as progress. peer NULL: the kind's. theirs 0: it was not measured. */
void report_value(struct report *r, double ours, const char *peer, double theirs, const char *name, ...)
	__attribute__((format(printf, 5, 6)));
/* The same of medians. theirs may be NULL. */
void report_rounds(struct report *r, const struct rounds *ours, const char *peer, const struct rounds *theirs,
		   const char *name, ...) __attribute__((format(printf, 5, 6)));

void report_table(const struct report *r);
/* Returns 0 or negative errno. */
int report_json(const struct report *r, const char *path);

#endif
