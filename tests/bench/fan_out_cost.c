/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What readers cost the writer: CPU time of the committing thread for commits of one change, while processes
 * with many handlers are attached.
 */
#include "tests/bench/bench.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/servers.h"
#include "tests/bench/world.h"

#define PODS 10000u
#define CHANGED ((size_t)512)	/* pods that change, each between … */
#define STATES ((size_t)2)	/* … so many states */
#define WOKEN 64u
#define PACE_MS 4L /* between commits that find every reader asleep */

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
		for (unsigned k = 0; k < STATES; k++)
			world_event(b, PODS_SPREAD, pod, PODS, 1 + k, &c->texts[k * CHANGED + i]);
	}
}

static void
change(struct changes *c)
{
	const struct bytes *t = &c->texts[c->at++ % (CHANGED * STATES)];

	world_feed(c->world, DECODE_WATCH, t->data, t->length);
}

/* Serve until the process has synced. */
static struct process
readers_start(const struct bench *b, struct world *w, const char *ns, unsigned count)
{
	struct process p = handler_spawn(b, w->socket, ns, count);
	struct pollfd fd = {fileno(p.out), POLLIN, 0};
	uint64_t end = now_ns() + 60000000000u;

	while (poll(&fd, 1, 1) == 0 && now_ns() < end)
		world_turn(w);
	handler_ready(&p);
	return p;
}

static unsigned
readers(const struct world *w)
{
	struct broker_stats stats;

	broker_stats(w->broker, &stats);
	return stats.readers;
}

static void
readers_end(struct world *w, struct process *p)
{
	process_end(p, SIGKILL);
	for (uint64_t end = now_ns() + 5000000000u; readers(w) > 0 && now_ns() < end;) {
		world_turn(w);
		sleep_ms(1);
	}
}

/* CPU of a commit of one change, µs. pause_ms: between commits, so that woken readers sleep again. */
static double
commits(struct changes *c, unsigned count, long pause_ms)
{
	uint64_t spent = 0, t;

	for (unsigned i = 0; i < count; i++) {
		change(c);
		if (pause_ms)
			sleep_ms(pause_ms);
		t = cpu_ns();
		world_commit(c->world);
		spent += cpu_ns() - t;
	}
	return (double)spent / 1e3 / count;
}

/* ---- the kernel's share ---- */

static void *
sleep_on(void *fd)
{
	struct pollfd p = {*(int *)fd, POLLIN, 0};
	uint64_t count;

	while (poll(&p, 1, -1) > 0 && read(p.fd, &count, sizeof(count)) > 0)
		;
	return NULL;
}

/* CPU of waking so many threads of another process, each by an eventfd, µs: no commit takes less. */
static double
wakes_alone(unsigned times)
{
	int fds[WOKEN];
	uint64_t spent = 0, t;
	pthread_t thread;
	pid_t pid;

	for (unsigned i = 0; i < WOKEN; i++)
		fds[i] = eventfd(0, 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned i = 0; i < WOKEN; i++)
			pthread_create(&thread, NULL, sleep_on, &fds[i]);
		for (;;)
			pause();
	}
	sleep_ms(100);
	for (unsigned i = 0; i < times; i++) {
		sleep_ms(PACE_MS);
		t = cpu_ns();
		for (unsigned k = 0; k < WOKEN; k++)
			if (eventfd_write(fds[k], 1) < 0)
				bench_fail("eventfd: %m");
		spent += cpu_ns() - t;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (unsigned i = 0; i < WOKEN; i++)
		close(fds[i]);
	return (double)spent / 1e3 / times;
}

/* ---- commits beside readers ---- */

static const struct {
	unsigned readers;
	bool elsewhere;
} crowds[] = {{0, false}, {64, true}, {1, false}, {8, false}, {64, false}};
#define ELSEWHERE 1u
#define ALL 4u

static void
measure_beside(struct bench *b, struct changes *c)
{
	struct rounds busy[COUNT(crowds)] = {0}, paced = {0}, alone = {0};

	for (unsigned round = 0; round < (b->quick ? 2u : 3u); round++)
		for (size_t i = 0; i < COUNT(crowds); i++) {
			unsigned count = i <= ELSEWHERE ? 10000 : 2000;
			struct process crowd = {0};

			if (crowds[i].readers)
				crowd = readers_start(b, c->world, crowds[i].elsewhere ? c->elsewhere : NULL,
						      crowds[i].readers);
			commits(c, count / 4, 0);
			rounds_add(&busy[i], commits(c, count, 0));
			if (i == ALL) {
				sleep_ms(100);
				rounds_add(&paced, commits(c, b->quick ? 100 : 200, PACE_MS));
			}
			readers_end(c->world, &crowd);
			if (i == ALL)
				rounds_add(&alone, wakes_alone(b->quick ? 100 : 200));
		}
	for (size_t i = 0; i < COUNT(crowds); i++)
		if (!crowds[i].elsewhere)
			report_rounds(b->report, &busy[i], NULL, NULL, "commit_%u_readers",
				      crowds[i].readers);
	report_value(b->report, rounds_median(&busy[ELSEWHERE]) / rounds_median(&busy[0]), NULL, 0,
		     "commit_64_other_namespace");
	report_rounds(b->report, &paced, NULL, &alone, "wake_64_cpu_per_event_us");
}

void
measure_fan_out(struct bench *b, size_t n)
{
	struct world *w = world_new(b);
	struct changes *c = bench_alloc(1, sizeof(*c));

	world_load(w, b, PODS_SPREAD, n);
	world_serve_events(w);
	changes_init(c, b, w);
	measure_beside(b, c);
	for (size_t i = 0; i < CHANGED * STATES; i++)
		bytes_done(&c->texts[i]);
	world_free(w);
	free(c);
}
