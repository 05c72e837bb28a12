/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a workqueue and their states: dirty (to be processed), processing, delayed, or remembered for
 * failures.
 *
 * A key has one entry while it is in any of these states. A dirty key stands in the line, unless it is being
 * processed: then it enters the line when that is done. So no two workers ever have the same key.
 *
 *	        add                    take                      done
 *	(none) ─────▶ dirty, in line ──────▶ processing ───────────────────────▶ (none)
 *	                   ▲                     │ add
 *	                   │        done         ▼
 *	                   └────────────── processing, dirty
 *
 * These functions do not lock, sleep or read a clock: the workqueue does (workqueue.c).
 */
#ifndef READER_LIB_WORKQUEUE_WORK_KEYS_H
#define READER_LIB_WORKQUEUE_WORK_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "reader-lib/base/delay_heap.h"
#include "reader-lib/base/key_table.h"
#include "reader-lib/informer-workqueue.h"
#include "reader-lib/workqueue/work_line.h"

/* Durations, in buckets of powers of ten from 10 ns on. Buckets are not cumulative. */
struct histogram {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t buckets[INFORMER_WORKQUEUE_BUCKETS];
};

/*
 * Counters, for the same events as in client-go's util/workqueue/metrics.go.
 *
 * adds     keys that became dirty
 * retries  calls with a delay or a rate limit
 * queue    time from becoming dirty (a delayed key: from being ready) to being handed out
 * work     time from being handed out to done
 */
struct workqueue_counts {
	uint64_t adds;
	uint64_t retries;
	struct histogram queue;
	struct histogram work;
};

/*
 * line              place in the line, or in `busy`; holds the key's priority
 * delayed_priority  priority that the key gets when its delay is over
 */
struct work_key {
	struct key_node node;
	struct delayed delayed;		/* in the workqueue's heap */
	struct in_line line;
	uint64_t dirty_ns;
	uint64_t started_ns;
	uint32_t failures;
	int8_t delayed_priority;
	bool dirty;
	bool processing;
	char key[];
};

/*
 * dirty  number of keys in the line, and of keys that enter it when they are done
 * busy   keys that are being processed
 */
struct work_keys {
	struct allocator memory;
	struct key_table table;
	struct work_line line;
	size_t dirty;
	struct lane busy;
	struct workqueue_counts counts;
};

/* Returns 0 or -ENOMEM. The caller has called sodium_init(). */
int work_keys_init(struct work_keys *keys, const struct allocator *memory);
/* Free all entries. */
void work_keys_done(struct work_keys *keys);

/* NULL: there is no entry. */
struct work_key *work_keys_find(struct work_keys *keys, const char *key, size_t length);
/* The key's entry, made if missing; NULL: no memory. */
struct work_key *work_keys_get(struct work_keys *keys, const char *key, size_t length);
/* Free the entry if the key is in none of the states. */
void work_keys_drop_if_idle(struct work_keys *keys, struct work_key *k);

static inline struct work_key *
work_key_of_line(struct in_line *node)
{
	return (struct work_key *)(void *)((char *)node - offsetof(struct work_key, line));
}

static inline struct work_key *
work_key_of_delayed(struct delayed *d)
{
	return (struct work_key *)(void *)((char *)d - offsetof(struct work_key, delayed));
}

/*
 * Make a key dirty since now_ns, with this priority or its present one if higher. Returns whether the key
 * entered the line.
 */
bool work_keys_make_dirty(struct work_keys *keys, struct work_key *k, int8_t priority, uint64_t now_ns);
/* Take the first key of the line for processing; NULL: the line is empty. */
struct work_key *work_keys_take(struct work_keys *keys, uint64_t now_ns);
/* The key was processed. Returns whether it entered the line again. */
bool work_keys_finish(struct work_keys *keys, struct work_key *k, uint64_t now_ns);

/* Copy the counters into the public struct, except its size. */
void work_keys_metrics(const struct work_keys *keys, uint64_t now_ns,
		       struct informer_workqueue_metrics *ret_metrics);

/* Nanoseconds from then to now; 0 if the caller's clock went back. */
static inline uint64_t
since(uint64_t now_ns, uint64_t then_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

#endif
