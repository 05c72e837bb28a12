/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libinformer, workqueue: what a handler finds to do is put here by key, and done by workers at their own
 * pace (client-go's util/workqueue).
 *
 *	handler:	informer_workqueue_add(q, key, length);
 *	worker:		while (informer_workqueue_get(q, -1, &item) == 0) {
 *				if (reconcile(item.key, item.length) == 0)
 *					informer_workqueue_forget(q, item.key, item.length);
 *				else
 *					informer_workqueue_add_rate_limited(q, item.key, item.length);
 *				informer_workqueue_done(q, &item);
 *			}
 *
 * A key that is added while it waits is there once; one that is added while it is processed comes again after
 * done, once. So two workers never have the same key at the same time.
 *
 * Threads: any number. It needs no handle and no daemon. No thread of its own: delayed keys are moved by
 * those who get.
 */
#ifndef INFORMER_WORKQUEUE_H
#define INFORMER_WORKQUEUE_H

#include "informer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct informer_workqueue;

/*
 * All in one; zero fields mean the defaults in brackets.
 *
 * base_delay_ns, max_delay_ns   per-item exponential backoff: base · 2^n, at most max [5 ms, 1,000 s]
 * qps, burst                    one bucket for all items [10, 100]; qps < 0: no bucket
 * clock                         nanoseconds, monotonic; for tests with virtual time. A test that moves it on
 *                               calls informer_workqueue_kick(). NULL: CLOCK_MONOTONIC
 */
struct informer_workqueue_options {
	size_t size;
	uint64_t base_delay_ns;
	uint64_t max_delay_ns;
	double qps;
	uint32_t burst;
	uint64_t (*clock)(void *context);
	void *clock_context;
	void *(*allocate)(void *context, size_t size);
	void (*release)(void *context, void *memory);
	void *allocator_context;
};

/* key: a terminated copy, valid until done. */
struct informer_work_item {
	const char *key;
	size_t length;
	void *private_;
};

INFORMER_API int informer_workqueue_new(const struct informer_workqueue_options *options,
					struct informer_workqueue **ret_queue);
/* Nobody may be in it or come. NULL is fine. */
INFORMER_API void informer_workqueue_free(struct informer_workqueue *queue);

/*
 * Returns 0; -ESHUTDOWN after a shut down (the item is not taken); -ENOMEM; -EINVAL: a key of more than 1
 * MiB.
 */
INFORMER_API int informer_workqueue_add(struct informer_workqueue *queue, const char *key, size_t length);
/* After a delay; of two delays for one key the earlier one counts. delay 0: at once. */
INFORMER_API int informer_workqueue_add_after(struct informer_workqueue *queue, const char *key,
					      size_t length, uint64_t delay_ns);
/* After the longer of the item's own backoff, which this call raises, and the bucket's wait. */
INFORMER_API int informer_workqueue_add_rate_limited(struct informer_workqueue *queue, const char *key,
						     size_t length);
/* The item's backoff begins anew. Does not take it out of the queue. */
INFORMER_API void informer_workqueue_forget(struct informer_workqueue *queue, const char *key, size_t length);
/* How often it was added with a rate limit since it was forgotten. */
INFORMER_API uint32_t informer_workqueue_num_requeues(struct informer_workqueue *queue, const char *key,
						      size_t length);

/*
 * The next key, in order of adding; waits for one at most timeout_ms (negative: for ever; real time, also
 * with a clock of the caller's). Give it back with done.
 * Returns 0; -ETIMEDOUT; -ESHUTDOWN: shut down, and nothing is left
 */
INFORMER_API int informer_workqueue_get(struct informer_workqueue *queue, int timeout_ms,
					struct informer_work_item *ret_item);
INFORMER_API void informer_workqueue_done(struct informer_workqueue *queue, struct informer_work_item *item);

/* Keys that wait (delayed ones not counted). */
INFORMER_API size_t informer_workqueue_length(struct informer_workqueue *queue);

/* No adds from now on; get hands out what is left, then says -ESHUTDOWN. Delayed keys are dropped. */
INFORMER_API void informer_workqueue_shut_down(struct informer_workqueue *queue);
/*
 * The same, and waits until all of it is done: what is processed, what waits, and what was added again while
 * processed. (client-go's does not wait for what nobody got yet.)
 * Returns  0; -ETIMEDOUT; -ECANCELED: another thread called informer_workqueue_shut_down() meanwhile
 */
INFORMER_API int informer_workqueue_shut_down_with_drain(struct informer_workqueue *queue, int timeout_ms);
INFORMER_API bool informer_workqueue_is_shutting_down(struct informer_workqueue *queue);

/* Look at the clock again. */
INFORMER_API void informer_workqueue_kick(struct informer_workqueue *queue);

/*
 * Kubernetes' own metrics of a workqueue (workqueue_depth, _adds_total, _queue_duration_seconds,
 * _work_duration_seconds, _unfinished_work_seconds, _longest_running_processor_seconds, _retries_total).
 * Durations in nanoseconds; buckets hold counts of durations up to 10^-8 s, 10^-7 s, … 10^3 s, and of all.
 */
#define INFORMER_WORKQUEUE_BUCKETS 13
struct informer_workqueue_metrics {
	size_t size;
	uint64_t depth;
	uint64_t adds;
	uint64_t retries;
	uint64_t queue_count, queue_sum_ns, queue_buckets[INFORMER_WORKQUEUE_BUCKETS];
	uint64_t work_count, work_sum_ns, work_buckets[INFORMER_WORKQUEUE_BUCKETS];
	uint64_t unfinished_ns;
	uint64_t longest_running_ns;
};
INFORMER_API int informer_workqueue_metrics(struct informer_workqueue *queue,
					    struct informer_workqueue_metrics *metrics);

#ifdef __cplusplus
}
#endif

#endif
