/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libinformer, workqueue: handlers add keys, workers process them (client-go's util/workqueue). Page:
 * informer_workqueue(3).
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
 * A waiting key that is added again stays in the queue once. A key that is added while it is processed comes
 * again once, after done. So two workers never have the same key.
 *
 * Threads: any number at once. The queue needs no handle and no informerd, and has no thread: workers in get
 * move delayed keys.
 */
#ifndef INFORMER_WORKQUEUE_H
#define INFORMER_WORKQUEUE_H

#include "informer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct informer_workqueue;

/*
 * How long informer_workqueue_add_rate_limited() delays a key (client-go's RateLimiters). Each queue copies
 * the whole description, and has its own buckets.
 *
 *	const struct informer_rate_limit
 *		each = {.kind = INFORMER_LIMIT_EXPONENTIAL, .base_ns = 5000000, .max_ns = 60000000000},
 *		all = {.kind = INFORMER_LIMIT_BUCKET, .qps = 50, .burst = 300},
 *		*both[] = {&each, &all},
 *		limit = {.kind = INFORMER_LIMIT_LONGEST_OF, .limits = both, .n_limits = 2};
 *
 * max_ns  the longest wait of this limit (WithMaxWaitRateLimiter); 0: no maximum
 */
enum informer_rate_limit_kind {
	/* base_ns · 2^n after n failures of the key; base_ns above 0 */
	INFORMER_LIMIT_EXPONENTIAL = 1,
	/* for all keys: burst at once, then qps a second; both above 0 */
	INFORMER_LIMIT_BUCKET,
	/* fast_ns for the key's first fast_tries failures, then slow_ns */
	INFORMER_LIMIT_FAST_SLOW,
	/* the longest wait of n_limits (1 or more) limits; all are asked (MaxOfRateLimiter) */
	INFORMER_LIMIT_LONGEST_OF,
	/*
	 * the nanoseconds that `when` returns. failures: the key's earlier ones; now_ns: the queue's clock.
	 * `when` and `forget` (may be NULL) run under the queue's lock: they must return soon and not use
	 * this queue
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
 * Zero fields mean the defaults in brackets.
 *
 * size                          sizeof(struct informer_workqueue_options)
 * base_delay_ns, max_delay_ns   wait per key: base · 2^n, at most max [5 ms, 1,000 s]
 * qps, burst                    a bucket for all keys [10, 100]; qps < 0: no bucket
 * clock                         monotonic nanoseconds, for tests [CLOCK_MONOTONIC]; after moving it call
 *                               informer_workqueue_kick()
 * allocate, release             both or neither
 * rate_limit                    replaces delays, qps and burst, which must be 0; copied
 * name                          label of the metrics; copied
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

/* key: a terminated copy, valid until done. priority: that which the key had in the queue. */
struct informer_work_item {
	const char *key;
	size_t length;
	int priority;
	void *private_;
};

/*
 * options NULL: defaults.
 *
 * Returns 0; -ENOMEM; -EINVAL: no size, half an allocator, or a bad rate limit (an unknown kind, a 0 that
 * must be above 0, more than 64 limits)
 */
INFORMER_API int informer_workqueue_new(const struct informer_workqueue_options *options,
					struct informer_workqueue **ret_queue);
/* No other thread may use the queue. NULL is fine. */
INFORMER_API void informer_workqueue_free(struct informer_workqueue *queue);

/*
 * Add a key. Returns 0; -ESHUTDOWN after a shut down and -ENOMEM: nothing changed; -EINVAL: a key over 1 MiB.
 * Memory: about 150 bytes and the key's length, until the key is done and has no failures.
 */
INFORMER_API int informer_workqueue_add(struct informer_workqueue *queue, const char *key, size_t length);
/* Add a key after a delay. 0: at once. Of two delays of a key the earlier counts. */
INFORMER_API int informer_workqueue_add_after(struct informer_workqueue *queue, const char *key,
					      size_t length, uint64_t delay_ns);
/* Add a key after the delay of the queue's rate limit. The call counts as a failure of the key. */
INFORMER_API int informer_workqueue_add_rate_limited(struct informer_workqueue *queue, const char *key,
						     size_t length);

/*
 * How a key is added (controller-runtime's AddOpts). Zero fields: at once, with priority 0.
 *
 * size          sizeof(struct informer_work_add)
 * priority      INFORMER_PRIORITY_MIN .. INFORMER_PRIORITY_MAX. Ready keys of the highest priority go first,
 *               equal ones in the order of adding. A waiting key that is added again with a higher priority
 *               gets it, and goes behind the keys that already have it. A priority lasts until the key is
 *               handed out
 * delay_ns      as informer_workqueue_add_after(); 0: none. The priority counts when the delay ends; of two
 *               delayed adds the higher one
 * rate_limited  as informer_workqueue_add_rate_limited(); with delay_ns the shorter wait counts
 */
#define INFORMER_PRIORITY_MIN (-128)
#define INFORMER_PRIORITY_LOW (-100) /* for initial adds and resyncs, as in controller-runtime */
#define INFORMER_PRIORITY_MAX 127
struct informer_work_add {
	size_t size;
	int priority;
	bool rate_limited;
	uint64_t delay_ns;
};
/* how NULL: informer_workqueue_add(). Returns as that; -EINVAL also: no size, or a bad priority. */
INFORMER_API int informer_workqueue_add_with(struct informer_workqueue *queue, const char *key, size_t length,
					     const struct informer_work_add *how);

/* Reset the key's failures, after success or when giving up. The key stays in the queue. */
INFORMER_API void informer_workqueue_forget(struct informer_workqueue *queue, const char *key, size_t length);
/* The key's failures: rate-limited adds since informer_workqueue_forget(). */
INFORMER_API uint32_t informer_workqueue_num_requeues(struct informer_workqueue *queue, const char *key,
						      size_t length);

/*
 * Take the next key: the highest priority, then the order of adding. Waits at most timeout_ms of real time
 * (negative: no limit). Give each item back with informer_workqueue_done().
 *
 * Returns 0; -ETIMEDOUT; -ESHUTDOWN: shut down, and no key is left
 */
INFORMER_API int informer_workqueue_get(struct informer_workqueue *queue, int timeout_ms,
					struct informer_work_item *ret_item);
INFORMER_API void informer_workqueue_done(struct informer_workqueue *queue, struct informer_work_item *item);

/* The number of waiting keys, without delayed ones. */
INFORMER_API size_t informer_workqueue_length(struct informer_workqueue *queue);

/* Adds fail from now on; delayed keys are dropped. get hands out the others, then returns -ESHUTDOWN. */
INFORMER_API void informer_workqueue_shut_down(struct informer_workqueue *queue);
/*
 * The same, and wait until all keys are done: keys in process, waiting ones, and those added again in
 * process. (client-go waits only for keys in process.) timeout_ms negative: no limit.
 *
 * Returns 0; -ETIMEDOUT; -ECANCELED: another thread called informer_workqueue_shut_down()
 */
INFORMER_API int informer_workqueue_shut_down_with_drain(struct informer_workqueue *queue, int timeout_ms);
INFORMER_API bool informer_workqueue_is_shutting_down(struct informer_workqueue *queue);

/* Read the clock again, after the caller's clock has moved. */
INFORMER_API void informer_workqueue_kick(struct informer_workqueue *queue);

/*
 * Kubernetes' metrics of a workqueue, with durations in nanoseconds. Buckets are cumulative: durations up to
 * 10^-8 s, 10^-7 s, … 10^3 s, and all.
 *
 * size                to be set by the caller: sizeof(struct informer_workqueue_metrics)
 * depth               keys to process, also those added again in process
 * adds                keys added; adds of a waiting key do not count
 * retries             adds with a delay or a rate limit
 * queue_, work_       how long keys waited, and were processed
 * unfinished_ns       how long the keys in process have taken, in sum
 * longest_running_ns  the longest of these
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
/* Returns 0; -EINVAL: no size. */
INFORMER_API int informer_workqueue_metrics(struct informer_workqueue *queue,
					    struct informer_workqueue_metrics *metrics);

/* The name in the options, or "". Valid as long as the queue. */
INFORMER_API const char *informer_workqueue_name(const struct informer_workqueue *queue);

/*
 * Write the metrics of several queues in Prometheus' text format, with Kubernetes' names, label (name=) and
 * buckets (k8s.io/component-base).
 *
 * queues   with distinct names. n_queues 0: headings only
 * emit     gets pieces of text, without a lock; a result other than 0 ends the call and is returned
 * Returns  0; -EINVAL: a queue without a distinct name; nothing was written
 * Cost     the metrics of each queue are read seven times, briefly under its lock; no allocation
 */
INFORMER_API int informer_workqueue_metrics_text(struct informer_workqueue *const *queues, size_t n_queues,
						 int (*emit)(void *context, const char *data, size_t length),
						 void *context);

#ifdef __cplusplus
}
#endif

#endif
