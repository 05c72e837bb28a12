/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a workqueue has counted, as the public struct has it.
 *
 * Source: client-go's util/workqueue/metrics.go: the same events are counted.
 */
#ifndef READER_LIB_WORKQUEUE_WORKQUEUE_METRICS_H
#define READER_LIB_WORKQUEUE_WORKQUEUE_METRICS_H

#include "reader-lib/workqueue/work_keys.h"

/* All but its size. */
void workqueue_metrics_read(const struct work_keys *keys, uint64_t now_ns,
			    struct informer_workqueue_metrics *ret_metrics);

#endif
