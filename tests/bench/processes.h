/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other processes: started in the measurement's process group, so that the end of the measurement ends them;
 * asked by lines; observed through /proc. A failure ends the measurement.
 */
#ifndef TESTS_BENCH_PROCESSES_H
#define TESTS_BENCH_PROCESSES_H

#include <stdio.h>
#include <sys/types.h>

#include "tests/bench/bench.h"

struct process {
	pid_t pid;      /* 0: none */
	FILE *in, *out; /* its stdin and stdout, as we hold them */
};

/*
 * program  a path, or a name: one of the binaries built
 * log      file for its stderr; NULL: ours
 * ...      arguments, up to a NULL; "" is left out
 */
struct process process_start(const struct bench *b, const char *log, const char *program, ...)
	__attribute__((sentinel));
/* Signal it (0: just close its stdin) and wait for its end. A stopped or empty one is fine. */
void process_end(struct process *p, int signal_number);

/* Read a line, without its end. */
void process_line(struct process *p, char line[512], int timeout_s);
/* Send a line and read `count` numbers from the answer. */
void process_ask(struct process *p, double *ret, int count, int timeout_s, const char *question, ...)
	__attribute__((format(printf, 5, 6)));

/* CPU time a process has used so far, µs. */
double process_cpu_us(pid_t pid);
/* A value of /proc/PID/FILE, "RssAnon:", in bytes; -1 when there is none. pid 0: this process. */
int64_t process_bytes(pid_t pid, const char *file, const char *key);
/*
 * Sum of a kind of bytes, "Pss:", "Private_" (clean and dirty), over all mappings of a process but those
 * whose path contains `but`. pid 0: this process.
 */
double process_mapped(pid_t pid, const char *key, const char *but);

#endif
