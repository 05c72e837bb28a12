/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookups beside a writer that decodes, puts and commits 10,000 changes a second; and the slowest single
 * lookup.
 *
 * A lookup that was slow because the scheduler took its core away says nothing about us or about client-go:
 * it is left out on both sides, and counted. Its thread's involuntary context switches tell.
 */
#include "tests/bench/bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "tests/bench/lookup_cost.h"
#include "tests/bench/child_process.h"
#include "tests/bench/world.h"

#define RATE 10000u
#define TEXTS 512u
#define SLOW_NS 20000u

struct churn {
	struct world *world;
	struct bytes texts[TEXTS];
	atomic_bool end;
	uint64_t changes, commits;
	double seconds;
	int result;
};

static void
make_texts(struct churn *c, const struct bench *b, size_t total)
{
	for (unsigned i = 0; i < TEXTS; i++) {
		struct bytes *t = &c->texts[i];

		if (bytes_append(t, "{\"type\":\"MODIFIED\",\"object\":", 28) < 0)
			abort();
		pods_make(b->pods, PODS_SPREAD, (size_t)i * 7919 % total, total, 1 + i, t);
		if (bytes_append(t, "}\n", 2) < 0)
			abort();
	}
}

/* What is due each millisecond is one commit, as what an input buffer held is. */
static void *
write_on(void *context)
{
	struct churn *c = context;
	uint64_t start = now_ns(), tick = start;

	prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
	while (!atomic_load(&c->end) && c->result == 0) {
		uint64_t due = (now_ns() - start) / (1000000000u / RATE);
		struct timespec until;

		for (; c->result == 0 && c->changes < due; c->changes++) {
			const struct bytes *t = &c->texts[c->changes % TEXTS];

			c->result = world_feed(c->world, DECODE_WATCH, (const char *)t->data, t->length);
		}
		if (c->result == 0)
			c->result = world_commit(c->world);
		c->commits++;
		tick += 1000000;
		until = (struct timespec){(time_t)(tick / 1000000000u), (long)(tick % 1000000000u)};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	c->seconds = (double)(now_ns() - start) / 1e9;
	return NULL;
}

static long
interrupted(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nivcsw;
}

struct singles {
	uint64_t worst_ns;
	double p9999_ns;
	unsigned long left_out, missed;
};

static int
ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* One round: ns a lookup, all together; then each by itself. */
static double
round_with_writer(struct churn *c, struct lookup_reader *r, const struct questions *q, size_t ops,
		  struct singles *ret)
{
	uint32_t *took = malloc(ops * sizeof(*took));
	unsigned long sum = 0;
	pthread_t writer;
	size_t k = 0, n = 0;
	uint64_t t;
	double ns;
	long cut;

	if (!took)
		abort();
	atomic_store(&c->end, false);
	c->changes = c->commits = 0;
	if (pthread_create(&writer, NULL, write_on, c) != 0)
		abort();
	t = cpu_ns();
	for (size_t i = 0; i < ops; i++) {
		unsigned read = lookup_one(r, &q->keys[k]);

		ret->missed += read == 0;
		sum += read;
		k = k + 1 < q->count ? k + 1 : 0;
	}
	ns = (double)(cpu_ns() - t) / (double)ops;
	cut = interrupted();
	for (size_t i = 0; i < ops; i++) {
		unsigned read;

		t = now_ns();
		read = lookup_one(r, &q->keys[k]);
		t = now_ns() - t;
		ret->missed += read == 0;
		sum += read;
		k = k + 1 < q->count ? k + 1 : 0;
		if (t > SLOW_NS) {
			long now = interrupted();

			if (now != cut) {
				cut = now;
				ret->left_out++;
				continue;
			}
		}
		took[n++] = t < UINT32_MAX ? (uint32_t)t : UINT32_MAX;
	}
	atomic_store(&c->end, true);
	pthread_join(writer, NULL);
	lookup_sink += sum;
	qsort(took, n, sizeof(*took), ascending);
	if (n > 0) {
		double p = took[(size_t)((double)n * 0.9999)];

		ret->worst_ns = took[n - 1] > ret->worst_ns ? took[n - 1] : ret->worst_ns;
		ret->p9999_ns = p > ret->p9999_ns ? p : ret->p9999_ns;
	}
	free(took);
	return ns;
}

void
measure_with_writer(struct bench *b, struct world *w, struct lookup_reader *reader, const struct questions *q,
		    struct process *go, double idle_ns)
{
	struct churn *c = calloc(1, sizeof(*c));
	struct rounds ours = {0}, theirs = {0}, rate = {0}, go_rate = {0};
	struct singles singles = {0};
	double worst = 0, answer[5], p9999 = 0;
	unsigned long left_out = 0;
	size_t ops = b->quick ? 1000000 : 3000000;
	char question[64];
	struct row *row;

	if (!c)
		abort();
	c->world = w;
	make_texts(c, b, q->pods);
	snprintf(question, sizeof(question), "writer %zu %u", ops, RATE);
	for (unsigned i = 0; i < (b->quick ? 2u : 5u) && c->result == 0; i++) {
		rounds_add(&ours, round_with_writer(c, reader, q, ops, &singles));
		rounds_add(&rate, (double)c->changes / c->seconds);
		if (go && process_ask(go, question, answer, 5, 120) == 0) {
			rounds_add(&theirs, answer[0]);
			worst = answer[1] > worst ? answer[1] : worst;
			p9999 = answer[2] > p9999 ? answer[2] : p9999;
			rounds_add(&go_rate, answer[3]);
			left_out += (unsigned long)answer[4];
		}
	}
	for (unsigned i = 0; i < TEXTS; i++)
		bytes_done(&c->texts[i]);
	if (c->result < 0) {
		report_skip(b->report, "get_10k_with_writer_10k_per_s", "ns", "the writer failed: %d",
			    c->result);
		free(c);
		return;
	}
	report_add(b->report, "get_10k_with_writer_10k_per_s", "ns", rounds_median(&ours),
		   theirs.count ? "client-go GetByKey" : NULL, rounds_median(&theirs),
		   "a writer decodes and commits %.0f changes/s in a commit each ms (client-go: %.0f/s, "
		   "decoded from protobuf); idle "
		   "%.0f; %u rounds, ours %.0f–%.0f, client-go %.0f–%.0f; %lu lookups failed",
		   rounds_median(&rate), rounds_median(&go_rate), idle_ns, ours.count, rounds_min(&ours),
		   rounds_max(&ours), rounds_min(&theirs), rounds_max(&theirs), singles.missed);
	row = report_add(b->report, "worst_get_10k_with_writer_us", "us", (double)singles.worst_ns / 1e3,
			 theirs.count ? "client-go GetByKey" : NULL, worst / 1e3,
			 "slowest of %.0fM lookups timed one by one beside that writer; p99.99: ours %.1f "
			 "µs, client-go %.1f µs; left out, "
			 "as the scheduler had taken their core: ours %lu, client-go %lu",
			 (double)ops * ours.count / 1e6, singles.p9999_ns / 1e3, p9999 / 1e3,
			 singles.left_out, left_out);
	row->target = (struct target){.value = 1000};
	free(c);
}
