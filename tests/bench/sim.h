/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer-sim, the real binary, as the bench needs it.
 */
#ifndef TESTS_BENCH_SIM_H
#define TESTS_BENCH_SIM_H

#include "tests/bench/bench.h"
#include "tests/bench/child_process.h"

struct sim {
	struct process process;
	char url[128];
	char kubeconfig[96];
};

/* A server of the real pods and their replicas; pods_directory NULL: of a generated cluster of nodes x 50. */
int sim_start(const struct bench *b, const char *pods_directory, size_t replicas, size_t nodes,
	      struct sim *ret);
void sim_end(struct sim *s);

/*
 * GET url/path, its body handed over as it comes; a non-zero result of each ends it. Returns 0 or negative
 * errno.
 */
int sim_fetch(const struct sim *s, const char *path,
	      int (*each)(void *context, const char *bytes, size_t length), void *context);
/* The same of any URL. */
int url_fetch(const char *url, int (*each)(void *context, const char *bytes, size_t length), void *context);

#endif
