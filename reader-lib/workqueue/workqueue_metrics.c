/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what a workqueue's keys have counted into the public struct, for whoever shows it.
 */
#include "reader-lib/workqueue/workqueue_metrics.h"

void
workqueue_metrics_read(const struct work_keys *keys, uint64_t now_ns,
		       struct informer_workqueue_metrics *ret_metrics)
{
	struct informer_workqueue_metrics m = {0};

	m.depth = keys->dirty;
	m.adds = keys->counts.adds;
	m.retries = keys->counts.retries;
	histogram_read(&keys->counts.queue, &m.queue_count, &m.queue_sum_ns, m.queue_buckets);
	histogram_read(&keys->counts.work, &m.work_count, &m.work_sum_ns, m.work_buckets);
	for (struct in_line *node = keys->busy.first; node; node = node->next) {
		uint64_t ns = since(now_ns, work_key_of_line(node)->started_ns);

		m.unfinished_ns += ns;
		m.longest_running_ns = ns > m.longest_running_ns ? ns : m.longest_running_ns;
	}
	*ret_metrics = m;
}
