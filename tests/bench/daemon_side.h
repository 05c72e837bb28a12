/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerd, the real binary, that caches pods, as the bench needs it.
 */
#ifndef TESTS_BENCH_DAEMON_SIDE_H
#define TESTS_BENCH_DAEMON_SIDE_H

#include "tests/bench/bench.h"
#include "tests/bench/child_process.h"

struct daemon {
	struct process process;
	char socket[96], log[96], name[24];
};

/* name: of socket, arena and log. from: "--kubeconfig" and a file, or "--server" and a URL. */
int daemon_start(const struct bench *b, const char *name, const char *from, const char *what,
		 struct daemon *d);
/* The same with other flags, up to a NULL; not with those that the bench was told of (--wire). */
#define DAEMON_MORE 4u
int daemon_start_with(const struct bench *b, const char *name, const char *from, const char *what,
		      const char *const more[DAEMON_MORE], struct daemon *d);
/* Wait until a reader sees so many pods. Returns 0, negative errno or an informer_error. */
int daemon_wait_pods(const struct daemon *d, size_t pods);
/* End it and remove its arena. */
void daemon_end(const struct bench *b, struct daemon *d);

/* Bytes of its arena's file that exist. */
int64_t daemon_arena_bytes(const struct bench *b, const struct daemon *d);
/* CPU time a process has used so far, µs. */
double process_cpu_us(pid_t pid);

#endif
