/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a workqueue, and what each one is: dirty (to be processed), processing, delayed, or remembered
 * for its failures. A key has one entry for as long as one of these is so. A dirty key stands in the line,
 * unless it is being processed: then it comes into the line when that is done. So no key is ever with two
 * workers.
 *
 *	        add                    take                      done
 *	(none) ─────▶ dirty, in line ──────▶ processing ───────────────────────▶ (none)
 *	                   ▲                     │ add
 *	                   │        done         ▼
 *	                   └────────────── processing, dirty
 *
 * Nothing here locks, sleeps or asks for the time: the workqueue does (workqueue.c).
 */
#ifndef READER_LIB_WORKQUEUE_WORK_KEYS_H
#define READER_LIB_WORKQUEUE_WORK_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "reader-lib/base/key_table.h"
#include "reader-lib/informer-workqueue.h"
#include "reader-lib/workqueue/delay_heap.h"
#include "reader-lib/workqueue/work_line.h"

/* Durations, in buckets of powers of ten from 10 ns on, each its own: not yet cumulative. */
struct histogram {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t buckets[INFORMER_WORKQUEUE_BUCKETS];
};

/*
 * What is counted: the same events as in client-go's util/workqueue/metrics.go.
 *
 * adds     keys that became dirty
 * retries  calls with a delay or a rate limit
 * queue    from becoming dirty (a delayed one: ready) to being handed out
 * work     from being handed out to done
 */
struct workqueue_counts {
	uint64_t adds;
	uint64_t retries;
	struct histogram queue;
	struct histogram work;
};

/*
 * line              its place in the line, or among the busy; its priority is that of being dirty
 * delayed_priority  that which it will have when its time has come
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
 * dirty  keys in the line, and those that will be when they are done
 * busy   keys that are processed
 */
struct work_keys {
	struct allocator memory;
	struct key_table table;
	struct work_line line;
	size_t dirty;
	struct lane busy;
	struct workqueue_counts counts;
};

/* Returns 0 or -ENOMEM. sodium_init() was called. */
int work_keys_init(struct work_keys *keys, const struct allocator *memory);
/* Free all entries. */
void work_keys_done(struct work_keys *keys);

/* NULL: there is no entry. */
struct work_key *work_keys_find(struct work_keys *keys, const char *key, size_t length);
/* The entry, new if need be; NULL: no memory. */
struct work_key *work_keys_get(struct work_keys *keys, const char *key, size_t length);
/* Free an entry of which nothing is to be remembered. */
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
 * To be processed, since this time, with this priority or the higher one that it has. Returns whether it came
 * into the line.
 */
bool work_keys_make_dirty(struct work_keys *keys, struct work_key *k, int8_t priority, uint64_t now_ns);
/* The first in the line begins to be processed; NULL: the line is empty. */
struct work_key *work_keys_take(struct work_keys *keys, uint64_t now_ns);
/* It was processed. Returns whether it came into the line again. */
bool work_keys_finish(struct work_keys *keys, struct work_key *k, uint64_t now_ns);

/* What was counted, as the public struct has it: all but its size. */
void work_keys_metrics(const struct work_keys *keys, uint64_t now_ns,
		       struct informer_workqueue_metrics *ret_metrics);

/* From then to now; a clock of the caller's may go back. */
static inline uint64_t
since(uint64_t now_ns, uint64_t then_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

#endif
