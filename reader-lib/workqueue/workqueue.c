/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workqueue: its clock, and its functions, which run under its lock. work_keys.h has the states of a key,
 * sleepers.h the threads that sleep.
 *
 * Delayed keys are in a heap, ordered by time. Each call moves the keys that are ready. Among waiting
 * workers, the keeper wakes for them. With the caller's own clock there is no keeper: the caller calls
 * informer_workqueue_kick().
 *
 * Source: client-go's util/workqueue.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include "reader-lib/informer-workqueue.h"
#include "reader-lib/workqueue/rate_limit.h"
#include "reader-lib/workqueue/sleepers.h"
#include "reader-lib/workqueue/work_keys.h"
#include "shm-layout/time_ns.h"

#define DEFAULT_BASE_DELAY_NS 5000000u
#define DEFAULT_MAX_DELAY_NS 1000000000000u
#define DEFAULT_QPS 10.0
#define DEFAULT_BURST 100u
#define KEY_MAX_BYTES (1u << 20)

struct informer_workqueue {
	struct allocator memory;
	uint64_t (*clock)(void *context);
	void *clock_context;
	char *name;

	struct sleepers sleepers; /* its lock guards all below */
	bool shutting_down;
	bool draining;
	struct rate_limiter limiter;
	struct work_keys keys;
	struct delay_heap delays;
};

static uint64_t
now_of(const struct informer_workqueue *q)
{
	return q->clock ? q->clock(q->clock_context) : time_ns(CLOCK_MONOTONIC);
}

static uint64_t
later(uint64_t time_ns, uint64_t delay_ns)
{
	return delay_ns > NEVER - 1 - time_ns ? NEVER - 1 : time_ns + delay_ns;
}

/* ---- creating and freeing ---- */

/* client-go's DefaultTypedControllerRateLimiter, with the caller's figures. */
static int
make_default_limiter(struct rate_limiter *l, const struct informer_workqueue_options *o,
		     const struct allocator *memory)
{
	const struct informer_rate_limit each = {
		.kind = INFORMER_LIMIT_EXPONENTIAL,
		.base_ns = o->base_delay_ns ? o->base_delay_ns : DEFAULT_BASE_DELAY_NS,
		.max_ns = o->max_delay_ns ? o->max_delay_ns : DEFAULT_MAX_DELAY_NS,
	};
	const struct informer_rate_limit all = {
		.kind = INFORMER_LIMIT_BUCKET,
		.qps = o->qps > 0 ? o->qps : DEFAULT_QPS,
		.burst = o->burst ? o->burst : DEFAULT_BURST,
	};
	const struct informer_rate_limit *const both[] = {&each, &all};
	const struct informer_rate_limit longer = {
		.kind = INFORMER_LIMIT_LONGEST_OF, .limits = both, .n_limits = 2};

	return rate_limiter_init(l, o->qps < 0 ? &each : &longer, memory);
}

static int
make_limiter(struct rate_limiter *l, const struct informer_workqueue_options *o,
	     const struct allocator *memory)
{
	if (!o->rate_limit)
		return make_default_limiter(l, o, memory);
	if (o->base_delay_ns || o->max_delay_ns || o->qps < 0 || o->qps > 0 || o->burst)
		return -EINVAL;
	return rate_limiter_init(l, o->rate_limit, memory);
}

static void
free_content(struct informer_workqueue *q)
{
	work_keys_done(&q->keys);
	delay_heap_done(&q->delays, &q->memory);
	rate_limiter_done(&q->limiter);
	allocator_put(&q->memory, q->name);
}

int
informer_workqueue_new(const struct informer_workqueue_options *options,
		       struct informer_workqueue **ret_queue)
{
	struct informer_workqueue_options o = {0};
	struct informer_workqueue *q;
	struct allocator memory;
	int r;

