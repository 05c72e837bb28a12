/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler process: started in a process group of its own, fed by a pipe, ended with all it started.
 *
 * It dies with informer-run (PR_SET_PDEATHSIG), and what it leaves behind sees the end of its standard input.
 * Nothing blocks: what the pipe does not take is kept and written when it does.
 */
#ifndef TOOLS_INFORMER_RUN_HANDLER_PROCESS_H
#define TOOLS_INFORMER_RUN_HANDLER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tools/informer-run/loop.h"
#include "tools/printer/text.h"

#define PROCESS_LINE_MAX 256

/*
 * line       called for each line on its standard output (terminated, without line feed; NULL: one was too
 *            long)
 * The rest is private.
 */
struct process {
	void (*line)(void *context, char *line);
	void *context;
	struct loop *loop;
	pid_t pid; /* 0: none */
	bool close_after;
	struct loop_descriptor in, out;
	struct text pending;
	size_t written;
	char buffer[PROCESS_LINE_MAX];
	size_t length;
	bool overlong;
};

void process_init(struct process *process, struct loop *loop, void (*line)(void *context, char *line),
		  void *context);

/*
 * Start argv, looked for in $PATH, with "NAME=VALUE" added to the environment. Standard error is ours; so is
 * standard output, unless `answers`: then its lines are read.
 *
 * Returns 0 or a negative errno, also that of the exec
 */
int
process_start(struct process *process, char *const *argv, char *const *environment, bool answers);

/*
 * Write to its standard input. What it does not read fails silently: its end will be told. -ENOMEM, -EBADF:
 * none is open.
 */
int
process_write(struct process *process, const char *data, size_t length);
/* End its standard input once all was written. */
void
process_close_input(struct process *process);
void
process_signal(struct process *process, int signal);

/*
 * It ended (waitid with WNOWAIT says so): read the last of its lines, end what it left behind, reap it.
 *
 * why  for people: "exit code 1", "signal 9 (Killed)"
 * Returns its wait status
 */
int
process_reap(struct process *process, char *why, size_t size);

/* Kill and reap, if there is one; free. */
void
process_done(struct process *process);

/* Whether a command can be started: 0 or a negative errno. */
int
process_check(const char *command);

#endif
