/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts informerd as the bench wants it, waits until it has synced, and reads how large its arena is.
 */
#include "tests/bench/daemon_side.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int
daemon_start(const struct bench *b, const char *name, const char *from, const char *what, struct daemon *d)
{
	char program[4096];
	const char *argv[] = {program,   from,          what,         "--resource",   "pods",  "--socket",
			      d->socket, "--arena-dir", b->directory, "--arena-name", d->name, NULL};

	snprintf(program, sizeof(program), "%s/informerd", b->build);
	snprintf(d->name, sizeof(d->name), "%s", name);
	snprintf(d->socket, sizeof(d->socket), "%s/%s.socket", b->directory, name);
	snprintf(d->log, sizeof(d->log), "%s/%s.log", b->directory, name);
	return process_start(&d->process, argv, NULL, d->log);
}

/* Each file of its arena, all generations. */
static int64_t
arena_files(const struct bench *b, const struct daemon *d, bool remove_them)
{
	char pattern[256];
	int64_t bytes = 0;
	struct stat st;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/%s.*[0-9]", b->directory, d->name);
	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (stat(found.gl_pathv[i], &st) == 0)
			bytes += (int64_t)st.st_blocks * 512;
		if (remove_them)
			unlink(found.gl_pathv[i]);
	}
	globfree(&found);
	return bytes;
}

void
daemon_end(const struct bench *b, struct daemon *d)
{
	process_end(&d->process, SIGKILL);
	if (d->name[0])
		arena_files(b, d, true);
}

int64_t
daemon_arena_bytes(const struct bench *b, const struct daemon *d)
{
	return arena_files(b, d, false);
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
