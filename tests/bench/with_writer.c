/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookups beside a writer that decodes, puts and commits 10,000 changes a second, and the slowest single
 * lookup.
 *
 * A lookup that was slow because the scheduler took its core away says nothing about us or client-go. It is
 * left out on both sides, by its thread's involuntary context switches.
 */
#include "tests/bench/bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "tests/bench/lookup_cost.h"
#include "tests/bench/processes.h"
#include "tests/bench/world.h"

#define RATE 10000u
#define TEXTS 512u
#define SLOW_NS 20000u

struct churn {
	struct world *world;
	struct bytes texts[TEXTS];
	atomic_bool end;
};

/* The changes due each millisecond are one commit, like the content of an input buffer. */
static void *
write_on(void *context)
{
	struct churn *c = context;
	uint64_t start = now_ns(), tick = start, changes = 0;

	prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
	while (!atomic_load(&c->end)) {
		uint64_t due = (now_ns() - start) / (1000000000u / RATE);
		struct timespec until;

		for (; changes < due; changes++) {
			const struct bytes *t = &c->texts[changes % TEXTS];

			world_feed(c->world, DECODE_WATCH, t->data, t->length);
		}
		world_commit(c->world);
		tick += 1000000;
		until = (struct timespec){(time_t)(tick / 1000000000u), (long)(tick % 1000000000u)};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	return NULL;
}

static long
interrupted(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nivcsw;
}

/* One round: ns a lookup, all together; then the slowest of them, each measured separately. */
static double
round_with_writer(struct churn *c, struct lookup_reader *r, const struct questions *q, size_t ops,
		  uint64_t *worst_ns)
{
	unsigned long sum = 0;
	pthread_t writer;
	size_t at = 0;
	uint64_t t;
	double ns;
	long cut;

	atomic_store(&c->end, false);
	if (pthread_create(&writer, NULL, write_on, c) != 0)
		abort();
	t = cpu_ns();
	for (size_t i = 0; i < ops; i++)
		sum += lookup_one(r, question_next(q, &at));
	ns = (double)(cpu_ns() - t) / (double)ops;
	cut = interrupted();
	for (size_t i = 0; i < ops; i++) {
		t = now_ns();
		sum += lookup_one(r, question_next(q, &at));
		t = now_ns() - t;
		if (t > SLOW_NS) {
			long now = interrupted();

			if (now == cut && t > *worst_ns)
				*worst_ns = t;
			cut = now;
		}
	}
	atomic_store(&c->end, true);
	pthread_join(writer, NULL);
	lookup_sink += sum;
	return ns;
}

void
measure_with_writer(struct bench *b, struct world *w, struct lookup_reader *reader, const struct questions *q,
		    struct process *go)
{
	struct churn *c = bench_alloc(1, sizeof(*c));
	struct rounds ours = {0}, theirs = {0};
	size_t ops = b->quick ? 1000000 : 3000000;
	double worst = 0, answer[2];
	uint64_t worst_ns = SLOW_NS;

	c->world = w;
	for (unsigned i = 0; i < TEXTS; i++)
		world_event(b, PODS_SPREAD, (size_t)i * 7919 % q->pods, q->pods, 1 + i, &c->texts[i]);
	for (unsigned i = 0; i < (b->quick ? 2u : 5u); i++) {
		rounds_add(&ours, round_with_writer(c, reader, q, ops, &worst_ns));
		if (go->pid) {
			process_ask(go, answer, 2, 120, "writer %zu %u", ops, RATE);
			rounds_add(&theirs, answer[0]);
			worst = answer[1] > worst ? answer[1] : worst;
		}
	}
	for (unsigned i = 0; i < TEXTS; i++)
		bytes_done(&c->texts[i]);
	free(c);
	report_rounds(b->report, &ours, NULL, &theirs, "get_10k_with_writer_10k_per_s");
	report_value(b->report, (double)worst_ns / 1e3, NULL, worst / 1e3, "worst_get_10k_with_writer_us");
}
