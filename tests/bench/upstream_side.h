/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks upstream's API server: informerd, or an informer of client-go. One at a time, so that what the
 * server spends meanwhile is spent for it.
 */
#ifndef TESTS_BENCH_UPSTREAM_SIDE_H
#define TESTS_BENCH_UPSTREAM_SIDE_H

#include "tests/bench/daemon_side.h"
#include "tests/bench/upstream.h"

#define AGENTS_MAX 8u

/* client-go's informer streams its first list, which is its default, or asks for a LIST. */
enum side { OURS, STREAM, LIST, SIDES };
extern const char *const side_names[SIDES];

/* `agents` of them that have all pods: informerd and so many readers with a handler, or so many informers. */
struct asker {
	struct bench *b;
	struct upstream *server;
	enum side side;
	unsigned agents;
	struct daemon daemon;
	struct process agent[AGENTS_MAX];
	double wall_ms, cpu_ms; /* from nothing until the first agent had all pods; of informerd, or of it */
};

/* Start them, one after another, until each has all pods. 0 or negative errno; afterwards end in any case. */
int asker_start(struct asker *a, struct bench *b, struct upstream *server, enum side side, unsigned agents);
void asker_end(struct asker *a);

/*
 * Have n changes made at a rate, and wait until each agent was told of each. What the first one met: µs from
 * made to handler entered.
 */
struct changes_met {
	double p50, p99, per_second;
	bool each; /* every change was told by itself */
};
int asker_changes(struct asker *a, unsigned rate, size_t n, struct changes_met *ret);

#endif
