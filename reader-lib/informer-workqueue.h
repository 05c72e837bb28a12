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
 * How long informer_workqueue_add_rate_limited() lets a key wait (client-go's RateLimiters). A description:
 * the queue copies it, with all that it is made of, so it may stand on the stack, be const, and serve for
 * several queues; each has buckets of its own.
 *
 *	const struct informer_rate_limit
 *		each = {.kind = INFORMER_LIMIT_EXPONENTIAL, .base_ns = 5000000, .max_ns = 60000000000},
 *		all = {.kind = INFORMER_LIMIT_BUCKET, .qps = 50, .burst = 300},
 *		*both[] = {&each, &all},
 *		limit = {.kind = INFORMER_LIMIT_LONGEST_OF, .limits = both, .n_limits = 2};
 *
 * max_ns  no wait by this one is longer; 0: it may be as long as it is counted out. On an exponential one it
 *         is the maximum of client-go's, on any other WithMaxWaitRateLimiter
 */
enum informer_rate_limit_kind {
	/* base_ns · 2^n after n failures of this key; base_ns above 0 */
	INFORMER_LIMIT_EXPONENTIAL = 1,
	/* one for all keys: burst at once, then qps a second; both above 0 */
	INFORMER_LIMIT_BUCKET,
	/* fast_ns for the first fast_tries of this key, then slow_ns */
	INFORMER_LIMIT_FAST_SLOW,
	/* the longest of n_limits others, 1 or more, all of which are asked (MaxOfRateLimiter) */
	INFORMER_LIMIT_LONGEST_OF,
	/*
	 * what `when` says, in nanoseconds. failures: of this key, before this one. now_ns: the queue's
	 * clock. It and `forget` (NULL: need not be told) are called with the queue's lock held, so never two
	 * at once: they must return soon, and call no function of this queue
	 */
	INFORMER_LIMIT_OWN,
};
struct informer_rate_limit {
	enum informer_rate_limit_kind kind;
	uint64_t max_ns;
	uint64_t base_ns;
	double qps;
	uint32_t burst;
	uint32_t fast_tries;
	uint64_t fast_ns, slow_ns;
	const struct informer_rate_limit *const *limits;
	size_t n_limits;
	void *context;
	uint64_t (*when)(void *context, const char *key, size_t length, uint32_t failures, uint64_t now_ns);
	void (*forget)(void *context, const char *key, size_t length);
};

/*
 * All in one; zero fields mean the defaults in brackets.
 *
 * base_delay_ns, max_delay_ns   per-item exponential backoff: base · 2^n, at most max [5 ms, 1,000 s]
 * qps, burst                    one bucket for all items [10, 100]; qps < 0: no bucket
 * clock                         nanoseconds, monotonic; for tests with virtual time. A test that moves it on
 *                               calls informer_workqueue_kick(). NULL: CLOCK_MONOTONIC
 * rate_limit                    instead of the four at the top, which must be 0 then; borrowed for the call
 * name                          of its metrics; copied. NULL: it has none
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
	const struct informer_rate_limit *rate_limit;
	const char *name;
};

/* key: a terminated copy, valid until done. priority: with which it came. */
struct informer_work_item {
	const char *key;
	size_t length;
	int priority;
	void *private_;
};

/*
 * Returns 0; -ENOMEM; -EINVAL: no size, half an allocator, or a rate limit that makes no sense (a kind that
 * is none, a field that is to be above 0, more than 64 in all).
 */
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
/* After the wait that the queue's rate limit says, and this call counts as a failure of the item. */
INFORMER_API int informer_workqueue_add_rate_limited(struct informer_workqueue *queue, const char *key,
						     size_t length);

/*
 * How a key is added; zero fields: at once, with priority 0 (controller-runtime's AddOpts).
 *
 * priority      INFORMER_PRIORITY_MIN .. INFORMER_PRIORITY_MAX. Of the keys that are ready those with the
 *               highest are handed out first, of equals the first to come. A key that is added again while it
 *               waits keeps the higher of both priorities; one that is raised stands behind those that have
 *               that priority already. It goes for this time: once the key is handed out it is forgotten
 * delay_ns      as informer_workqueue_add_after(); 0: none. A delayed key has its priority when it is ready;
 *               until then it keeps nobody waiting
 * rate_limited  as informer_workqueue_add_rate_limited(); with a delay as well the shorter wait counts
 */
#define INFORMER_PRIORITY_MIN (-128)
#define INFORMER_PRIORITY_LOW (-100) /* controller-runtime's for what nobody changed: first lists, resyncs */
#define INFORMER_PRIORITY_MAX 127
struct informer_work_add {
	size_t size;
	int priority;
	bool rate_limited;
	uint64_t delay_ns;
};
/* Results as above; -EINVAL also: no size, or no such priority. how NULL: informer_workqueue_add(). */
INFORMER_API int informer_workqueue_add_with(struct informer_workqueue *queue, const char *key, size_t length,
					     const struct informer_work_add *how);

/* The item's backoff begins anew. Does not take it out of the queue. */
INFORMER_API void informer_workqueue_forget(struct informer_workqueue *queue, const char *key, size_t length);
/* How often it was added with a rate limit since it was forgotten, whichever limit that is. */
INFORMER_API uint32_t informer_workqueue_num_requeues(struct informer_workqueue *queue, const char *key,
						      size_t length);

/*
 * The next key, by priority and then in order of adding; waits for one at most timeout_ms (negative: for
 * ever; real time, also with a clock of the caller's). Give it back with done.
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

/* As the options have it; "": none. Valid as long as the queue. */
INFORMER_API const char *informer_workqueue_name(const struct informer_workqueue *queue);

/*
 * The metrics of all of a program's queues in Prometheus' text format, with names, label (name=) and buckets
 * as Kubernetes' own programs have them (k8s.io/component-base), so that their dashboards and alerts fit.
 *
 * queues   each has a name, and no two the same; else -EINVAL. n_queues 0: headings only
 * emit     called with pieces, no lock held; a non-zero result stops and is returned
 * Returns  0; -EINVAL, before anything was written
 * Cost     seven short looks into each queue; no allocation
 */
INFORMER_API int informer_workqueue_metrics_text(struct informer_workqueue *const *queues, size_t n_queues,
						 int (*emit)(void *context, const char *data, size_t length),
						 void *context);

#ifdef __cplusplus
}
#endif

#endif
