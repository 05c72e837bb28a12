/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report: one row a figure, printed as a table, written as JSON.
 *
 * Names are stable, and so is the JSON: [{"name","value","unit","peer","peer_value","ratio","conditions"}],
 * where what is not known is null, and ratio > 1 means that ours is better.
 */
#ifndef TESTS_BENCH_REPORT_H
#define TESTS_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What must be reached, and what is aimed at; 0: nothing is said.
 * With an aim alone there is no minimum to miss.
 * A ratio is wanted to be at least, a value at most that (at least, where more is better).
 */
struct target {
	double ratio, ratio_aim;
	double value, value_aim;
};

struct row {
	char name[48];
	char unit[16];
	char peer[48];			/* "" when there is none */
	bool measured, compared;	/* value, and peer_value, mean something */
	bool more_is_better;		/* rates; of all else less is */
	double value, peer_value;
	struct target target;
	char conditions[640];		/* of a skipped one: SKIP and why */
};

#define ROWS_MAX 160

struct report {
	struct row rows[ROWS_MAX];
	size_t count;
	char machine[512];		/* lines, each ended by '\n' */
	char cpu[128];
	char date[32];
};

void report_machine(struct report *r);

/*
 * Add a row, and say so on stderr as progress. peer NULL: none.
 * Returns the row; its target is the caller's to set before the next call.
 */
struct row *report_add(struct report *r, const char *name, const char *unit, double value, const char *peer,
		       double peer_value, const char *format, ...) __attribute__((format(printf, 7, 8)));
void report_skip(struct report *r, const char *name, const char *unit, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

const struct row *report_find(const struct report *r, const char *name);
double row_ratio(const struct row *row);	/* 0: no peer */
/* "✓✓" aim, "✓" minimum, "✗" neither, "" nothing is wanted. */
const char *row_mark(const struct row *row);
/* A figure as people read it: 93.2 ns, 1.07 KB. */
void row_figure(double value, const char *unit, char *buffer, size_t size);

void report_table(const struct report *r);
/* Returns 0 or negative errno. */
int report_json(const struct report *r, const char *path);

#endif
