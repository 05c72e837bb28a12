/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts durations into buckets for the workqueue, and gives them out as the public struct has them.
 */
#include "reader-lib/workqueue/histogram.h"

void
histogram_observe(struct histogram *h, uint64_t ns)
{
	uint64_t bound = 10;
	unsigned i = 0;

	for (; i < INFORMER_WORKQUEUE_BUCKETS - 1 && ns > bound; i++)
		bound *= 10;
	h->buckets[i]++;
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
