/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other processes: started within the bench's process group, so that whatever ends the bench ends them;
 * spoken to by lines; looked at through /proc.
 */
#ifndef TESTS_BENCH_CHILD_PROCESS_H
#define TESTS_BENCH_CHILD_PROCESS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct process {
	pid_t pid;	/* 0: none */
	FILE *in, *out;	/* its stdin and stdout, as we hold them */
};

/*
 * directory  its working directory; NULL: ours
 * log        file for its stderr; NULL: ours
 * Returns    0 or negative errno
 */
int process_start(struct process *p, const char *const *argv, const char *directory, const char *log);
/* Signal it (0: just close its stdin) and wait for its end. A stopped or empty one is fine. */
void process_end(struct process *p, int signal_number);

/* Read a line, without its end. Returns 0; -EPIPE when there is none, -ETIMEDOUT. */
int process_line(struct process *p, char *line, size_t size, int timeout_s);
/* Say a line and read `count` numbers from the answer. */
int process_ask(struct process *p, const char *question, double *ret, int count, int timeout_s);

/* A value of /proc/PID/FILE, "RssAnon:", in bytes; -1 when there is none. pid 0: this process. */
int64_t process_bytes(pid_t pid, const char *file, const char *key);

/*
 * Sum of a kind of bytes, "Pss:", "Private_" (clean and dirty), over all mappings of a process but those
 * whose path has `but` in it; -1 when it is not there. pid 0: this process.
 */
int64_t process_mapped(pid_t pid, const char *key, const char *but);

#endif
