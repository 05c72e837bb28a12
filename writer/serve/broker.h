/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker serves readers: it admits them, hands out descriptors and queues, and wakes them.
 *
 * It listens on a SOCK_SEQPACKET Unix socket (shm-layout/protocol.h) and admits a peer by its credentials. A
 * reader gets the arena read-only, a slot, an eventfd, and a queue for each subscription. The broker wakes a
 * sleeping reader after a commit, or when one of its queues has new entries. A reader is gone when its
 * connection or its process ends.
 *
 * Invariant: no client can make the loop wait, or make memory grow without bound.
 *
 * Threads: the writer's loop thread only; it also calls broker_new().
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

/* What the broker serves. All of it is borrowed until broker_free(). */
struct broker_source {
	const struct arena *arena;
	struct pins *pins;
	struct fan_out *fan_out;
	struct consumers *consumers;
};

/*
 * socket_path   the socket's file, open to all users: admission is by credentials. A stale file is replaced,
 *               so the caller holds the lock (lock.h)
 * allow_uids    users who may attach, besides root and the daemon's own user
 * allow_gids    groups whose members may attach; supplementary groups count
 * max_readers   limit of attached readers; 0: 256. An eighth is kept for root and the daemon's own user. Any
 *               other user may have at most as many as remain free for others
 * queue_memory  limit in bytes of all queues, divided by the same rule; 0: BROKER_QUEUE_MEMORY. The memory
 *               cgroup may lower it (broker_room.c)
 * barred_ms     how long the process of a revoked reader is refused; 0: 5,000. After a refusal for wake-ups
 *               it is the least time for which the whole user is refused
 * listener      a listening socket with that file, from a predecessor (broker_pass_on()). The broker takes it
 *               over, also on failure; 0: the broker makes one
 * wanted        called when a reader looks at this resource or subscribes to it: "pods", "deployments.apps";
 *               not terminated. May be NULL
 * report        returns the answer to STAT, a malloc'ed JSON text, or NULL
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
 * Listen. What the options point at is borrowed until broker_free() has closed everything.
 * Returns 0; -ENAMETOOLONG; -EEXIST: the path is a file that is no socket; other negative errno, with message
 */
int broker_new(uv_loop_t *loop, const struct broker_options *options, struct broker **ret_broker,
	       char **ret_error);

/*
 * Close all connections, and remove the socket's file if it is still ours. The loop must run on to close the
 * handles; then the broker is freed. NULL is fine.
 */
void broker_free(struct broker *broker);

/*
 * Give the listening socket to a successor. broker_free() then leaves the socket's file. Connections that are
 * not accepted yet wait for the successor.
 * Returns a descriptor of the socket, which the caller owns; or negative errno, and nothing changed
 */
int broker_pass_on(struct broker *broker);

/*
 * Hang up on the reader of this slot, after store_revoke(). `why` goes to the log and to the reader. The
 * reader's process is refused while it keeps the slot, and for barred_ms. May be called during a change or a
 * commit.
 */
void broker_revoke(struct broker *broker, unsigned slot, const char *why);

/*
 * Wake the readers that wait for a commit, and those that wait for a queue that got entries. Cheap when no
 * reader sleeps. The arguments are those of store_on_commit()'s function.
 */
void broker_wake(void *broker, uint64_t epoch);

/*
 * The attached readers, for the report. NULL: no memory.
 *
 *	[{"pid", "uid", "name", "generation", "pins", "oldest_epoch", "oldest_age_ns", "lag_epochs",
 *	  "dropped": we hung up, and the reader still reads, "revoked": its snapshot is not kept any more,
 *	  "queues": [{"number", "resource", "namespace", "name", "consumer", "capacity", "unread",
 *	              "held_bytes", "overflows", "open"}]}]
 */
cJSON *broker_readers_json(struct broker *broker);

struct broker_stats {
	unsigned readers;	/* attached, or dropped and still reading */
	uint64_t attached;      /* since the start, as all below unless noted */
	uint64_t refused;
	uint64_t denied;        /* of `refused`: connections of users who may not attach */
	uint64_t dropped;       /* for misbehaviour or a missed deadline */
	uint64_t revoked;       /* for memory that their snapshots held */
	uint64_t wakes_refused; /* readers refused because a wake-up was slow or blocked */
	uint64_t wakeups;	/* eventfds written */
	unsigned pending;       /* now: connections that have not attached */
	uint64_t queues_refused; /* refused for lack of memory */
	uint64_t queue_bytes;    /* now: cost of all queues, and its limit */
	uint64_t queue_limit;
};
void broker_stats(const struct broker *broker, struct broker_stats *ret);

#endif
