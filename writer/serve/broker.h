/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker: who may read, and what each reader is given.
 *
 * It serves a SOCK_SEQPACKET Unix socket (shm-layout/protocol.h), admits by the peer's credentials, hands out
 * the arena read-only, a slot, an eventfd, and queues for what it subscribes to; notices when a reader is
 * gone (its connection or its process, whichever tells), and wakes the readers that sleep when there is a
 * commit, or something in one of their queues. Nothing that a client does makes the loop wait or memory grow
 * without bound.
 *
 * Threads: the writer's loop thread only, which also calls broker_new().
 */
#ifndef WRITER_SERVE_BROKER_H
#define WRITER_SERVE_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cjson/cJSON.h>
#include <uv.h>

#include "writer/arena/arena.h"
#include "writer/arena/pins.h"

struct broker;
struct fan_out;
struct consumers;

#define BROKER_QUEUE_MEMORY (64ull << 20)

/* What is served: an arena, its readers' slots, and what its store tells. Borrowed until broker_free(). */
struct broker_source {
	const struct arena *arena;
	struct pins *pins;
	struct fan_out *fan_out;
	struct consumers *consumers;
};

/*
 * socket_path   the file, open to all (admission is by credentials); a stale one is replaced, so the caller
 *               holds the lock (lock.h)
 * allow_uids    who may attach besides root and the daemon's own user; allow_gids: of which groups,
 *               supplementary ones too
 * max_readers   attached at once; 0: 256. An eighth is kept for root and the daemon's own user; nobody else
 *               may have more of them than are free for others
 * queue_memory  bytes for all the queues, shared in the same way; 0: BROKER_QUEUE_MEMORY. A memory control
 *               group may leave less (broker_room.c)
 * barred_ms     for how long the process of a reader that was revoked is not let in again, and nobody of the
 *               user of one that was refused for its wake-ups (at least); 0: 5,000
 * listener      a listening socket with that file, from a predecessor (broker_pass_on()): it is served on,
 *               and belongs to the broker in any case; 0: a new one is made
 * wanted        a reader looks at this resource, or subscribes to it: "pods", "deployments.apps"; not
 *               terminated. May be NULL
 * report        the answer to STAT, a malloc'ed JSON text, or NULL
 */
struct broker_options {
	const char *socket_path;
	const uid_t *allow_uids;
	size_t n_allow_uids;
	const gid_t *allow_gids;
	size_t n_allow_gids;
	unsigned max_readers;
	uint64_t queue_memory;
	uint64_t barred_ms;
	int listener;
	struct broker_source source;
	void (*wanted)(void *context, const char *resource, size_t length);
	char *(*report)(void *context);
	void *context;
};

/*
 * Listen. What the options point at is borrowed until broker_free() has closed all.
 * Returns  0; -ENAMETOOLONG, -EEXIST (something that is no socket stands there), other negative errno, with
 *          message
 */
int broker_new(uv_loop_t *loop, const struct broker_options *options, struct broker **ret_broker,
	       char **ret_error);

/*
 * Stop: closes all connections, and removes the socket's file if it is still ours. Handles are closed by the
 * loop, which has to run on; the broker is freed then. NULL is fine.
 */
void broker_free(struct broker *broker);

/*
 * The listening socket is another's from now on: broker_free() leaves its file. The connections that nobody
 * has accepted yet wait for that one.
 * Returns a descriptor of it, the caller's; or negative errno, and all is as it was
 */
int broker_pass_on(struct broker *broker);

/*
 * The reader of this slot was revoked (store_revoke()), because of `why`, which goes to the log and to the
 * reader: it is hung up on, and its process is not let in again while it has the slot, nor for some seconds;
 * it is told so and comes again by itself. May be called amid a change or a commit.
 */
void broker_revoke(struct broker *broker, unsigned slot, const char *why);

/*
 * There was a commit: wake the readers that wait for one, and those that wait for their queues and were given
 * something. Cheap when nobody sleeps. Fits store_on_commit() by its argument order.
 */
void broker_wake(void *broker, uint64_t epoch);

/*
 * The attached readers for the report; NULL without memory:
 *
 *	[{"pid", "uid", "name", "generation", "pins", "oldest_epoch", "oldest_age_ns", "lag_epochs",
 *	  "dropped": we hung up on it and it still reads, "revoked": what it reads is not kept for it,
 *	  "queues": [{"number", "resource", "namespace", "name", "consumer", "capacity", "unread",
 *	              "held_bytes", "overflows", "open"}]}]
 */
cJSON *broker_readers_json(struct broker *broker);

struct broker_stats {
	unsigned readers;	/* attached, or dropped and still reading */
	uint64_t attached;	/* so far */
	uint64_t refused;
	uint64_t denied;        /* of these: connections of users who may not attach */
	uint64_t dropped;	/* for what they did, or did not do */
	uint64_t revoked;	/* for what they held back */
	uint64_t wakes_refused; /* readers whose wake-ups took too long, or blocked */
	uint64_t wakeups;	/* eventfds written */
	unsigned pending;       /* connections that have not attached */
	uint64_t queues_refused; /* for want of memory */
	uint64_t queue_bytes;    /* what all queues cost, and what they may */
	uint64_t queue_limit;
};
void broker_stats(const struct broker *broker, struct broker_stats *ret);

#endif
