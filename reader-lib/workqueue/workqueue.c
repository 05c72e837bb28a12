/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workqueue: keys that wait, keys that are processed, keys that wait for their time.
 *
 * A key has one entry for as long as anything is to be remembered of it: dirty (to be processed), processing,
 * delayed, or failures to be forgotten. A dirty key stands in the line, unless it is being processed: then it
 * comes into the line when that is done. So no key is ever with two workers.
 *
 *	        add                    get                       done
 *	(none) ─────▶ dirty, in line ──────▶ processing ───────────────────────▶ (none)
 *	                   ▲                     │ add
 *	                   │        done         ▼
 *	                   └────────────── processing, dirty
 *
 * Delayed keys stand in a heap by their time. There is no thread to move them: whoever comes by does, and of
 * those who wait in get one, the keeper, sleeps no longer than until the first delayed key is ready.
 * Invariant: while a key is delayed and somebody waits, there is a keeper, or one of those who wait was woken
 * to become it. With a clock of the caller's there is no keeper; the caller kicks.
 *
 * Source: client-go's util/workqueue.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include "reader-lib/workqueue/delay_heap.h"
#include "reader-lib/informer-workqueue.h"
#include "reader-lib/base/key_table.h"
#include "reader-lib/workqueue/rate_limit.h"
#include "reader-lib/workqueue/workqueue_metrics.h"
#include "shm-layout/time_ns.h"

#define DEFAULT_BASE_DELAY_NS 5000000u
#define DEFAULT_MAX_DELAY_NS 1000000000000u
#define DEFAULT_QPS 10.0
#define DEFAULT_BURST 100u
#define NEVER UINT64_MAX
#define KEY_MAX_BYTES (1u << 20)

struct entry {
	struct key_node node;
	struct delayed delayed;
	struct entry *next;		/* in the line */
	struct entry *busy_next, *busy_previous;
	uint64_t dirty_ns;
	uint64_t started_ns;
	uint32_t failures;
	bool dirty;
	bool processing;
	char key[];
};

struct informer_workqueue {
	struct allocator memory;
	uint64_t (*clock)(void *context);
	void *clock_context;
	uint64_t base_delay_ns, max_delay_ns;

