/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents with handlers, each in a process of its own.
 *
 *	bench handler SOCKET NAMESPACE COUNT
 *			COUNT handles with a handler for pods each ("-": of all namespaces) and threads of
 *			their own; prints "ready PODS" when all have synced
 *	begin		forget what was measured; answers 0
 *	end N SECONDS	when N updates came to the first handler: how many came, p50, p99 ns from made (the
 *			server's annotation) to handler entered, p50, p99 ns from commit to handler entered,
 *			when the last one came (CLOCK_REALTIME, µs), how often it was told COALESCED or RESYNC
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/informer.h"
#include "tests/bench/handler_side.h"

#define MADE_AT "metadata.annotations[\"peer.example/ts\"]"
#define TAKEN_MAX (1u << 20)

/* What the first handler met. */
struct met {
	struct informer_path *made_at;
	_Atomic uint64_t updates, adds;
	_Atomic unsigned overflows;
	uint64_t *from_made, *from_commit;	/* TAKEN_MAX each */
	uint64_t last;
	pthread_mutex_t lock;
};

static struct met met = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void
on_add(void *context, const struct informer_object *pod, bool is_initial)
{
	(void)pod;
	(void)is_initial;
	if (context)
		atomic_fetch_add_explicit(&met.adds, 1, memory_order_relaxed);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *pod)
{
	uint64_t now = wall_ns(), n;
	struct informer_moment moment;
	const char *text;
	char number[24];
	size_t length;

	(void)old;
	if (!context)
		return;
	n = atomic_load_explicit(&met.updates, memory_order_relaxed);
	pthread_mutex_lock(&met.lock);
	if (n < TAKEN_MAX) {
		met.from_made[n] = met.from_commit[n] = 0;
		if (informer_get_string(pod, met.made_at, &text, &length) == 0 && length < sizeof(number)) {
			memcpy(number, text, length);
			number[length] = '\0';
			met.from_made[n] = now - strtoull(number, NULL, 10);
		}
		if (informer_snapshot_moment(pod->snapshot_, &moment) == 0 && moment.committed_wall_ns < now)
			met.from_commit[n] = now - moment.committed_wall_ns;
	}
	met.last = now;
	pthread_mutex_unlock(&met.lock);
	atomic_store_explicit(&met.updates, n + 1, memory_order_release);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	(void)kind;
	if (context)
		atomic_fetch_add_explicit(&met.overflows, 1, memory_order_relaxed);
}

static int
ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t
percentile(const uint64_t *sorted, uint64_t count, unsigned percent)
{
	return count ? sorted[count * percent / 100 < count ? count * percent / 100 : count - 1] : 0;
}

static void
begin(void)
{
	pthread_mutex_lock(&met.lock);
	atomic_store(&met.updates, 0);
	atomic_store(&met.overflows, 0);
	pthread_mutex_unlock(&met.lock);
	printf("0\n");
}

static void
end(uint64_t wanted, unsigned seconds)
{
	uint64_t until = now_ns() + (uint64_t)seconds * 1000000000u, count, taken;

	while (atomic_load_explicit(&met.updates, memory_order_acquire) < wanted && now_ns() < until)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	pthread_mutex_lock(&met.lock);
	count = atomic_load_explicit(&met.updates, memory_order_acquire);
	taken = count < TAKEN_MAX ? count : TAKEN_MAX;
	qsort(met.from_made, taken, sizeof(uint64_t), ascending);
	qsort(met.from_commit, taken, sizeof(uint64_t), ascending);
	printf("%llu %llu %llu %llu %llu %llu %u\n", (unsigned long long)count,
	       (unsigned long long)percentile(met.from_made, taken, 50),
	       (unsigned long long)percentile(met.from_made, taken, 99),
	       (unsigned long long)percentile(met.from_commit, taken, 50),
	       (unsigned long long)percentile(met.from_commit, taken, 99),
	       (unsigned long long)(met.last / 1000), atomic_load(&met.overflows));
	pthread_mutex_unlock(&met.lock);
}

static int
start(const char *socket, const char *ns, struct informer **ret_inf, bool first)
{
	struct informer_options options = {
		.size = sizeof(options), .socket_path = socket, .reader_name = "bench"};
	struct informer_handler_options handler = {
		.size = sizeof(handler),
		.resource = "pods",
		.namespace_ = strcmp(ns, "-") == 0 ? NULL : ns,
		.context = first ? &met : NULL,
		.on_add = on_add,
		.on_update = on_update,
		.on_overflow = on_overflow,
	};
	int r = informer_attach(&options, ret_inf);

	if (r == 0 && first)
		r = informer_path_compile(*ret_inf, MADE_AT, strlen(MADE_AT), &met.made_at);
	if (r == 0)
		r = informer_add_handler(*ret_inf, &handler, NULL);
	if (r == 0)
		r = informer_run(*ret_inf);
	if (r == 0)
		r = informer_wait_handler_synced(*ret_inf, NULL, 30000);
	return r;
}

int
handler_main(int argc, char **argv)
{
	unsigned count = argc > 4 ? (unsigned)atoi(argv[4]) : 0, seconds;
	struct informer **informers = calloc(count + 1u, sizeof(struct informer *));
	unsigned long long wanted;
	char line[128];
	int r = 0;

	met.from_made = calloc(TAKEN_MAX, sizeof(uint64_t));	/* pages come as they are written to */
	met.from_commit = calloc(TAKEN_MAX, sizeof(uint64_t));
	if (argc < 5 || !informers || !met.from_made || !met.from_commit)
		return 1;
	for (unsigned i = 0; r == 0 && i < count; i++)
		r = start(argv[2], argv[3], &informers[i], i == 0);
	if (r < 0) {
		fprintf(stderr, "bench: a reader with a handler: %s\n", informer_strerror(r));
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready %llu\n", (unsigned long long)atomic_load(&met.adds));
	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "begin", 5) == 0)
			begin();
		else if (sscanf(line, "end %llu %u", &wanted, &seconds) == 2)
			end(wanted, seconds);
		else
			printf("0\n");
	}
	/* its threads, and the daemon's books, are left to the kernel: as when an agent is killed */
	return 0;
}

