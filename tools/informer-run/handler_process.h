/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handler process: a process in its own process group, fed through a pipe, and ended with all its children.
 *
 * It is killed when informer-run dies (PR_SET_PDEATHSIG); its children then see end of file on standard
 * input. Nothing blocks: data that the pipe does not accept is buffered and written later.
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
 * line       called for each line of its standard output (terminated, without line feed; NULL: a line was too
 *            long)
 * The rest is private.
 */
struct process {
	void (*line)(void *context, char *line);
	void *context;
	struct loop *loop;
	pid_t pid; /* 0: no process */
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
 * Start argv, found through $PATH, with "NAME=VALUE" added to the environment. It inherits our standard
 * error. It inherits our standard output too, unless `answers`: then its lines are read.
 *
 * Returns 0 or a negative errno, also that of the exec
 */
int
process_start(struct process *process, char *const *argv, char *const *environment, bool answers);

/*
 * Write to its standard input. A write to a closed pipe fails silently: the process's end is reported.
 * -ENOMEM; -EBADF: standard input is not open.
 */
int
process_write(struct process *process, const char *data, size_t length);
/* Close its standard input once all data is written. */
void
process_close_input(struct process *process);
void
process_signal(struct process *process, int signal);

/*
 * After it ended (seen by waitid() with WNOWAIT): read its last lines, kill its children, reap it.
 *
 * why  for people: "exit code 1", "signal 9 (Killed)"
 * Returns its wait status
 */
int
process_reap(struct process *process, char *why, size_t size);

/* Kill and reap the process, if there is one; free. */
void
process_done(struct process *process);

/* Whether a command can be started: 0 or a negative errno. */
int
process_check(const char *command);

#endif
