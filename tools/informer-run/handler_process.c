/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, feeds and reaps processes; see handler_process.h. */
#include "tools/informer-run/handler_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void
process_init(struct process *process, struct loop *loop, void (*line)(void *context, char *line),
	     void *context)
{
	*process = (struct process){.line = line,
				    .context = context,
				    .loop = loop,
				    .in = LOOP_DESCRIPTOR_NONE,
				    .out = LOOP_DESCRIPTOR_NONE,
				    .pending = TEXT_INIT(-1)};
}

static void
close_descriptor(struct process *process, struct loop_descriptor *descriptor)
{
	int fd = descriptor->fd;

	loop_remove(process->loop, descriptor);
	if (fd >= 0)
		close(fd);
}

/* ---- the process's input ---- */

static void
flush(struct process *process)
{
	struct text *pending = &process->pending;

	while (process->in.fd >= 0 && process->written < pending->length) {
		ssize_t n = write(process->in.fd, pending->data + process->written,
				  pending->length - process->written);

		if (n > 0) {
			process->written += (size_t)n;
		} else if (errno == EAGAIN) {
			loop_change(process->loop, &process->in, EPOLLOUT);
			return;
		} else if (errno != EINTR) {
			/* the process closed its input; its end or the deadline follows */
			close_descriptor(process, &process->in);
		}
	}
	pending->length = process->written = 0;
	if (process->close_after)
		close_descriptor(process, &process->in);
	else
		loop_change(process->loop, &process->in, 0);
}

static void
can_write(void *context, uint32_t events)
{
	struct process *process = context;

	if (events & (EPOLLERR | EPOLLHUP))
		close_descriptor(process, &process->in);
	flush(process);
}

int
process_write(struct process *process, const char *data, size_t length)
{
	if (process->in.fd < 0)
		return -EBADF;
	/* drop the written part before appending */
	if (process->written > process->pending.length / 2 && process->written > 65536) {
		memmove(process->pending.data, process->pending.data + process->written,
			process->pending.length - process->written);
		process->pending.length -= process->written;
		process->written = 0;
	}
	text_add(&process->pending, data, length);
	if (process->pending.error < 0)
		return process->pending.error;
	flush(process);
	return 0;
}

void
process_close_input(struct process *process)
{
	process->close_after = true;
	flush(process);
}

/* ---- the process's output ---- */

static void
take(struct process *process, const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (data[i] != '\n') {
			if (process->length + 1 < sizeof(process->buffer))
				process->buffer[process->length++] = data[i];
			else
				process->overlong = true;
			continue;
		}
		process->buffer[process->length] = '\0';
		if (process->line)
			process->line(process->context, process->overlong ? NULL : process->buffer);
		process->length = 0;
		process->overlong = false;
	}
}

/*
 * Read one piece, so that a process that writes without end does not block the loop. Returns 1, 0 at the end,
 * or -EAGAIN without data.
 */
static int
read_some(struct process *process)
{
	char data[4096];
	ssize_t n;

	do
		n = read(process->out.fd, data, sizeof(data));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? -EAGAIN : 0;
	take(process, data, (size_t)n);
	return 1;
}

static void
can_read(void *context, uint32_t events)
{
	struct process *process = context;

	(void)events;
	if (read_some(process) == 0)
		close_descriptor(process, &process->out);
}

/* ---- starting and reaping ---- */

/* The process's input, its output, and the errno of a failed exec: each (read, write). */
struct pipes {
	int in[2], out[2], error[2];
};

static void
close_pipe(const int ends[2])
{
	for (size_t i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

/* Run in the child until exec. Write errno of a failure to the error pipe, which exec closes. */
static void
run_child(struct pipes *pipes, char *const *argv, char *const *environment, bool answers, pid_t parent)
{
	static const int signals[] = {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGQUIT, SIGUSR1, SIGUSR2};
	sigset_t none;
	int error;

	sigemptyset(&none);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(pipes->in[0], STDIN_FILENO) < 0 || (answers && dup2(pipes->out[1], STDOUT_FILENO) < 0))
		goto failed;
	for (; environment && *environment; environment++)
		putenv(*environment);
	execvp(argv[0], argv);
failed:
	error = errno;
	if (write(pipes->error[1], &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

int
process_start(struct process *process, char *const *argv, char *const *environment, bool answers)
{
	struct pipes pipes = {{-1, -1}, {-1, -1}, {-1, -1}};
	pid_t parent = getpid(), pid;
	int error = 0, r;
	ssize_t n;

	if (pipe2(pipes.in, O_CLOEXEC) < 0 || (answers && pipe2(pipes.out, O_CLOEXEC) < 0) ||
	    pipe2(pipes.error, O_CLOEXEC) < 0 || fcntl(pipes.in[1], F_SETFL, O_NONBLOCK) < 0 ||
	    (answers && fcntl(pipes.out[0], F_SETFL, O_NONBLOCK) < 0)) {
		r = -errno;
		goto out;
	}
	pid = fork();
	if (pid < 0) {
		r = -errno;
		goto out;
	}
	if (pid == 0)
		run_child(&pipes, argv, environment, answers, parent);
	setpgid(pid, pid); /* parent and child both call it, so later kills find the group */
	close(pipes.error[1]);
	pipes.error[1] = -1;
	while ((n = read(pipes.error[0], &error, sizeof(error))) < 0 && errno == EINTR)
		;
	if (n > 0) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		r = -error;
		goto out;
	}
	process->pid = pid;
	process->close_after = process->overlong = false;
	process->length = process->written = process->pending.length = 0;
	process->pending.error = 0;
	r = loop_add(process->loop, &process->in, pipes.in[1], 0, can_write, process);
	if (r == 0) {
		pipes.in[1] = -1;
		if (answers)
			r = loop_add(process->loop, &process->out, pipes.out[0], EPOLLIN, can_read, process);
		if (r == 0)
			pipes.out[0] = -1;
	}
	if (r < 0)
		process_done(process);
out:
	close_pipe(pipes.in);
	close_pipe(pipes.out);
	close_pipe(pipes.error);
	return r;
}

void
process_signal(struct process *process, int signal)
{
	if (process->pid > 0)
		kill(-process->pid, signal);
}

int
process_reap(struct process *process, char *why, size_t size)
{
	int status = 0;

	/* before the process is reaped, its pid and its group cannot be reused */
	kill(-process->pid, SIGKILL);
	/* at most 1 MiB, even if other processes write to the pipe */
	for (size_t i = 0; i < 256 && process->out.fd >= 0 && read_some(process) > 0; i++)
		;
	while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
		;
	process->pid = 0;
	close_descriptor(process, &process->in);
	close_descriptor(process, &process->out);
	if (WIFSIGNALED(status))
		snprintf(why, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(why, size, "exit code %d", WEXITSTATUS(status));
	return status;
}

void
process_done(struct process *process)
{
	char why[64];

	if (process->pid > 0) {
		process->line = NULL;
		process_signal(process, SIGKILL);
		process_reap(process, why, sizeof(why));
	}
	text_done(&process->pending);
}

int
process_check(const char *command)
{
	const char *path = getenv("PATH");
	char file[4096];

	if (strchr(command, '/'))
		return access(command, X_OK) == 0 ? 0 : -errno;
	for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
		size_t length = strcspn(at, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)length, length ? at : ".", command);
		if (access(file, X_OK) == 0)
			return 0;
		at += length + (at[length] == ':');
	}
	return -ENOENT;
}
