/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What honest readers notice of one that means harm (attacker.c): from a change at the server to their
 * handler, beside each attack, beside none, and beside a process that only burns a processor, in turn in
 * each round; and what informerd itself takes meanwhile.
 *
 * An attacker that is busy takes time of a processor, and that alone slows others on a small machine: one
 * that takes more than BUSY of one is compared with a process that is as busy and leaves informerd alone,
 * else with none.
 */
#include "tests/bench/bench.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/bench/attacker.h"
#include "tests/bench/client_go.h"
#include "tests/bench/daemon_side.h"
#include "tests/bench/handler_side.h"

#define PODS	  2000u
#define RATE	  250u	/* changes a second, in each round for … */
#define SECONDS	  2u
#define BUSY	  0.2	/* of a processor */
#define RATIO	  (1.0 / 3)
#define CASES_MAX 24u

/* Beside one attack, or none: µs; the daemon's bytes, descriptors, share of a processor; the attacker's. */
struct beside {
	struct rounds p50, p99, bytes, descriptors, cpu, attacker_cpu;
	unsigned missed;	/* rounds in which not every change was told */
	bool failed;		/* the attack did not come about */
};

struct field_of_play {
	struct bench *b;
	struct go_server server;
	struct daemon daemon;
	struct process handler;
	struct beside none, beside[CASES_MAX];
};

