/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: counts requests under Kubernetes' own name, so that a test can prove that no second LIST was made:
 *
 *   apiserver_request_total{verb="LIST",resource="pods",code="200"} 3
 *
 * A WATCH counts when it is opened. Threads: any.
 */
#ifndef TOOLS_INFORMER_SIM_METRICS_H
#define TOOLS_INFORMER_SIM_METRICS_H

#include <pthread.h>
#include <stdint.h>

#include "tools/serving/served_resource.h"

struct sim_counter {
	const char *verb; /* a literal */
	const struct api_resource *resource;
	unsigned code;
	uint64_t count;
};

struct sim_metrics {
	pthread_mutex_t lock;
	struct sim_counter *counters;
	size_t count;
};

void
sim_metrics_init(struct sim_metrics *metrics);
void
sim_metrics_done(struct sim_metrics *metrics);
void sim_metrics_count(struct sim_metrics *metrics, const char *verb, const struct api_resource *resource,
		       unsigned code);

struct api_buf;
/* Append the counters in Prometheus' text format. */
void
sim_metrics_print(struct sim_metrics *metrics, struct api_buf *buf);

#endif
