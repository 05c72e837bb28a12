/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fan-out puts each committed change into the queues that subscribe to it, and closes queues that exceed a
 * limit.
 *
 *	store ──events──▶ fan_out ──entries──▶ queue, queue, … ──▶ readers
 *	  ▲                  │
 *	  └──── lowest ──────┘	what unread entries refer to stays in the arena
 *
 * A subscription is a resource and one namespace or all. A change costs nothing for subscriptions of other
 * resources, and one comparison of two numbers for other namespaces.
 *
 * A queue overflows when it is full, holds more than its limit of bytes, or has an entry unread for longer
 * than its age limit. An overflow wakes no reader: a reader with unread entries has been woken for them.
 *
 * Of a resource's queues, the one that has read least holds most. So only that queue's bytes are checked.
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
 * entries      default capacity of a queue
 * max_entries  largest capacity of a queue
 * bytes        limit of what one queue may hold back in the arena
 * age_ns       limit of the time that an entry may stay unread
 */
struct fan_out_limits {
	uint32_t entries;
	uint32_t max_entries;
	uint64_t bytes;
	uint64_t age_ns;
};
#define FAN_OUT_LIMITS                                                                                       \
	((struct fan_out_limits){QUEUE_ENTRIES_DEFAULT, QUEUE_ENTRIES_MAX, 32u << 20, 60ull * 1000000000u})

/* store is borrowed. Sets the store's on_events and hold_for. Returns 0 or -ENOMEM. */
int fan_out_new(struct store *store, struct fan_out_limits limits, struct fan_out **ret_fan_out);
/* For tests: change the limits. Existing queues keep their capacity. */
void fan_out_set_limits(struct fan_out *f, struct fan_out_limits limits);
/* All subscriptions must have ended. */
void fan_out_free(struct fan_out *f);

/*
 * resource     "pods", "deployments.apps"; the store need not have it yet. Several entries of one resource:
 *              all
 * entries      as fan_out_entries() says, or fewer
 * cursor       the reader's cursor for this queue, in its slot
 * on_due       called within a commit that gave the queue entries
 * on_overflow  called when the queue overflows, once until it reopens; may be NULL
 * ret_base     the queue has every change with a greater seq
 * ret_fd       the queue's file, read-only; the caller closes it
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
/* take_back: as for ring_out_free(). */
void fan_out_unsubscribe(struct subscriber *s, bool take_back);
/* Push nothing more into the queue until it is unsubscribed. May be called during a change or a commit. */
void fan_out_mute(struct subscriber *s);
/* The capacity of a queue for which `wanted` entries are asked; 0: the default. */
uint32_t fan_out_entries(const struct fan_out *f, uint32_t wanted);

/*
 * Called once a second: overflow queues over their age limit, and release what no queue refers to any more.
 */
void fan_out_tick(struct fan_out *f, uint64_t now_boot_ns);

/* Overflows of all queues of this resource ("deployments.apps") since the start, ended queues included. */
uint64_t fan_out_overflows(const struct fan_out *f, const char *resource);

/* The result is lent. */
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
