/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client-go's program (peer/), as processes of the bench: a server of pods in JSON and
 * protobuf that makes changes on demand, an informer, and rounds of what is measured within one process.
 */
#ifndef TESTS_BENCH_CLIENT_GO_H
#define TESTS_BENCH_CLIENT_GO_H

#include "tests/bench/bench.h"
#include "tests/bench/child_process.h"

/* All of these return 0 or negative errno; what could not start needs no end. */

/* The server; whoever is compared with client-go asks the same one, or one of the same program. */
struct go_server {
	struct process process;
	char url[128];
};
int go_server_start(const struct bench *b, unsigned pods, struct go_server *ret);
void go_server_end(struct go_server *s);
/*
 * Have it make n changes at so many a second; 0: as fast as the slowest watcher takes them. Returns when they
 * are made.
 */
int go_server_change(const struct go_server *s, unsigned rate, size_t n);

/*
 * How much it was asked by others since it started: requests of its API, and bytes it sent on all
 * connections, with what belongs to HTTP; bench's own questions add some hundred bytes each.
 */
int go_server_traffic(const struct go_server *s, double *ret_requests, double *ret_bytes);

/*
 * A protobuf informer of pods with a handler, once that has synced. It streams its first list, as is
 * client-go's default.
 */
#define GO_JSON 1u	/* … in JSON instead */
#define GO_LIST 2u	/* … LIST, then WATCH */
/* from: "-server" and a URL, or "-kubeconfig" and a file. */
int go_informer_start(const struct bench *b, const char *from, const char *what, unsigned ways,
		      struct process *ret, double *ret_pods);
/* Forget what came; until n updates came to its handler, or time is up: how many. */
int go_informer_begin(struct process *p);
int go_informer_await(struct process *p, size_t n, unsigned seconds, double *ret_count);
/* The same, and µs from made to handler entered; when the last one came, µs of CLOCK_REALTIME. */
int go_informer_met(struct process *p, size_t n, unsigned seconds, double *ret_count, double *ret_p50,
		    double *ret_p99, double *ret_last_us);

/* rounds.go on n pods: its heap bytes and JSON bytes a pod. */
int go_rounds_start(const struct bench *b, struct process *p, size_t n, double *ret_heap, double *ret_json);

#endif
