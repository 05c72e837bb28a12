/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a workqueue counts while it works, and how that becomes struct informer_workqueue_metrics.
 *
 * Source: client-go's util/workqueue/metrics.go: the same events are counted, buckets of powers of ten from
 * 10 ns on.
 */
#ifndef READER_LIB_WORKQUEUE_WORKQUEUE_METRICS_H
#define READER_LIB_WORKQUEUE_WORKQUEUE_METRICS_H

#include "reader-lib/informer-workqueue.h"

struct histogram {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t buckets[INFORMER_WORKQUEUE_BUCKETS];	/* each its own: not yet cumulative */
};

/*
 * adds     keys that became dirty
 * retries  calls with a delay or a rate limit
 * queue    from becoming dirty (a delayed one: ready) to being handed out
 * work     from being handed out to done
 */
struct workqueue_counts {
	uint64_t adds;
	uint64_t retries;
	struct histogram queue;
	struct histogram work;
};

void histogram_observe(struct histogram *h, uint64_t ns);
/* Counts as buckets that include the lower ones. */
void histogram_read(const struct histogram *h, uint64_t *ret_count, uint64_t *ret_sum_ns,
		    uint64_t ret_buckets[INFORMER_WORKQUEUE_BUCKETS]);

#endif
