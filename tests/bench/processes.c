/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 32u

struct process
process_start(const struct bench *b, const char *log, const char *program, ...)
{
	const char *argv[ARGUMENTS_MAX + 1] = {program}, *argument;
	char path[4096];
	unsigned n = 1;
	int in[2], out[2], fd;
	struct process p;
	va_list args;

	va_start(args, program);
	while ((argument = va_arg(args, const char *)) && n < ARGUMENTS_MAX)
		if (argument[0])
			argv[n++] = argument;
	va_end(args);
	snprintf(path, sizeof(path), "%s%s%s", strchr(program, '/') ? "" : b->build,
		 strchr(program, '/') ? "" : "/", program);
	if (access(path, X_OK) < 0)
		bench_skip("%s is not there", path);
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		bench_fail("pipe2: %s", strerror(errno));
	p.pid = fork();
	if (p.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_DFL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		fd = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
		if (fd >= 0)
			dup2(fd, 2);
		execv(path, (char *const *)(uintptr_t)argv);
		fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p.in = fdopen(in[1], "w");
	p.out = fdopen(out[0], "r");
	if (p.pid < 0 || !p.in || !p.out)
		abort();
	setvbuf(p.out, NULL, _IONBF, 0); /* poll() must know of all received bytes */
	return p;
}

void
process_end(struct process *p, int signal_number)
{
	if (p->pid <= 0)
		return;
	fclose(p->in);
	if (signal_number)
		kill(p->pid, signal_number);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	fclose(p->out);
	*p = (struct process){0};
}

void
process_line(struct process *p, char line[512], int timeout_s)
{
	uint64_t end = now_ns() + (uint64_t)timeout_s * 1000000000u;
	size_t n = 0;

	for (;;) {
		struct pollfd fd = {fileno(p->out), POLLIN, 0};
		uint64_t now = now_ns();
		int c;

		if (now >= end)
			bench_fail("a process said nothing within %d s", timeout_s);
		if (poll(&fd, 1, (int)((end - now) / 1000000u) + 1) <= 0)
			continue;
		c = fgetc(p->out);
		if (c == EOF)
			bench_fail("a process ended without an answer");
		if (c == '\n')
			break;
		if (n + 1 < 512)
			line[n++] = (char)c;
	}
	line[n] = '\0';
}

void
process_ask(struct process *p, double *ret, int count, int timeout_s, const char *question, ...)
{
	char line[512], *at = line;
	va_list args;

	va_start(args, question);
	vfprintf(p->in, question, args);
	va_end(args);
	if (fputc('\n', p->in) == EOF || fflush(p->in) != 0)
		bench_fail("a process does not listen");
	process_line(p, line, timeout_s);
	for (int i = 0; i < count; i++) {
		char *end;

		ret[i] = strtod(at, &end);
		if (end == at)
			bench_fail("a process answered \"%s\"", line);
		at = end;
	}
}

double
process_cpu_us(pid_t pid)
{
	struct timespec t = {0, 0};
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return 0;
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static FILE *
open_proc(pid_t pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), pid ? "/proc/%2$ld/%1$s" : "/proc/self/%1$s", file, (long)pid);
	return fopen(path, "re");
}

int64_t
process_bytes(pid_t pid, const char *file, const char *key)
{
	FILE *f = open_proc(pid, file);
	int64_t bytes = -1;
	char line[256];

	while (f && bytes < 0 && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			bytes = strtoll(line + strlen(key), NULL, 10) * 1024;
	if (f)
		fclose(f);
	return bytes;
}

double
process_mapped(pid_t pid, const char *key, const char *but)
{
	FILE *f = open_proc(pid, "smaps");
	int64_t bytes = 0;
	bool counts = true;
	char line[4352];

	if (!f)
		bench_fail("smaps: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)) == 0 && counts)
			bytes += strtoll(strchr(line, ':') + 1, NULL, 10) * 1024;
		else if (strspn(line, "0123456789abcdef") > 0 && strchr(line, '-') < strchr(line, ' '))
			counts = !strstr(line, but);
	}
	fclose(f);
	return (double)bytes;
}
