/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What readers cost the writer: commits of one change each, while processes with many handlers are attached,
 * by the CPU time of the committing thread; and what a reader that was stopped costs while a million changes
 * go by.
 */
#include "tests/bench/bench.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/handler_side.h"
#include "tests/bench/world.h"

#define PODS 10000u
#define CHANGED ((size_t)512)	/* pods that change, each between … */
#define STATES ((size_t)2)	/* … so many states */
#define SLEEPERS 64u
#define PACE_US 4000L	/* between commits that are to find everybody asleep */

struct changes {
	struct world *world;
	struct bytes texts[CHANGED * STATES];
	size_t at;
	char elsewhere[96];	/* a namespace in which nothing changes */
};

static void
changes_init(struct changes *c, const struct bench *b, struct world *w)
{
	struct pod_names names;
	size_t pod = 0;

	*c = (struct changes){.world = w};
	pods_names(b->pods, PODS_SPREAD, 0, PODS, &names);
	snprintf(c->elsewhere, sizeof(c->elsewhere), "%s", names.ns);
	for (size_t i = 0; i < CHANGED; i++) {
		do {
			pod = (pod + 7919) % PODS;
			pods_names(b->pods, PODS_SPREAD, pod, PODS, &names);
		} while (strcmp(names.ns, c->elsewhere) == 0);
		for (unsigned k = 0; k < STATES; k++) {
			struct bytes *t = &c->texts[k * CHANGED + i];

			if (bytes_append(t, "{\"type\":\"MODIFIED\",\"object\":", 28) < 0)
				abort();
			pods_make(b->pods, PODS_SPREAD, pod, PODS, 1 + k, t);
			if (bytes_append(t, "}\n", 2) < 0)
				abort();
		}
	}
}

static void
changes_done(struct changes *c)
{
	for (size_t i = 0; i < CHANGED * STATES; i++)
		bytes_done(&c->texts[i]);
}

static int
change(struct changes *c)
{
	const struct bytes *t = &c->texts[c->at++ % (CHANGED * STATES)];

	return world_feed(c->world, DECODE_WATCH, (const char *)t->data, t->length);
}

static unsigned
readers(const struct world *w)
{
	struct broker_stats stats;

	broker_stats(w->broker, &stats);
	return stats.readers;
}

static uint64_t
wakeups(const struct world *w)
{
	struct broker_stats stats;

	broker_stats(w->broker, &stats);
	return stats.wakeups;
}

/* Serve until the process has spoken. */
static int
crowd_start(const struct bench *b, struct world *w, const char *ns, unsigned count, struct process *p)
{
	struct pollfd fd = {.events = POLLIN};
	uint64_t end = now_ns() + 60000000000u;
	double pods;
	int r = handler_spawn(b, w->socket, ns, count, p);

	if (r < 0)
		return r;
	fd.fd = fileno(p->out);
	while (poll(&fd, 1, 1) == 0 && now_ns() < end)
		world_turn(w);
	return handler_ready(p, &pods);
}

