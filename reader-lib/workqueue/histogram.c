/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts durations into buckets for the workqueue, and gives them out as the public struct has them.
 */
#include "reader-lib/workqueue/histogram.h"

/* The bucket before the last, 10^12 ns, is that of powers[12]; the first that of powers[1]. */
static const uint64_t powers[] = {1,           10,           100,          1000,      10000,
				  100000,      1000000,      10000000,     100000000, 1000000000,
				  10000000000, 100000000000, 1000000000000};
#define LAST_POWER (sizeof(powers) / sizeof(powers[0]) - 1)
_Static_assert(LAST_POWER + 1 == INFORMER_WORKQUEUE_BUCKETS, "a bucket each, but for 1; and one for all");

/*
 * The smallest e of 1 .. 13 with ns <= 10^e; 13: there is none. A number of so many bits has t or t + 1
 * digits, with t = bits · log10(2).
 */
static unsigned
exponent_of(uint64_t ns)
{
	unsigned t = ns > 0 ? (64u - (unsigned)__builtin_clzll(ns)) * 1233u >> 12 : 0;

	if (t > LAST_POWER)
		return LAST_POWER + 1;
	t += ns > powers[t];
	return t > 0 ? t : 1;
}

void
histogram_observe(struct histogram *h, uint64_t ns)
{
	h->buckets[exponent_of(ns) - 1]++;
	h->count++;
	h->sum_ns += ns;
}

void
histogram_read(const struct histogram *h, uint64_t *ret_count, uint64_t *ret_sum_ns,
	       uint64_t ret_buckets[INFORMER_WORKQUEUE_BUCKETS])
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < INFORMER_WORKQUEUE_BUCKETS; i++)
		ret_buckets[i] = sum += h->buckets[i];
	*ret_count = h->count;
	*ret_sum_ns = h->sum_ns;
}
