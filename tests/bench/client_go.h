/*
 * client-go's programs, as processes of the bench (peer/, and the peer's own): a server of pods in JSON and protobuf that makes changes on
 * demand, an informer, and rounds of what is measured within one process.
 */
#ifndef TESTS_BENCH_CLIENT_GO_H
#define TESTS_BENCH_CLIENT_GO_H

#include "tests/bench/bench.h"
#include "tests/bench/process.h"

/* All of these return 0 or negative errno; what could not start needs no end. */

/* The server; whoever is compared with client-go asks the same one, or one of the same program. */
struct go_server {
	struct process process;
	char url[128];
};
int go_server_start(const struct bench *b, unsigned pods, struct go_server *ret);
void go_server_end(struct go_server *s);
/* Have it make n changes at so many a second; 0: as fast as the slowest watcher takes them. Returns when they are made. */
int go_server_change(const struct go_server *s, unsigned rate, size_t n);

/* A protobuf informer of pods with a handler, once that has synced. */
int go_informer_start(const struct bench *b, const struct go_server *s, struct process *ret, double *ret_pods);

/* rounds.go on n pods: its heap bytes and JSON bytes a pod. */
int go_rounds_start(const struct bench *b, struct process *p, size_t n, double *ret_heap, double *ret_json);

#endif
