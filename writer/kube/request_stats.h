/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request statistics: what the API server answered, and how long that took, for metrics. Names and buckets
 * are those of client-go's rest_client_* metrics, so dashboards for Go clients fit.
 */
#ifndef WRITER_KUBE_REQUEST_STATS_H
#define WRITER_KUBE_REQUEST_STATS_H

#include <stddef.h>
#include <stdint.h>

#define REQUEST_CODES 1000 /* three-digit status codes; 0: no answer came */

/* Upper bounds of the buckets, in seconds. */
static const double request_buckets[] = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
#define REQUEST_BUCKETS (sizeof(request_buckets) / sizeof(*request_buckets))

/*
 * codes    answers by status code, counted when the header is complete (also a 401 that is tried again)
 * buckets  finite answers that came whole, by duration, each in one bucket; the last is for durations above
 *          all bounds
 */
struct request_stats {
	uint64_t codes[REQUEST_CODES];
	uint64_t buckets[REQUEST_BUCKETS + 1];
	uint64_t count;
	double seconds;
};

static inline void
request_stats_answer(struct request_stats *stats, long code)
{
	stats->codes[code > 0 && code < REQUEST_CODES ? code : 0]++;
}

static inline void
request_stats_duration(struct request_stats *stats, double seconds)
{
	size_t i = 0;

	while (i < REQUEST_BUCKETS && seconds > request_buckets[i])
		i++;
	stats->buckets[i]++;
	stats->count++;
	stats->seconds += seconds;
}

#endif
