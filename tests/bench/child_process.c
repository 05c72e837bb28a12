/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the bench's other programs, asks them by lines, and reads their memory from /proc.
 */
#include "tests/bench/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"

static void __attribute__((noreturn))
become(const char *const *argv, const char *directory, const char *log, int in, int out)
{
	int fd = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	dup2(in, 0);
	dup2(out, 1);
	if (fd >= 0)
		dup2(fd, 2);
	if (!directory || chdir(directory) == 0)
		execv(argv[0], (char *const *)(uintptr_t)argv);
	fprintf(stderr, "bench: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int
process_start(struct process *p, const char *const *argv, const char *directory, const char *log)
{
	int in[2], out[2];

	*p = (struct process){0};
	if (access(argv[0], X_OK) < 0)
		return -errno;
	if (pipe2(in, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return -EMFILE;
	}
	p->pid = fork();
	if (p->pid == 0)
		become(argv, directory, log, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	p->in = fdopen(in[1], "w");
	p->out = fdopen(out[0], "r");
	if (p->pid < 0 || !p->in || !p->out)
		abort();
	setvbuf(p->out, NULL, _IONBF, 0);	/* poll() must know of all that came */
	return 0;
}

void
process_end(struct process *p, int signal_number)
{
	int status;

	if (p->in)
		fclose(p->in);
	if (p->pid > 0) {
		if (signal_number)
			kill(p->pid, signal_number);
		while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (p->out)
		fclose(p->out);
	*p = (struct process){0};
}

int
process_line(struct process *p, char *line, size_t size, int timeout_s)
{
	uint64_t end = now_ns() + (uint64_t)timeout_s * 1000000000u;
	size_t n = 0;

	for (;;) {
		struct pollfd fd = {fileno(p->out), POLLIN, 0};
		uint64_t now = now_ns();
		int c;

		if (now >= end)
			return -ETIMEDOUT;
		if (poll(&fd, 1, (int)((end - now) / 1000000u) + 1) <= 0)
			continue;
		c = fgetc(p->out);
		if (c == EOF)
			return -EPIPE;
		if (c == '\n') {
			line[n] = '\0';
			return 0;
		}
		if (n + 1 < size)
			line[n++] = (char)c;
	}
}

static int
numbers(const char *text, double *ret, int count)
{
	for (int i = 0; i < count; i++) {
		char *end;

		ret[i] = strtod(text, &end);
		if (end == text)
			return -EPROTO;
		text = end;
	}
	return 0;
}

int
process_ask(struct process *p, const char *question, double *ret, int count, int timeout_s)
{
	char line[256];
	int r;

	if (fprintf(p->in, "%s\n", question) < 0 || fflush(p->in) != 0)
		return -EPIPE;
	r = process_line(p, line, sizeof(line), timeout_s);
	return r < 0 ? r : numbers(line, ret, count);
}

int64_t
process_bytes(pid_t pid, const char *file, const char *key)
{
	char path[64], text[8192], *at;
	ssize_t n;
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
	else
		snprintf(path, sizeof(path), "/proc/self/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	at = strstr(text, key);
	return at ? (int64_t)strtoll(at + strlen(key), NULL, 10) * 1024 : -1;
}

int64_t
process_mapped(pid_t pid, const char *key, const char *but)
{
	static char text[1 << 20];
	char path[64];
	size_t n = 0;
	int64_t bytes = 0;
	bool counts = true;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), pid ? "/proc/%ld/smaps" : "/proc/self/smaps", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (n < sizeof(text) - 1 && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	text[n] = '\0';
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (strncmp(line, key, strlen(key)) == 0) {
			if (counts)
				bytes += strtoll(strchr(line, ':') + 1, NULL, 10) * 1024;
		} else if (strspn(line, "0123456789abcdef") > 0 && strchr(line, '-') < strchr(line, ' ')) {
			counts = !strstr(line, but);
		}
	}
	return n > 0 ? bytes : -1;
}
