/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents with handlers, each in its own process.
 *
 *	bench handler SOCKET NAMESPACE COUNT
 *			COUNT handles with a handler for pods each ("-": of all namespaces) and their own
 *			threads; prints "ready PODS" when all have synced
 *	begin		forget what was measured; answers 0
 *	park PREFIX N	park the keys default/PREFIX-0 to -(N-1); their answers count as updates; answers 0
 *	await SECONDS N	after N updates of the first handler: how many came, p50, p99 µs from made (the
 *			server's annotation) to handler entered, when the last one came (CLOCK_REALTIME, µs),
 *			p50, p99 µs from commit to handler entered, how often it got COALESCED or RESYNC
 */
#include "tests/bench/bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/informer.h"

#define MADE_AT "metadata.annotations[\"peer.example/ts\"]"
#define TAKEN_MAX (1u << 20)

/* What the first handler, or its parked keys, received. */
struct met {
	struct informer_path *made_at;
	struct informer_handler *parking;
	_Atomic uint64_t updates, adds;
	_Atomic unsigned overflows;
	double *from_made, *from_commit; /* TAKEN_MAX each */
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
take(const struct informer_object *pod)
{
	uint64_t now = wall_ns(), n;
	struct informer_moment moment;
	const char *text;
	char number[24];
	size_t length;

	n = atomic_load_explicit(&met.updates, memory_order_relaxed);
	pthread_mutex_lock(&met.lock);
	if (n < TAKEN_MAX) {
		met.from_made[n] = met.from_commit[n] = 0;
		if (informer_get_string(pod, met.made_at, &text, &length) == 0 && length < sizeof(number)) {
			memcpy(number, text, length);
			number[length] = '\0';
			met.from_made[n] = (double)(now - strtoull(number, NULL, 10));
		}
		if (informer_snapshot_moment(pod->snapshot_, &moment) == 0 && moment.committed_wall_ns < now)
			met.from_commit[n] = (double)(now - moment.committed_wall_ns);
	}
	met.last = now;
	pthread_mutex_unlock(&met.lock);
	atomic_store_explicit(&met.updates, n + 1, memory_order_release);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *pod)
{
	(void)old;
	if (context)
		take(pod);
}

static void
on_answer(void *context, void *parked, int result, const struct informer_object *pod)
{
	(void)context;
	(void)parked;
	if (result == 0)
		take(pod);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	(void)kind;
	if (context)
		atomic_fetch_add_explicit(&met.overflows, 1, memory_order_relaxed);
}

/* In µs. */
static double
percentile(const double *sorted, uint64_t count, unsigned percent)
{
	uint64_t i = count * percent / 100;

	return count ? sorted[i < count ? i : count - 1] / 1e3 : 0;
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
	qsort(met.from_made, taken, sizeof(double), ascending_doubles);
	qsort(met.from_commit, taken, sizeof(double), ascending_doubles);
	printf("%llu %.1f %.1f %llu %.1f %.1f %u\n", (unsigned long long)count,
	       percentile(met.from_made, taken, 50), percentile(met.from_made, taken, 99),
	       (unsigned long long)(met.last / 1000), percentile(met.from_commit, taken, 50),
	       percentile(met.from_commit, taken, 99), atomic_load(&met.overflows));
	pthread_mutex_unlock(&met.lock);
}

static int
park(struct informer *inf, const char *prefix, unsigned count)
{
	struct informer_parking_options o = {
		.size = sizeof(o), .resource = "pods", .by = INFORMER_BY_KEY, .on_answer = on_answer};
	char key[80];
	int r = met.parking ? 0 : informer_add_parking(inf, &o, &met.parking);

	for (unsigned i = 0; r == 0 && i < count; i++) {
		snprintf(key, sizeof(key), "default/%s-%u", prefix, i);
		r = informer_park(met.parking, key, strlen(key), -1, NULL);
	}
	return r;
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
	struct informer **informers = bench_alloc(count, sizeof(struct informer *));
	unsigned long long wanted;
	char line[128], prefix[48];
	unsigned parked;
	int r = 0;

	met.from_made = bench_alloc(TAKEN_MAX, sizeof(double)); /* pages are allocated when written to */
	met.from_commit = bench_alloc(TAKEN_MAX, sizeof(double));
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
		else if (sscanf(line, "park %47s %u", prefix, &parked) == 2)
			printf("%d\n", park(informers[0], prefix, parked));
		else if (sscanf(line, "await %u %llu", &seconds, &wanted) == 2)
			end(wanted, seconds);
		else
			printf("0\n");
	}
	/* its threads, and the daemon's state of it, are left to the kernel: as when an agent is killed */
	return 0;
}