/* ---- the bench's side ---- */

int
handler_spawn(const struct bench *b, const char *socket, const char *ns, unsigned count, struct process *p)
{
	char number[16];
	const char *argv[] = {b->self, "handler", socket, ns ? ns : "-", number, NULL};

	snprintf(number, sizeof(number), "%u", count);
	return process_start(p, argv, NULL, NULL);
}

int
handler_ready(struct process *p, double *ret_pods)
{
	char line[128];
	int r = process_line(p, line, sizeof(line), 60);

	if (r == 0 && sscanf(line, "ready %lf", ret_pods) != 1)
		r = -EPROTO;
	if (r < 0)
		process_end(p, SIGKILL);
	return r;
}

int
handler_start(const struct bench *b, const char *socket, const char *ns, unsigned count, struct process *p,
	      double *ret_pods)
{
	int r = handler_spawn(b, socket, ns, count, p);

	return r < 0 ? r : handler_ready(p, ret_pods);
}

int
handler_begin(struct process *p)
{
	double answer;

	return process_ask(p, "begin", &answer, 1, 10);
}

int
handler_end(struct process *p, size_t wanted, unsigned seconds, struct handled *ret)
{
	char question[64];
	double answer[7];
	int r;

	snprintf(question, sizeof(question), "end %zu %u", wanted, seconds);
	r = process_ask(p, question, answer, 7, (int)seconds + 10);
	if (r == 0)
		*ret = (struct handled){answer[0],       answer[1] / 1e3, answer[2] / 1e3, answer[3] / 1e3,
					answer[4] / 1e3, answer[5],       answer[6]};
	return r;
}
