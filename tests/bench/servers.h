/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API servers with the bench's pods, informerd before them, and many agents: readers of informerd with a
 * handler, or informers of client-go. A failure ends the measurement.
 */
#ifndef TESTS_BENCH_SERVERS_H
#define TESTS_BENCH_SERVERS_H

#include "tests/bench/processes.h"

/* ---- servers ---- */

/* directory: of upstream's server: etcd's files and certificates */
struct server {
	struct process process;
	size_t pods;
	char url[128], kubeconfig[128], directory[96];
};

/* informer-sim with at least so many of the bench's pods. */
struct server sim_start(const struct bench *b, size_t pods);
/* The server of client-go's program: every object's bytes are ready, in JSON and protobuf. */
struct server go_server_start(const struct bench *b, size_t pods);
/*
 * Upstream's API server (tests/apiserver) with at least so many pods, over TLS, as in a cluster; plain: over
 * HTTP, with its pods on 5,000 nodes.
 */
struct server upstream_start(const struct bench *b, size_t pods, bool plain);
/* An informer-gateway before it, ready to serve what a daemon caches. */
struct daemon;
struct server gateway_start(const struct bench *b, const struct daemon *d, const struct server *upstream);
void server_end(struct server *s);

/* The body of GET (POST), whole and terminated (the caller's to free). */
char *server_get(const struct server *s, bool post, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Have n changes made at so many a second; 0: as fast as the slowest watcher takes them. client-go's server
 * answers when they are made, upstream's when they begin. create: of upstream's, new pods default/CREATE-0,
 * -1 and so on; "": updates.
 */
void server_change(const struct server *s, unsigned rate, size_t n, const char *create);

/*
 * The server's cost so far: requests (of client-go's server), CPU (of upstream's, once it is idle, garbage
 * collection included) and bytes sent on all connections.
 */
struct server_cost {
	double requests, cpu_us, bytes;
};
struct server_cost server_cost(const struct server *s);

/* ---- informerd ---- */

struct daemon {
	struct process process;
	char socket[96], log[96], name[24];
};

/* name: of socket, arena and log. wire NULL: as the bench was told. flag: one more, or "". */
struct daemon daemon_start(const struct bench *b, const char *name, const struct server *s, const char *wire,
			   const char *flag);
/* Wait until a reader sees so many pods. */
void daemon_wait_pods(const struct daemon *d, size_t pods);
/* Bytes of its arena's existing files, of all generations. */
double daemon_arena_bytes(const struct bench *b, const struct daemon *d, bool remove_them);
/* End it and remove its arena. */
void daemon_end(const struct bench *b, struct daemon *d);

/* ---- agents ---- */

/*
 * client-go's informer streams its first list, which is its default, or asks for a LIST. GO_AGENT: informers
 * of reader-lib/go/clientgo, which read what informerd has. GO_WATCH: loops over watches of Go's reader.
 */
enum side { OURS, STREAM, LIST, JSON_LIST, JSON_STREAM, GO_AGENT, GO_WATCH, SIDES };
extern const char *const side_names[SIDES];

/* A process with `count` handles of a handler each, all of them synced. ns NULL: all namespaces. */
struct process handler_spawn(const struct bench *b, const char *socket, const char *ns, unsigned count);
/* Wait until it has synced. Returns how many pods the first handler has. */
double handler_ready(struct process *p);
/* A process with an informer that has synced; it ends the measurement if it has not all the server's pods. */
struct process go_informer_start(const struct bench *b, const struct server *s, enum side side);

/* A process of GO_AGENT or GO_WATCH that has synced, as go_informer_start(). */
struct process go_agent_start(const struct bench *b, const struct daemon *d, enum side side, size_t pods);

/* Rounds measured within one process, on n pods: the heap's bytes a pod. d: of Go's reader, too; or NULL. */
struct process go_rounds_start(const struct bench *b, size_t n, const struct daemon *d, double *ret_heap);

/*
 * Events since agent_begin(); times from made to handler entered, and from commit to it (handlers only), in
 * µs. last_us: CLOCK_REALTIME of the last one. overflows: how often COALESCED or RESYNC came.
 */
struct told {
	double count, p50, p99, last_us, commit_p50, commit_p99, overflows;
};
void agent_begin(struct process *p);
/* Wait until n updates came, or the time is up. */
struct told agent_await(struct process *p, enum side side, size_t n, unsigned seconds);

#define AGENTS_MAX 8u

/* `count` agents that have all pods: informerd and so many readers with a handler, or so many informers. */
struct crowd {
	const struct bench *b;
	const struct server *server;
	enum side side;
	unsigned count;
	struct daemon daemon;
	struct process agents[AGENTS_MAX];
	double wall_ms, cpu_ms; /* from nothing until the first had all pods; of informerd, or of it */
};

/* Start them, one after another. informerd alone may have no agent. */
void crowd_start(struct crowd *c, const struct bench *b, const struct server *s, enum side side,
		 unsigned count);
void crowd_end(struct crowd *c);
/* Have n changes made; wait until each agent got each, or some were lost. Returns the first one's events. */
struct told crowd_changes(struct crowd *c, unsigned rate, size_t n, const char *create);

#endif
