/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fan-out: which queues get what a commit changed, what they hold back, and when they overflow.
 *
 *	store ──events──▶ fan_out ──entries──▶ queue, queue, … ──▶ readers
 *	  ▲                  │
 *	  └──── lowest ──────┘	what queues still show stays in the arena
 *
 * A subscription is a resource and a namespace (or all); those of other resources cost nothing, those of
 * other namespaces a comparison of two numbers. A queue that is full, holds more than its share of bytes, or
 * has not been read for too long, overflows. That wakes nobody: a reader with unread entries was told of
 * them.
 *
 * Whose queue holds most of a resource is who has read least of it, so the share of bytes is asked of that
 * one alone.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_SERVE_FAN_OUT_H
#define WRITER_SERVE_FAN_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/serve/ring_out.h"
#include "writer/store/store.h"

struct fan_out;
struct subscriber;

/*
 * entries, max_entries  capacity of a queue when none is asked for, and at most
 * bytes                 a queue may hold back in the arena
 * age_ns                an entry may stay unread
 */
struct fan_out_limits {
	uint32_t entries;
	uint32_t max_entries;
	uint64_t bytes;
	uint64_t age_ns;
};
#define FAN_OUT_LIMITS                                                                                       \
	((struct fan_out_limits){QUEUE_ENTRIES_DEFAULT, QUEUE_ENTRIES_MAX, 32u << 20, 60ull * 1000000000u})

/* store is borrowed; its on_events and hold_for are taken over. */
int fan_out_new(struct store *store, struct fan_out_limits limits, struct fan_out **ret_fan_out);
/* For tests: from now on; queues that exist keep their capacity. */
void fan_out_set_limits(struct fan_out *f, struct fan_out_limits limits);
/* All subscriptions must be gone. */
void fan_out_free(struct fan_out *f);

/*
 * resource    "pods", "deployments.apps"; one that the store has not (yet) is fine. Several entries of it:
 *             all
 * entries     as fan_out_entries() says, or fewer
 * cursor      the reader's cursor for this queue, in its slot
 * on_due      called within a commit that gave its reader something to look at
 * on_overflow called when its queue overflowed, once until it reopened; may be NULL
 * ret_base    the queue has everything with a greater seq
 * ret_fd      of the queue, read-only; the caller's to close
 */
struct subscriber_options {
	const char *resource;
	size_t resource_length;
	const char *ns;
	size_t ns_length;
	uint32_t entries;
	struct queue_cursor *cursor;
	void (*on_due)(void *context);
	void (*on_overflow)(void *context, const struct subscriber *s);
	void *context;
};
int fan_out_subscribe(struct fan_out *f, const struct subscriber_options *options,
		      struct subscriber **ret_subscriber, uint64_t *ret_base, int *ret_fd);
/* take_back  as ring_out_free() */
void fan_out_unsubscribe(struct subscriber *s, bool take_back);
/* Push nothing into it any more, until it is unsubscribed. May be called amid a change or a commit. */
void fan_out_mute(struct subscriber *s);
/* The capacity of a queue for which so many entries are asked; 0: the default. */
uint32_t fan_out_entries(const struct fan_out *f, uint32_t wanted);

/* Once a second: overflow what is over its age; release what nobody shows any more. */
void fan_out_tick(struct fan_out *f, uint64_t now_boot_ns);

/*
 * Overflows of all queues of this resource ("deployments.apps") since the start, those that are gone
 * included.
 */
uint64_t fan_out_overflows(const struct fan_out *f, const char *resource);

/* Lent. */
const char *subscriber_resource_name(const struct subscriber *s);

struct subscriber_stats {
	uint64_t unread;
	uint64_t held_bytes;
	uint64_t overflows;
	bool open;
	const char *ns; /* lent */
};
void subscriber_stats(struct subscriber *s, struct subscriber_stats *ret);

#endif
