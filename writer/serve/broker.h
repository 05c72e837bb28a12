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
 * Threads: the writer's loop thread only. Where eventfds have to be written, one task at a time does that on
 * libuv's thread pool (broker_wake.c).
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

/*
 * What is served at the moment. All is borrowed until the next call of the source function that says
 * otherwise, and broker_announce().
 * arena      NULL: nothing yet; readers are told REFUSED_BUSY and come again
 * fan_out, consumers  of the same store; NULL: there are no queues
 */
struct broker_source {
	const struct arena *arena;
	struct pins *pins;
	uint64_t epoch;
	struct fan_out *fan_out;
	struct consumers *consumers;
};

/*
 * socket_path   the file; a stale one is replaced, so the caller holds the lock (lock.h)
 * mode          of the socket's file; 0: 0666 (admission is by credentials)
 * allow_uids    who may attach besides root and the daemon's own user; allow_gids: of which groups,
 *               supplementary ones too
 * max_readers   attached at once; 0: 256
 * max_per_uid   of these for one user (root and the daemon's own excepted); 0: half of max_readers
 * wake_by_writing  as where the kernel does not signal eventfds for us (broker_wake.c): for tests
 * source        what is served; called when it is needed
 * wanted        a reader looks at this resource, or subscribes to it: "pods", "deployments.apps"; not
 *               terminated. May be NULL
 * report        the answer to STAT, a malloc'ed JSON text, or NULL
 */
struct broker_options {
	const char *socket_path;
	mode_t mode;
	const uid_t *allow_uids;
	size_t n_allow_uids;
	const gid_t *allow_gids;
	size_t n_allow_gids;
	unsigned max_readers;
	unsigned max_per_uid;
	bool wake_by_writing;
	void (*source)(void *context, struct broker_source *ret_source);
	void (*wanted)(void *context, const char *resource, size_t length);
	char *(*report)(void *context);
	void *context;
};

/*
 * Listen. The options are copied.
 * Returns  0; -ENAMETOOLONG, -EEXIST (something that is no socket stands there), other negative errno, with
 *          message
 */
int broker_new(uv_loop_t *loop, const struct broker_options *options, struct broker **ret_broker,
	       char **ret_error);

/*
 * Stop: closes all connections, and removes the socket's file if it is still ours. Handles are closed by the
 * loop, so it has to run on until `done` (may be NULL) is called; the broker is freed then. NULL is fine.
 */
void broker_free(struct broker *broker, void (*done)(void *context), void *context);

/*
 * Who may attach from now on, besides root and the daemon's own user; who is attached stays. Copied. 0,
 * -ENOMEM: as it was.
 */
int broker_set_access(struct broker *broker, const uid_t *uids, size_t n_uids, const gid_t *gids,
		      size_t n_gids);

/*
 * There was a commit: wake the readers that wait for one, and those that wait for their queues and were given
 * something. Cheap when nobody sleeps. Fits store_on_commit() by its argument order.
 */
void broker_wake(void *broker, uint64_t epoch);

/*
 * Another arena is served from now on (the source function says which): every attached reader gets it, with a
 * new slot, and subscribes again by itself. Its old slot is given back to the old slots, its queues to the
 * old fan-out, which have to live until this returned.
 */
void broker_announce(struct broker *broker);

/*
 * The attached readers for the report; NULL without memory:
 *
 *	[{"pid", "uid", "name", "generation", "pins", "oldest_epoch", "oldest_age_ns", "lag_epochs",
 *	  "dropped": we hung up on it and it still reads,
 *	  "queues": [{"number", "resource", "namespace", "name", "consumer", "capacity", "unread",
 *	              "held_bytes", "overflows", "open"}]}]
 */
cJSON *broker_readers_json(struct broker *broker);

struct broker_stats {
	unsigned readers;	/* attached, or dropped and still reading */
	uint64_t attached;	/* so far */
	uint64_t refused;
	uint64_t dropped;	/* for what they did, or did not do */
	uint64_t wakeups;	/* eventfds written */
};
void broker_stats(const struct broker *broker, struct broker_stats *ret);

#endif