	if (!ret_queue || (options && options->size < sizeof(options->size)))
		return -EINVAL;
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	r = allocator_init(&memory, o.allocate, o.release, o.allocator_context);
	if (r < 0)
		return r;
	if (sodium_init() < 0)
		return -ENOSYS;
	q = allocator_get(&memory, sizeof(*q));
	if (!q)
		return -ENOMEM;
	q->memory = memory;
	q->clock = o.clock;
	q->clock_context = o.clock_context;
	q->name = allocator_text(&memory, o.name);
	r = q->name ? make_limiter(&q->limiter, &o, &memory) : -ENOMEM;
	if (r == 0)
		r = work_keys_init(&q->keys, &memory);
	if (r == 0)
		r = sleepers_init(&q->sleepers);
	if (r < 0) {
		free_content(q);
		allocator_put(&memory, q);
		return r;
	}
	*ret_queue = q;
	return 0;
}

void
informer_workqueue_free(struct informer_workqueue *q)
{
	struct allocator memory;

	if (!q)
		return;
	memory = q->memory;
	free_content(q);
	sleepers_done(&q->sleepers);
	allocator_put(&memory, q);
}

/* ---- with the lock held ---- */

static void
make_dirty(struct informer_workqueue *q, struct work_key *k, int8_t priority, uint64_t now_ns)
{
	if (work_keys_make_dirty(&q->keys, k, priority, now_ns))
		sleepers_wake_one(&q->sleepers);
}

/* Move delayed keys that are ready into the line. They count from the time at which they became ready. */
static uint64_t
look_at_the_clock(struct informer_workqueue *q)
{
	uint64_t now_ns = now_of(q);
	struct delayed *d;

	while ((d = delay_heap_top(&q->delays)) && d->ready_ns <= now_ns) {
		struct work_key *k = work_key_of_delayed(d);

		delay_heap_pop(&q->delays);
		make_dirty(q, k, k->delayed_priority, d->ready_ns);
	}
	return now_ns;
}

/*
 * A worker leaves, or another delayed key is the first now: a waiting worker must sleep until the right time.
 */
static void
wake_keeper(struct informer_workqueue *q)
{
	if (!q->clock && delay_heap_top(&q->delays))
		sleepers_wake_keeper(&q->sleepers);
}

/* ---- adding ---- */

static bool
key_is_bad(const struct informer_workqueue *q, const char *key, size_t length)
{
	return !q || (!key && length > 0) || length > KEY_MAX_BYTES;
}

static void
delay(struct informer_workqueue *q, struct work_key *k, int8_t priority, uint64_t now_ns, uint64_t delay_ns)
{
	uint64_t ready_ns = later(now_ns, delay_ns);

	q->keys.counts.retries++;
	if (delay_ns == 0) {
		make_dirty(q, k, priority, now_ns);
		return;
	}
	if (!k->delayed.at || k->delayed_priority < priority)
		k->delayed_priority = priority;
	if (k->delayed.at && k->delayed.ready_ns <= ready_ns)
		return;
	if (k->delayed.at) {
		delay_heap_advance(&q->delays, &k->delayed, ready_ns);
	} else {
		k->delayed.ready_ns = ready_ns;
		delay_heap_push(&q->delays, &k->delayed);
	}
	if (delay_heap_top(&q->delays) == &k->delayed)
		wake_keeper(q);
}

/* The rate limit's delay, or delay_ns if that is shorter and not 0. */
static uint64_t
limited_delay(struct informer_workqueue *q, struct work_key *k, uint64_t now_ns, uint64_t delay_ns)
{
	uint64_t wait_ns = rate_limiter_when(&q->limiter, k->key, k->node.length, k->failures, now_ns);

	if (k->failures < UINT32_MAX)
		k->failures++;
	return delay_ns > 0 && delay_ns < wait_ns ? delay_ns : wait_ns;
}