static void
crowd_end(struct world *w, struct process *p)
{
	process_end(p, SIGKILL);
	for (uint64_t end = now_ns() + 5000000000u; readers(w) > 0 && now_ns() < end;) {
		world_turn(w);
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
}

/* CPU of a commit of one change, µs. pause_us: between them, so that who was woken sleeps again. */
static int
commits(struct changes *c, unsigned count, long pause_us, double *ret_us)
{
	uint64_t spent = 0, t;

	for (unsigned i = 0; i < count; i++) {
		int r = change(c);

		if (pause_us)
			nanosleep(&(struct timespec){0, pause_us * 1000}, NULL);
		t = cpu_ns();
		if (r == 0)
			r = world_commit(c->world);
		spent += cpu_ns() - t;
		if (r < 0)
			return r;
	}
	*ret_us = (double)spent / 1e3 / count;
	return 0;
}

/* ---- commits beside readers ---- */

static const struct {
	unsigned readers;
	bool elsewhere;
} crowds[] = {{0, false}, {64, true}, {1, false}, {8, false}, {64, false}};
#define CROWDS (sizeof(crowds) / sizeof(crowds[0]))
#define ELSEWHERE 1u
#define ALL 4u

struct beside {
	struct rounds busy[CROWDS], paced[CROWDS], woken[CROWDS];
};

static int
round_beside(const struct bench *b, struct changes *c, size_t i, struct beside *ret)
{
	unsigned count = i <= ELSEWHERE ? 10000 : 2000, paced = b->quick ? 100 : 200;
	struct process crowd = {0};
	uint64_t before;
	double us;
	int r = 0;

	if (crowds[i].readers)
		r = crowd_start(b, c->world, crowds[i].elsewhere ? c->elsewhere : NULL, crowds[i].readers,
				&crowd);
	if (r == 0)
		r = commits(c, count / 4, 0, &us);
	if (r == 0)
		r = commits(c, count, 0, &us);
	if (r == 0)
		rounds_add(&ret->busy[i], us);
	if (r == 0 && (i == 0 || i == ALL)) {
		nanosleep(&(struct timespec){0, 100000000}, NULL);
		before = wakeups(c->world);
		r = commits(c, paced, PACE_US, &us);
		if (r == 0) {
			rounds_add(&ret->paced[i], us);
			rounds_add(&ret->woken[i], (double)(wakeups(c->world) - before) / paced);
		}
	}
	crowd_end(c->world, &crowd);
	return r;
}

/* write() to an eventfd on which nobody sleeps, ns. */
static double
eventfd_write_ns(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct rounds ns = {0};

	for (unsigned k = 0; k < 15; k++) {
		uint64_t t = cpu_ns();

		for (unsigned i = 0; i < 1000; i++)
			eventfd_write(fd, 1);
		rounds_add(&ns, (double)(cpu_ns() - t) / 1000);
	}
	close(fd);
	return rounds_median(&ns);
}

static void *
sleep_on(void *context)
{
	eventfd_t value = 0;

	while (eventfd_read(*(const int *)context, &value) == 0 && value < 1000)
		;
	return NULL;
}

/* The same to eventfds on each of which a thread sleeps. */
static double
eventfd_wake_ns(void)
{
	int fds[SLEEPERS];
	pthread_t threads[SLEEPERS];
	struct rounds ns = {0};

	for (unsigned i = 0; i < SLEEPERS; i++) {
		fds[i] = eventfd(0, EFD_CLOEXEC);
		if (fds[i] < 0 || pthread_create(&threads[i], NULL, sleep_on, &fds[i]) != 0)
			abort();
	}
	for (unsigned k = 0; k < 31; k++) {
		uint64_t t;

		nanosleep(&(struct timespec){0, PACE_US * 1000}, NULL);
		t = cpu_ns();
		for (unsigned i = 0; i < SLEEPERS; i++)
			eventfd_write(fds[i], 1);
		rounds_add(&ns, (double)(cpu_ns() - t) / SLEEPERS);
	}
	for (unsigned i = 0; i < SLEEPERS; i++) {
		eventfd_write(fds[i], 1000);
		pthread_join(threads[i], NULL);
		close(fds[i]);
	}
	return rounds_median(&ns);
}

static void
report_beside(struct bench *b, const struct beside *m)
{
	double write_ns = eventfd_write_ns(), wake_ns = eventfd_wake_ns();
	struct row *row;
	char name[48];

	for (size_t i = 0; i < CROWDS; i++) {
		if (crowds[i].elsewhere)
			continue;
		snprintf(name, sizeof(name), "commit_%u_readers", crowds[i].readers);
		report_add(b->report, name, "us", rounds_median(&m->busy[i]), NULL, 0,
			   "CPU of a commit of one change (not its decoding), one right after the other, %u "
			   "readers with a handler for all pods; "
			   "%u pods; %u rounds, %.1f–%.1f",
			   crowds[i].readers, PODS, m->busy[i].count, rounds_min(&m->busy[i]),
			   rounds_max(&m->busy[i]));
	}
	row = report_add(b->report, "commit_64_other_namespace", "x",
			 rounds_median(&m->busy[ELSEWHERE]) / rounds_median(&m->busy[0]), NULL, 0,
			 "the same with 64 readers that asked for a namespace in which nothing changes, over "
			 "that with none: %.2f µs over %.2f; "
			 "%u rounds in turn, %.2f–%.2f over %.2f–%.2f",
			 rounds_median(&m->busy[ELSEWHERE]), rounds_median(&m->busy[0]), m->busy[0].count,
			 rounds_min(&m->busy[ELSEWHERE]), rounds_max(&m->busy[ELSEWHERE]),
			 rounds_min(&m->busy[0]), rounds_max(&m->busy[0]));
	row->target.value = 1.1;
	report_add(b->report, "wake_64_cpu_per_event_us", "us", rounds_median(&m->paced[ALL]), NULL, 0,
		   "CPU of a commit of one change every 4 ms that finds 64 readers asleep and wakes %.1f of "
		   "them; without readers %.1f; 64 write()s to "
		   "eventfds take %.1f µs here (%.0f ns each), and %.1f µs when a thread sleeps on each "
		   "(%.0f ns)",
		   rounds_median(&m->woken[ALL]), rounds_median(&m->paced[0]), write_ns * SLEEPERS / 1e3,
		   write_ns, wake_ns * SLEEPERS / 1e3, wake_ns);
}

static int
measure_beside(struct bench *b, struct changes *c)
{
	struct beside *m = calloc(1, sizeof(*m));
	int r = m ? 0 : -1;

	for (unsigned round = 0; r == 0 && round < (b->quick ? 2u : 3u); round++)
		for (size_t i = 0; r == 0 && i < CROWDS; i++)
			r = round_beside(b, c, i, m);
	if (r == 0)
		report_beside(b, m);
	free(m);
	return r;
}

/* ---- a stopped reader ---- */

static int
run_many(struct changes *c, size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = change(c);	/* commits each WORLD_BATCH */
	return r < 0 ? r : world_commit(c->world);
}

static int
measure_stopped(struct bench *b, struct changes *c)
{
	size_t count = b->quick ? 200000 : 1000000;
	struct process reader;
	struct store_stats before, after;
	struct handled h = {0};
	int64_t was, is;
	struct row *row;
	int status, r = crowd_start(b, c->world, NULL, 1, &reader);

	if (r == 0)
		r = handler_begin(&reader);
	if (r < 0)
		return r;
	kill(reader.pid, SIGSTOP);
	waitpid(reader.pid, &status, WUNTRACED);
	was = process_mapped(reader.pid, "Anonymous:", "/arena.");
	store_stats(c->world->store, &before);
	r = run_many(c, count);
	store_stats(c->world->store, &after);
	is = process_mapped(reader.pid, "Anonymous:", "/arena.");
	kill(reader.pid, SIGCONT);
	if (r == 0)
		r = handler_end(&reader, CHANGED, 20, &h);
	crowd_end(c->world, &reader);
	if (r < 0)
		return r;
	row = report_add(b->report, "stopped_reader_bytes", "bytes", is > was ? (double)(is - was) : 0, NULL,
			 0,
			 "what a reader's private memory grew by (from %.0f KiB) while it was stopped and "
			 "%zu changes went by; then it was told %.0f "
			 "events, %s",
			 (double)was / 1024, count, h.count, h.overflows > 0 ? "COALESCED" : "NOT COALESCED");
	row->target.value = 4096;
	row = report_add(
		b->report, "stopped_reader_arena_bytes", "bytes",
		after.arena_bytes > before.arena_bytes ? (double)(after.arena_bytes - before.arena_bytes) : 0,
		NULL, 0,
		"what the arena grew by meanwhile (from %.1f MiB); a queue may hold back 32 MiB, and "
		"overflows at 4,096 entries",
		(double)before.arena_bytes / (1 << 20));
	row->target.value = 32 << 20;
	return 0;
}

void
measure_fan_out(struct bench *b)
{
	struct world *w = world_new(b);
	struct changes *c = calloc(1, sizeof(*c));
	int r = w && c ? 0 : -1;

	fprintf(stderr, "readers ...\n");
	if (r == 0)
		r = world_load(w, b, PODS_SPREAD, PODS);
	if (r == 0)
		r = world_serve_events(w);
	if (r == 0) {
		changes_init(c, b, w);
		if (measure_beside(b, c) < 0)
			report_skip(b->report, "commit_64_other_namespace", "x",
				    "readers, or the store, failed");
		if (measure_stopped(b, c) < 0)
			report_skip(b->report, "stopped_reader_bytes", "bytes",
				    "the reader, or the store, failed");
		changes_done(c);
	} else {
		report_skip(b->report, "commit_64_other_namespace", "x", "no store: %d", r);
		report_skip(b->report, "stopped_reader_bytes", "bytes", "no store: %d", r);
	}
	world_free(w);
	free(c);
}
