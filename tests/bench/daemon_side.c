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

#include "reader-lib/informer.h"

int
daemon_start_with(const struct bench *b, const char *name, const char *from, const char *what,
		  const char *const more[DAEMON_MORE], struct daemon *d)
{
	char program[4096];
	const char *argv[12 + DAEMON_MORE] = {program,      from,           what,      "--resource",
					      "pods",       "--socket",     d->socket, "--arena-dir",
					      b->directory, "--arena-name", d->name};

	for (unsigned i = 0; i < DAEMON_MORE && more[i]; i++)
		argv[11 + i] = more[i];
	snprintf(program, sizeof(program), "%s/informerd", b->build);
	snprintf(d->name, sizeof(d->name), "%s", name);
	snprintf(d->socket, sizeof(d->socket), "%s/%s.socket", b->directory, name);
	snprintf(d->log, sizeof(d->log), "%s/%s.log", b->directory, name);
	return process_start(&d->process, argv, NULL, d->log);
}

int
daemon_start(const struct bench *b, const char *name, const char *from, const char *what, struct daemon *d)
{
	const char *const more[DAEMON_MORE] = {b->wire ? "--wire" : NULL, b->wire};

	return daemon_start_with(b, name, from, what, more, d);
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

/* The socket is there some milliseconds after the start. */
int
daemon_wait_pods(const struct daemon *d, size_t pods)
{
	struct informer_options options = {
		.size = sizeof(options), .socket_path = d->socket, .reader_name = "bench"};
	uint64_t end = now_ns() + 10000000000u;
	struct informer *inf = NULL;
	struct informer_resource *resource;
	struct informer_snapshot snap;
	struct informer_resource_info info = {.size = sizeof(info)};
	bool attached = false;
	int r = 0;

	while (r == 0 && !attached && now_ns() < end) {
		struct informer_status status = {.size = sizeof(status)};

		informer_detach(inf);
		inf = NULL;
		nanosleep(&(struct timespec){0, 500000}, NULL);
		r = informer_attach(&options, &inf);
		if (r == 0)
			r = informer_status(inf, &status);
		attached = status.attached;
	}
	if (r == 0)
		r = informer_wait_synced(inf, "pods", 120000);
	if (r == 0)
		r = informer_resource_open(inf, "pods", &resource);
	if (r == 0)
		r = informer_begin(inf, &snap);
	if (r == 0) {
		r = informer_resource_info(&snap, resource, &info);
		informer_end(&snap);
	}
	informer_detach(inf);
	return r < 0 ? r : info.object_count == pods ? 0 : -EPROTO;
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
