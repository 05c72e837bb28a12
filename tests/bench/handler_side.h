/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes with handlers for pods (handler_side.c), and how the bench starts and asks them.
 */
#ifndef TESTS_BENCH_HANDLER_SIDE_H
#define TESTS_BENCH_HANDLER_SIDE_H

#include "tests/bench/bench.h"
#include "tests/bench/child_process.h"

/* `bench handler …` */
int handler_main(int argc, char **argv);

/*
 * One process with `count` handles of a handler each, all of them synced.
 *
 * ns        NULL: all namespaces
 * ret_pods  how many the first one was told of
 */
int handler_start(const struct bench *b, const char *socket, const char *ns, unsigned count,
		  struct process *p, double *ret_pods);
/* The same in two halves, for a bench that has to serve meanwhile: spawn; when a line has come, ready. */
int handler_spawn(const struct bench *b, const char *socket, const char *ns, unsigned count,
		  struct process *p);
int handler_ready(struct process *p, double *ret_pods);

/* What came since handler_begin(); times in µs. last_us: CLOCK_REALTIME of the last one. */
struct handled {
	double count, p50, p99, commit_p50, commit_p99, last_us, overflows;
};
int handler_begin(struct process *p);
int handler_end(struct process *p, size_t wanted, unsigned seconds, struct handled *ret);

#endif