	pthread_mutex_t lock;		/* guards all below */
	pthread_cond_t more;		/* getters sleep here */
	pthread_cond_t keeper_wakes;	/* but the keeper here */
	pthread_cond_t drained;
	size_t sleepers;		/* on `more` */
	bool keeper;
	bool shutting_down;
	bool draining;
	struct token_bucket bucket;
	struct key_table keys;
	struct delay_heap delays;
	struct entry *first, **last;	/* the line */
	size_t length;			/* of it */
	size_t dirty;			/* keys in the line, and those that will be when they are done */
	struct entry *busy;
	struct workqueue_counts counts;
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

/* A clock of the caller's may go back. */
static uint64_t
since(uint64_t now_ns, uint64_t then_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* ---- made and freed ---- */

static int
conditions_init(struct informer_workqueue *q)
{
	pthread_cond_t *conditions[] = {&q->more, &q->keeper_wakes, &q->drained};
	pthread_condattr_t attributes;
	int r = pthread_condattr_init(&attributes);

	if (r != 0)
		return -r;
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	for (unsigned i = 0; i < 3; i++)
		pthread_cond_init(conditions[i], &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&q->lock, NULL);
	return 0;
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
	q->base_delay_ns = o.base_delay_ns ? o.base_delay_ns : DEFAULT_BASE_DELAY_NS;
	q->max_delay_ns = o.max_delay_ns ? o.max_delay_ns : DEFAULT_MAX_DELAY_NS;
	q->last = &q->first;
	token_bucket_init(&q->bucket, o.qps < 0 || o.qps > 0 ? o.qps : DEFAULT_QPS,
			  o.burst ? o.burst : DEFAULT_BURST, now_of(q));
	r = key_table_init(&q->keys, &memory);
	if (r == 0)
		r = conditions_init(q);
	if (r < 0) {
		key_table_done(&q->keys);
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
	struct key_node *node;

	if (!q)
		return;
	memory = q->memory;
	while ((node = key_table_take(&q->keys)))
		allocator_put(&memory, node);
	key_table_done(&q->keys);
	delay_heap_done(&q->delays, &memory);
	pthread_cond_destroy(&q->more);
	pthread_cond_destroy(&q->keeper_wakes);
	pthread_cond_destroy(&q->drained);
	pthread_mutex_destroy(&q->lock);
	allocator_put(&memory, q);
}

/* ---- entries; all with the lock held ---- */

static struct entry *
entry_of_node(struct key_node *node)
{
	return (struct entry *)(void *)node;
}

static struct entry *
entry_of_delayed(struct delayed *d)
{
	return (struct entry *)(void *)((char *)d - offsetof(struct entry, delayed));
}

static struct entry *
entry_find(struct informer_workqueue *q, const char *key, size_t length)
{
	struct key_node *node = key_table_find(&q->keys, key_table_hash(&q->keys, key, length), key, length);

	return node ? entry_of_node(node) : NULL;
}

static struct entry *
entry_find_or_make(struct informer_workqueue *q, const char *key, size_t length)
{
	uint64_t hash = key_table_hash(&q->keys, key, length);
	struct key_node *node = key_table_find(&q->keys, hash, key, length);
	struct entry *e;

	if (node)
		return entry_of_node(node);
	e = allocator_get(&q->memory, sizeof(*e) + length + 1);
	if (!e)
		return NULL;
	if (length > 0)
		memcpy(e->key, key, length);
	key_table_insert(&q->keys, &e->node, hash, e->key, length);
	return e;
}

/* Free an entry of which nothing is to be remembered. */
static void
entry_drop_if_idle(struct informer_workqueue *q, struct entry *e)
{
	if (e->dirty || e->processing || e->delayed.at || e->failures)
		return;
	key_table_remove(&q->keys, &e->node);
	allocator_put(&q->memory, e);
}

static void
wake_one(struct informer_workqueue *q)
{
	if (q->sleepers > 0)
		pthread_cond_signal(&q->more);
	else if (q->keeper)
		pthread_cond_signal(&q->keeper_wakes);
}

static void
line_up(struct informer_workqueue *q, struct entry *e)
{
	e->next = NULL;
	*q->last = e;
	q->last = &e->next;
	q->length++;
	wake_one(q);
}

static void
make_dirty(struct informer_workqueue *q, struct entry *e, uint64_t now_ns)
{
	if (e->dirty)
		return;
	e->dirty = true;
	e->dirty_ns = now_ns;
	q->dirty++;
	q->counts.adds++;
	if (!e->processing)
		line_up(q, e);
}

/* Delayed keys that are ready come into the line, at the time at which they were ready. */
static uint64_t
look_at_the_clock(struct informer_workqueue *q)
{
	uint64_t now_ns = now_of(q);
	struct delayed *d;

	while ((d = delay_heap_top(&q->delays)) && d->ready_ns <= now_ns) {
		delay_heap_pop(&q->delays);
		make_dirty(q, entry_of_delayed(d), d->ready_ns);
	}
	return now_ns;
}

/*
 * Whoever goes, or adds a key that is ready before all others, sees that somebody sleeps for the right
 * time.
 */
static void
wake_keeper(struct informer_workqueue *q)
{
	if (q->clock || !delay_heap_top(&q->delays))
		return;
	if (q->keeper)
		pthread_cond_signal(&q->keeper_wakes);
	else if (q->sleepers > 0)
		pthread_cond_signal(&q->more);
}

/* ---- adding ---- */

static bool
key_is_bad(const struct informer_workqueue *q, const char *key, size_t length)
{
	return !q || (!key && length > 0) || length > KEY_MAX_BYTES;
}

int
informer_workqueue_add(struct informer_workqueue *q, const char *key, size_t length)
{
	struct entry *e = NULL;
	int r = 0;

	if (key_is_bad(q, key, length))
		return -EINVAL;
	pthread_mutex_lock(&q->lock);
	if (q->shutting_down) {
		r = -ESHUTDOWN;
	} else {
		uint64_t now_ns = look_at_the_clock(q);

		e = entry_find_or_make(q, key, length);
		if (e)
			make_dirty(q, e, now_ns);
		else
			r = -ENOMEM;
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

static void
delay(struct informer_workqueue *q, struct entry *e, uint64_t now_ns, uint64_t delay_ns)
{
	uint64_t ready_ns = later(now_ns, delay_ns);

	q->counts.retries++;
	if (delay_ns == 0) {
		make_dirty(q, e, now_ns);
		return;
	}
	if (e->delayed.at && e->delayed.ready_ns <= ready_ns)
		return;
	if (e->delayed.at) {
		delay_heap_advance(&q->delays, &e->delayed, ready_ns);
	} else {
		e->delayed.ready_ns = ready_ns;
		delay_heap_push(&q->delays, &e->delayed);
	}
	if (delay_heap_top(&q->delays) == &e->delayed)
		wake_keeper(q);
}

static int
add_later(struct informer_workqueue *q, const char *key, size_t length, bool rate_limited, uint64_t delay_ns)
{
	struct entry *e;
	uint64_t now_ns;
	int r = 0;

	if (key_is_bad(q, key, length))
		return -EINVAL;
	pthread_mutex_lock(&q->lock);
	if (q->shutting_down) {
		r = -ESHUTDOWN;
		goto out;
	}
	now_ns = look_at_the_clock(q);
	r = delay_heap_reserve(&q->delays, &q->memory);
	if (r < 0)
		goto out;
	e = entry_find_or_make(q, key, length);
	if (!e) {
		r = -ENOMEM;
		goto out;
	}
	if (rate_limited) {
		uint64_t own = backoff_delay(q->base_delay_ns, q->max_delay_ns, e->failures);
		uint64_t shared = token_bucket_reserve(&q->bucket, now_ns);

		delay_ns = own > shared ? own : shared;
		if (e->failures < UINT32_MAX)
			e->failures++;
	}
	delay(q, e, now_ns, delay_ns);
out:
	pthread_mutex_unlock(&q->lock);
	return r;
}

int
informer_workqueue_add_after(struct informer_workqueue *q, const char *key, size_t length, uint64_t delay_ns)
{
	return add_later(q, key, length, false, delay_ns);
}

int
informer_workqueue_add_rate_limited(struct informer_workqueue *q, const char *key, size_t length)
{
	return add_later(q, key, length, true, 0);
}

void
informer_workqueue_forget(struct informer_workqueue *q, const char *key, size_t length)
{
	struct entry *e;

	if (key_is_bad(q, key, length))
		return;
	pthread_mutex_lock(&q->lock);
	e = entry_find(q, key, length);
	if (e) {
		e->failures = 0;
		entry_drop_if_idle(q, e);
	}
	pthread_mutex_unlock(&q->lock);
}

uint32_t
informer_workqueue_num_requeues(struct informer_workqueue *q, const char *key, size_t length)
{
	struct entry *e;
	uint32_t n;

	if (key_is_bad(q, key, length))
		return 0;
	pthread_mutex_lock(&q->lock);
	e = entry_find(q, key, length);
	n = e ? e->failures : 0;
	pthread_mutex_unlock(&q->lock);
	return n;
}

/* ---- working ---- */

static void
sleep_until(struct informer_workqueue *q, pthread_cond_t *condition, uint64_t until_ns)
{
	struct timespec t = {.tv_sec = (time_t)(until_ns / 1000000000u),
			     .tv_nsec = (long)(until_ns % 1000000000u)};

	if (until_ns == NEVER)
		pthread_cond_wait(condition, &q->lock);
	else
		pthread_cond_timedwait(condition, &q->lock, &t);
}

/* Sleep, as the keeper where there is something to keep and nobody who does. */
static void
sleep_for_more(struct informer_workqueue *q, uint64_t until_ns)
{
	const struct delayed *d = delay_heap_top(&q->delays);

	if (d && !q->clock && !q->keeper) {
		q->keeper = true;
		sleep_until(q, &q->keeper_wakes, d->ready_ns < until_ns ? d->ready_ns : until_ns);
		q->keeper = false;
	} else {
		q->sleepers++;
		sleep_until(q, &q->more, until_ns);
		q->sleepers--;
	}
}

static uint64_t
until_of(int timeout_ms)
{
	return timeout_ms < 0 ? NEVER : time_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000u;
}

static void
hand_out(struct informer_workqueue *q, uint64_t now_ns, struct informer_work_item *ret_item)
{
	struct entry *e = q->first;

	q->first = e->next;
	if (!q->first)
		q->last = &q->first;
	q->length--;
	q->dirty--;
	e->dirty = false;
	e->processing = true;
	e->started_ns = now_ns;
	e->busy_previous = NULL;
	e->busy_next = q->busy;
	if (q->busy)
		q->busy->busy_previous = e;
	q->busy = e;
	histogram_observe(&q->counts.queue, since(now_ns, e->dirty_ns));
	*ret_item = (struct informer_work_item){e->key, e->node.length, e};
}

/* 0 with an item; -EAGAIN: none yet. */
static int
try_get(struct informer_workqueue *q, uint64_t until_ns, struct informer_work_item *ret_item)
{
	uint64_t now_ns = look_at_the_clock(q);

	if (q->first) {
		hand_out(q, now_ns, ret_item);
		return 0;
	}
	if (q->shutting_down)
		return -ESHUTDOWN;
	return until_ns != NEVER && time_ns(CLOCK_MONOTONIC) >= until_ns ? -ETIMEDOUT : -EAGAIN;
}

int
informer_workqueue_get(struct informer_workqueue *q, int timeout_ms, struct informer_work_item *ret_item)
{
	uint64_t until_ns;
	int r;

	if (!q || !ret_item)
		return -EINVAL;
	until_ns = until_of(timeout_ms);
	pthread_mutex_lock(&q->lock);
	while ((r = try_get(q, until_ns, ret_item)) == -EAGAIN)
		sleep_for_more(q, until_ns);
	/*
	 * Hand on what we were woken for, or may have been: an add finds a sleeper that is on its way
	 * already, signals it once more, and that one takes one key only.
	 */
	if (q->first)
		wake_one(q);
	else if (!q->keeper)
		wake_keeper(q);
	pthread_mutex_unlock(&q->lock);
	return r;
}

void
informer_workqueue_done(struct informer_workqueue *q, struct informer_work_item *item)
{
	struct entry *e;

	if (!q || !item || !item->private_)
		return;
	e = item->private_;
	*item = (struct informer_work_item){0};
	pthread_mutex_lock(&q->lock);
	histogram_observe(&q->counts.work, since(look_at_the_clock(q), e->started_ns));
	if (e->busy_next)
		e->busy_next->busy_previous = e->busy_previous;
	if (e->busy_previous)
		e->busy_previous->busy_next = e->busy_next;
	else
		q->busy = e->busy_next;
	e->processing = false;
	if (e->dirty)
		line_up(q, e);
	entry_drop_if_idle(q, e);
	if (q->dirty == 0 && !q->busy)
		pthread_cond_broadcast(&q->drained);
	pthread_mutex_unlock(&q->lock);
}

size_t
informer_workqueue_length(struct informer_workqueue *q)
{
	size_t n;

	if (!q)
		return 0;
	pthread_mutex_lock(&q->lock);
	look_at_the_clock(q);
	n = q->length;
	pthread_mutex_unlock(&q->lock);
	return n;
}

void
informer_workqueue_kick(struct informer_workqueue *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	look_at_the_clock(q);
	pthread_mutex_unlock(&q->lock);
}

/* ---- shutting down ---- */

static void
shut_down(struct informer_workqueue *q, bool drain)
{
	struct delayed *d;

	/* what was ready before the shut down was added before it */
	look_at_the_clock(q);
	q->shutting_down = true;
	q->draining = drain;
	while ((d = delay_heap_top(&q->delays))) {
		delay_heap_pop(&q->delays);
		entry_drop_if_idle(q, entry_of_delayed(d));
	}
	pthread_cond_broadcast(&q->more);
	pthread_cond_broadcast(&q->keeper_wakes);
	pthread_cond_broadcast(&q->drained);
}

void
informer_workqueue_shut_down(struct informer_workqueue *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	shut_down(q, false);
	pthread_mutex_unlock(&q->lock);
}

int
informer_workqueue_shut_down_with_drain(struct informer_workqueue *q, int timeout_ms)
{
	uint64_t until_ns;
	int r = 0;

	if (!q)
		return -EINVAL;
	until_ns = until_of(timeout_ms);
	pthread_mutex_lock(&q->lock);
	shut_down(q, true);
	while ((q->dirty > 0 || q->busy) && r == 0) {
		if (!q->draining)
			r = -ECANCELED;
		else if (until_ns != NEVER && time_ns(CLOCK_MONOTONIC) >= until_ns)
			r = -ETIMEDOUT;
		else
			sleep_until(q, &q->drained, until_ns);
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

bool
informer_workqueue_is_shutting_down(struct informer_workqueue *q)
{
	bool is;

	if (!q)
		return true;
	pthread_mutex_lock(&q->lock);
	is = q->shutting_down;
	pthread_mutex_unlock(&q->lock);
	return is;
}

int
informer_workqueue_metrics(struct informer_workqueue *q, struct informer_workqueue_metrics *metrics)
{
	struct informer_workqueue_metrics m = {0};
	uint64_t now_ns;

	if (!q || !metrics || metrics->size < sizeof(metrics->size))
		return -EINVAL;
	pthread_mutex_lock(&q->lock);
	now_ns = look_at_the_clock(q);
	m.size = metrics->size;
	m.depth = q->dirty;
	m.adds = q->counts.adds;
	m.retries = q->counts.retries;
	histogram_read(&q->counts.queue, &m.queue_count, &m.queue_sum_ns, m.queue_buckets);
	histogram_read(&q->counts.work, &m.work_count, &m.work_sum_ns, m.work_buckets);
	for (const struct entry *e = q->busy; e; e = e->busy_next) {
		uint64_t ns = since(now_ns, e->started_ns);

		m.unfinished_ns += ns;
		m.longest_running_ns = ns > m.longest_running_ns ? ns : m.longest_running_ns;
	}
	pthread_mutex_unlock(&q->lock);
	memcpy(metrics, &m, m.size < sizeof(m) ? m.size : sizeof(m));
	return 0;
}