/* later: with a delay or a rate limit, even if that gives 0. */
static int
add(struct informer_workqueue *q, const char *key, size_t length, const struct informer_work_add *how,
    bool later)
{
	struct work_key *k = NULL;
	uint64_t now_ns, delay_ns = how->delay_ns;
	int r = 0;

	if (key_is_bad(q, key, length))
		return -EINVAL;
	pthread_mutex_lock(&q->sleepers.lock);
	if (q->shutting_down) {
		r = -ESHUTDOWN;
		goto out;
	}
	now_ns = look_at_the_clock(q);
	if (!later || delay_heap_reserve(&q->delays, &q->memory) == 0)
		k = work_keys_get(&q->keys, key, length);
	if (!k) {
		r = -ENOMEM;
		goto out;
	}
	if (how->rate_limited)
		delay_ns = limited_delay(q, k, now_ns, delay_ns);
	if (later)
		delay(q, k, (int8_t)how->priority, now_ns, delay_ns);
	else
		make_dirty(q, k, (int8_t)how->priority, now_ns);
out:
	pthread_mutex_unlock(&q->sleepers.lock);
	return r;
}

int
informer_workqueue_add(struct informer_workqueue *q, const char *key, size_t length)
{
	return add(q, key, length, &(struct informer_work_add){0}, false);
}

int
informer_workqueue_add_after(struct informer_workqueue *q, const char *key, size_t length, uint64_t delay_ns)
{
	return add(q, key, length, &(struct informer_work_add){.delay_ns = delay_ns}, true);
}

int
informer_workqueue_add_rate_limited(struct informer_workqueue *q, const char *key, size_t length)
{
	return add(q, key, length, &(struct informer_work_add){.rate_limited = true}, true);
}

int
informer_workqueue_add_with(struct informer_workqueue *q, const char *key, size_t length,
			    const struct informer_work_add *how)
{
	struct informer_work_add h = {0};

	if (how && how->size < sizeof(how->size))
		return -EINVAL;
	if (how)
		memcpy(&h, how, how->size < sizeof(h) ? how->size : sizeof(h));
	if (h.priority < INFORMER_PRIORITY_MIN || h.priority > INFORMER_PRIORITY_MAX)
		return -EINVAL;
	return add(q, key, length, &h, h.rate_limited || h.delay_ns > 0);
}

void
informer_workqueue_forget(struct informer_workqueue *q, const char *key, size_t length)
{
	struct work_key *k;

	if (key_is_bad(q, key, length))
		return;
	pthread_mutex_lock(&q->sleepers.lock);
	k = work_keys_find(&q->keys, key, length);
	if (k) {
		k->failures = 0;
		work_keys_drop_if_idle(&q->keys, k);
	}
	rate_limiter_forget(&q->limiter, key, length);
	pthread_mutex_unlock(&q->sleepers.lock);
}

uint32_t
informer_workqueue_num_requeues(struct informer_workqueue *q, const char *key, size_t length)
{
	struct work_key *k;
	uint32_t n;

	if (key_is_bad(q, key, length))
		return 0;
	pthread_mutex_lock(&q->sleepers.lock);
	k = work_keys_find(&q->keys, key, length);
	n = k ? k->failures : 0;
	pthread_mutex_unlock(&q->sleepers.lock);
	return n;
}

/* ---- working ---- */

static void
wait_for_more(struct informer_workqueue *q, uint64_t until_ns)
{
	const struct delayed *d = q->clock ? NULL : delay_heap_top(&q->delays);

	sleepers_wait(&q->sleepers, until_ns, d ? d->ready_ns : NEVER);
}

/* 0: an item; -EAGAIN: none yet; or why there is none. */
static int
try_get(struct informer_workqueue *q, uint64_t until_ns, struct informer_work_item *ret_item)
{
	struct work_key *k = work_keys_take(&q->keys, look_at_the_clock(q));
	if (k) {
		*ret_item = (struct informer_work_item){k->key, k->node.length, k->line.priority, k};
		return 0;
	}
	if (q->shutting_down)
		return -ESHUTDOWN;
	return deadline_has_passed(until_ns) ? -ETIMEDOUT : -EAGAIN;
}

