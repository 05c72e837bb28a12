/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds: the same measurement several times, and the median, least and greatest of them for the report.
 */
#include "tests/bench/bench.h"

#include <stdlib.h>
#include <string.h>

void
rounds_add(struct rounds *r, double value)
{
	if (r->count < ROUNDS_MAX)
		r->value[r->count++] = value;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
rounds_median(const struct rounds *r)
{
	double sorted[ROUNDS_MAX];

	if (r->count == 0)
		return 0;
	memcpy(sorted, r->value, r->count * sizeof(sorted[0]));
	qsort(sorted, r->count, sizeof(sorted[0]), ascending);
	return r->count % 2 ? sorted[r->count / 2] : (sorted[r->count / 2 - 1] + sorted[r->count / 2]) / 2;
}

double
rounds_min(const struct rounds *r)
{
	double least = r->count ? r->value[0] : 0;

	for (unsigned i = 1; i < r->count; i++)
		least = r->value[i] < least ? r->value[i] : least;
	return least;
}

double
rounds_max(const struct rounds *r)
{
	double most = 0;

	for (unsigned i = 0; i < r->count; i++)
		most = r->value[i] > most ? r->value[i] : most;
	return most;
}
