/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations, counted into buckets of powers of ten from 10 ns on.
 *
 * Source: client-go's util/workqueue/metrics.go.
 */
#ifndef READER_LIB_WORKQUEUE_HISTOGRAM_H
#define READER_LIB_WORKQUEUE_HISTOGRAM_H

#include "reader-lib/informer-workqueue.h"

struct histogram {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t buckets[INFORMER_WORKQUEUE_BUCKETS];	/* each its own: not yet cumulative */
};

void histogram_observe(struct histogram *h, uint64_t ns);
/* Counts as buckets that include the lower ones. */
void histogram_read(const struct histogram *h, uint64_t *ret_count, uint64_t *ret_sum_ns,
		    uint64_t ret_buckets[INFORMER_WORKQUEUE_BUCKETS]);

#endif
