/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request counters: a short list with an entry for each combination of verb, resource and code seen so far.
 */
#include "tools/informer-sim/metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

void
sim_metrics_init(struct sim_metrics *metrics)
{
	*metrics = (struct sim_metrics){0};
	pthread_mutex_init(&metrics->lock, NULL);
}

void
sim_metrics_done(struct sim_metrics *metrics)
{
	free(metrics->counters);
	pthread_mutex_destroy(&metrics->lock);
}

void
sim_metrics_count(struct sim_metrics *metrics, const char *verb, const struct api_resource *resource,
		  unsigned code)
{
	size_t i;

	pthread_mutex_lock(&metrics->lock);
	for (i = 0; i < metrics->count; i++) {
		const struct sim_counter *c = &metrics->counters[i];

		if (c->resource == resource && c->code == code && !strcmp(c->verb, verb))
			break;
	}
	if (i == metrics->count) {
		metrics->counters = api_realloc(metrics->counters, (i + 1) * sizeof(*metrics->counters));
		metrics->counters[i] = (struct sim_counter){.verb = verb, .resource = resource, .code = code};
		metrics->count++;
	}
	metrics->counters[i].count++;
	pthread_mutex_unlock(&metrics->lock);
}

void
sim_metrics_print(struct sim_metrics *metrics, struct api_buf *buf)
{
	api_buf_puts(buf,
		     "# HELP apiserver_request_total Counter of apiserver requests broken out for each verb, "
		     "resource and HTTP response code.\n# TYPE apiserver_request_total counter\n");
	pthread_mutex_lock(&metrics->lock);
	for (size_t i = 0; i < metrics->count; i++) {
		const struct sim_counter *c = &metrics->counters[i];

		api_buf_printf(
			buf, "apiserver_request_total{verb=\"%s\",resource=\"%s\",code=\"%u\"} %" PRIu64 "\n",
			c->verb, c->resource->plural, c->code, c->count);
	}
	pthread_mutex_unlock(&metrics->lock);
}
