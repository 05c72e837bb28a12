/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upstream's API server (tests/apiserver) with the bench's pods: what its process spends, what it sent, and
 * changes on demand. It is asked over TLS, as in a cluster.
 */
#ifndef TESTS_BENCH_UPSTREAM_H
#define TESTS_BENCH_UPSTREAM_H

#include "tests/bench/bench.h"
#include "tests/bench/child_process.h"

struct upstream {
	struct process process;
	size_t pods;        /* how many there are: at least what was asked for */
	char directory[96]; /* its own: etcd's files, certificates */
	char kubeconfig[128], url[128];
};

/* What of it there was until now. */
struct upstream_cost {
	double cpu_us; /* user and system time of the process, etcd's with it */
	double bytes;  /* sent, on all connections, TLS and HTTP with them */
};

/* Why it cannot be started: a sentence; NULL: it can. */
const char *upstream_missing(const struct bench *b);
/* At least so many pods. All of these return 0 or negative errno; after a failure no end is needed. */
int upstream_start(const struct bench *b, size_t pods, struct upstream *ret);
/* The same with other flags, up to a NULL. */
#define UPSTREAM_MORE 4u
int upstream_start_with(const struct bench *b, size_t pods, const char *const more[UPSTREAM_MORE],
			struct upstream *ret);
void upstream_end(struct upstream *u);

/* Wait until it rests: until it is through with what it was asked, and with the garbage of that. */
int upstream_cost(struct upstream *u, struct upstream_cost *ret);

/* Let n changes begin, at so many a second: updates of an annotation to the time they are made. */
int upstream_change(struct upstream *u, unsigned rate, size_t n);

/* A change that was made: which RV it led to, and when its writer was told so, µs since 1970. */
struct upstream_commit {
	uint64_t rv;
	int64_t us;
};
/* Those of the newest upstream_change(), by RV; the caller's to free. */
int upstream_commits(struct upstream *u, struct upstream_commit **ret, size_t *ret_count);

#endif