int
informer_workqueue_get(struct informer_workqueue *q, int timeout_ms, struct informer_work_item *ret_item)
{
	uint64_t until_ns;
	int r;

	if (!q || !ret_item)
		return -EINVAL;
	until_ns = deadline_of(timeout_ms);
	pthread_mutex_lock(&q->sleepers.lock);
	while ((r = try_get(q, until_ns, ret_item)) == -EAGAIN)
		wait_for_more(q, until_ns);
	/*
	 * Pass on the signal that woke us. An add may signal a sleeper that is already waking up. That one
	 * takes one key only.
	 */
	if (q->keys.line.length > 0)
		sleepers_wake_one(&q->sleepers);
	else if (!q->sleepers.keeper)
		wake_keeper(q);
	pthread_mutex_unlock(&q->sleepers.lock);
	return r;
}

void
informer_workqueue_done(struct informer_workqueue *q, struct informer_work_item *item)
{
	struct work_key *k;

	if (!q || !item || !item->private_)
		return;
	k = item->private_;
	*item = (struct informer_work_item){0};
	pthread_mutex_lock(&q->sleepers.lock);
	if (work_keys_finish(&q->keys, k, look_at_the_clock(q)))
		sleepers_wake_one(&q->sleepers);
	if (q->keys.dirty == 0 && !q->keys.busy.first)
		sleepers_wake_drained(&q->sleepers);
	pthread_mutex_unlock(&q->sleepers.lock);
}

size_t
informer_workqueue_length(struct informer_workqueue *q)
{
	size_t n;

	if (!q)
		return 0;
	pthread_mutex_lock(&q->sleepers.lock);
	look_at_the_clock(q);
	n = q->keys.line.length;
	pthread_mutex_unlock(&q->sleepers.lock);
	return n;
}

void
informer_workqueue_kick(struct informer_workqueue *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->sleepers.lock);
	look_at_the_clock(q);
	pthread_mutex_unlock(&q->sleepers.lock);
}

/* ---- shutting down ---- */

static void
shut_down(struct informer_workqueue *q, bool drain)
{
	struct delayed *d;

	/* keys that became ready before the shutdown count as added before it */
	look_at_the_clock(q);
	q->shutting_down = true;
	q->draining = drain;
	while ((d = delay_heap_top(&q->delays))) {
		delay_heap_pop(&q->delays);
		work_keys_drop_if_idle(&q->keys, work_key_of_delayed(d));
	}
	sleepers_wake_all(&q->sleepers);
}

void
informer_workqueue_shut_down(struct informer_workqueue *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->sleepers.lock);
	shut_down(q, false);
	pthread_mutex_unlock(&q->sleepers.lock);
}

int
informer_workqueue_shut_down_with_drain(struct informer_workqueue *q, int timeout_ms)
{
	uint64_t until_ns;
	int r = 0;

	if (!q)
		return -EINVAL;
	until_ns = deadline_of(timeout_ms);
	pthread_mutex_lock(&q->sleepers.lock);
	shut_down(q, true);
	while ((q->keys.dirty > 0 || q->keys.busy.first) && r == 0) {
		if (!q->draining)
			r = -ECANCELED;
		else if (deadline_has_passed(until_ns))
			r = -ETIMEDOUT;
		else
			sleepers_wait_drained(&q->sleepers, until_ns);
	}
	pthread_mutex_unlock(&q->sleepers.lock);
	return r;
}

bool
informer_workqueue_is_shutting_down(struct informer_workqueue *q)
{
	bool is;

	if (!q)
		return true;
	pthread_mutex_lock(&q->sleepers.lock);
	is = q->shutting_down;
	pthread_mutex_unlock(&q->sleepers.lock);
	return is;
}

int
informer_workqueue_metrics(struct informer_workqueue *q, struct informer_workqueue_metrics *metrics)
{
	struct informer_workqueue_metrics m;
	uint64_t now_ns;

	if (!q || !metrics || metrics->size < sizeof(metrics->size))
		return -EINVAL;
	pthread_mutex_lock(&q->sleepers.lock);
	now_ns = look_at_the_clock(q);
	work_keys_metrics(&q->keys, now_ns, &m);
	pthread_mutex_unlock(&q->sleepers.lock);
	m.size = metrics->size;
	memcpy(metrics, &m, m.size < sizeof(m) ? m.size : sizeof(m));
	return 0;
}

const char *
informer_workqueue_name(const struct informer_workqueue *q)
{
	return q ? q->name : "";
}