static double
descriptors_of(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

static int
measure(struct field_of_play *f, pid_t attacker, struct beside *ret)
{
	size_t n = (size_t)RATE * SECONDS;
	pid_t pid = f->daemon.process.pid;
	double cpu = process_cpu_us(pid), theirs = attacker ? process_cpu_us(attacker) : 0;
	uint64_t start = now_ns();
	struct handled h = {0};
	double us;
	int r = handler_begin(&f->handler);

	if (r == 0)
		r = go_server_change(&f->server, RATE, n);
	if (r == 0)
		r = handler_end(&f->handler, n, 20, &h);
	if (r < 0)
		return r;
	us = (double)(now_ns() - start) / 1e3;
	rounds_add(&ret->p50, h.p50);
	rounds_add(&ret->p99, h.p99);
	rounds_add(&ret->bytes, (double)process_bytes(pid, "status", "RssAnon:"));
	rounds_add(&ret->descriptors, descriptors_of(pid));
	rounds_add(&ret->cpu, (process_cpu_us(pid) - cpu) / us);
	rounds_add(&ret->attacker_cpu, attacker ? (process_cpu_us(attacker) - theirs) / us : 0);
	if (h.overflows > 0 || h.count < (double)n)
		ret->missed++;
	return 0;
}

static int
measure_beside(struct field_of_play *f, const struct attack *attack, struct beside *ret)
{
	const char *argv[] = {f->b->self, "attack", attack->name, f->daemon.socket, NULL};
	struct process attacker = {0};
	char line[64];
	int r = process_start(&attacker, argv, NULL, NULL);

	if (r == 0 && process_line(&attacker, line, sizeof(line), 60) < 0)
		ret->failed = true;
	if (r == 0 && !ret->failed) {
		measure(f, attacker.pid, &(struct beside){0}); /* what it does first is over then */
		r = measure(f, attacker.pid, ret);
	}
	process_end(&attacker, SIGKILL);
	return r;
}

/* ---- rows ---- */

static size_t
control_of(const struct attack *attack)
{
	size_t i = CONTROLS;

	while (attack->control && i-- > 0)
		if (strcmp(attacks[i].name, attack->control) == 0)
			return i;
	return 0;
}

static void
report_beside(struct field_of_play *f, const struct attack *attack, const struct beside *with)
{
	bool busy = attack != &attacks[0] && (attack->many || rounds_median(&with->attacker_cpu) > BUSY);
	size_t control = control_of(attack);
	const struct beside *other = busy ? &f->beside[control] : &f->none;
	char name[48];

	for (unsigned k = 0; k < 2; k++) {
		struct row *row;

		snprintf(name, sizeof(name), "hostile_%s_%s", attack->name, k ? "p99" : "p50");
		if (with->failed) {
			report_skip(f->b->report, name, "us", "the attack did not come about");
			continue;
		}
		row = report_add(
			f->b->report, name, "us", rounds_median(k ? &with->p99 : &with->p50),
			!busy         ? "undisturbed"
			: control > 0 ? "beside its control"
				      : "beside one that spins",
			rounds_median(k ? &other->p99 : &other->p50),
			"%s; changes at the server to an honest handler, %u a second of %u pods, %u rounds, "
			"each when the attack has gone on for %u s; "
			"informerd %.1f MB of its own, %.0f descriptors, %.0f %% of a processor (undisturbed "
			"%.1f MB, %.0f, %.0f %%); the attacker %.0f %% of one%s",
			attack->what, RATE, PODS, with->p50.count, SECONDS, rounds_max(&with->bytes) / 1e6,
			rounds_max(&with->descriptors), rounds_median(&with->cpu) * 100,
			rounds_median(&f->none.bytes) / 1e6, rounds_median(&f->none.descriptors),
			rounds_median(&f->none.cpu) * 100, rounds_median(&with->attacker_cpu) * 100,
			with->missed > 0 ? "; SOME CHANGES WERE NOT TOLD ONE BY ONE" : "");
		if (attack >= &attacks[CONTROLS])
			row->target.ratio = RATIO;
	}
}

static int
begin(struct field_of_play *f)
{
	double pods = 0;
	int r = go_server_start(f->b, PODS, &f->server);

	if (r == 0 && chmod(f->b->directory, 0755) < 0) /* for the stranger */
		r = -errno;
	if (r == 0)
		r = daemon_start(f->b, "hostile", "--server", f->server.url, &f->daemon);
	if (r == 0)
		r = handler_start(f->b, f->daemon.socket, NULL, 1, &f->handler, &pods);
	return r == 0 && pods != PODS ? -EPROTO : r;
}

static void
end(struct field_of_play *f)
{
	process_end(&f->handler, SIGKILL);
	daemon_end(f->b, &f->daemon);
	go_server_end(&f->server);
}

static bool
is_named(const char *names, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
			return true;
	return false;
}

/* Whether each name between the commas is that of an attack; names the first one that is not. */
static bool
all_known(const char *names)
{
	for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',') {
		int length = (int)strcspn(at, ",");
		char name[64];
		size_t i = 0;

		snprintf(name, sizeof(name), "%.*s", length, at);
		while (i < attack_count && strcmp(attacks[i].name, name) != 0)
			i++;
		if (i < attack_count)
			continue;
		fprintf(stderr, "bench: there is no attack %s; there are:\n", name);
		for (i = CONTROLS; i < attack_count; i++)
			fprintf(stderr, "  %-20s %s\n", attacks[i].name, attacks[i].what);
		return false;
	}
	return true;
}

void
measure_hostile(struct bench *b, const char *names)
{
	struct field_of_play *f = calloc(1, sizeof(*f));
	int r;

	if (!f || attack_count > CASES_MAX)
		abort();
	f->b = b;
	fprintf(stderr, "hostile readers ...\n");
	if (!all_known(names)) {
		report_skip(b->report, "hostile", "us", "no such attack");
		free(f);
		return;
	}
	r = b->client_go ? begin(f) : -ENOENT;
	for (unsigned round = 0; r == 0 && round < (b->quick ? 1u : 5u); round++) {
		r = measure(f, 0, &f->none);
		for (size_t i = 0; r == 0 && i < attack_count; i++)
			if (i < CONTROLS || !*names || is_named(names, attacks[i].name))
				r = measure_beside(f, &attacks[i], &f->beside[i]);
	}
	for (size_t i = 0; r == 0 && i < attack_count; i++)
		if (f->beside[i].p50.count > 0 || f->beside[i].failed)
			report_beside(f, &attacks[i], &f->beside[i]);
	if (r < 0)
		report_skip(b->report, "hostile", "us", "%s",
			    b->client_go ? strerror(-r) : b->why_no_client_go);
	end(f);
	free(f);
}
