/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency and throughput from a change at the server to a reader's handler: the real daemon beside
 * client-go's informer, which watches protobuf. Each has its own server, of one program. Rounds alternate.
 */
#include "tests/bench/bench.h"

#include <signal.h>

#include "tests/bench/servers.h"

static const struct {
	unsigned rate, seconds, quick_seconds;
} rates[] = {{100, 3, 2}, {1000, 3, 1}, {5000, 2, 1}, {20000, 2, 1}, {0, 0, 0}};
#define LATENCIES 3u /* rates at which latency is reported */
#define SUSTAINED 3u
#define CLOSED_LOOP 4u

/* Of one rate. cpu_us: an event */
struct figures {
	struct rounds p50, p99, per_second, cpu_us, commit_p50;
};

static size_t
events_of(const struct bench *b, size_t i)
{
	if (rates[i].rate == 0)
		return b->quick ? 20000 : 40000;
	return (size_t)rates[i].rate * (b->quick ? rates[i].quick_seconds : rates[i].seconds);
}

/* Where 20,000 a second are asked for, a round counts if each event was delivered separately. */
static void
round_ours(struct crowd *c, size_t i, struct figures *f)
{
	size_t n = events_of(c->b, i);
	double cpu = process_cpu_us(c->daemon.process.pid), start = (double)wall_ns() / 1e3;
	struct told told = crowd_changes(c, rates[i].rate, n, "");

	rounds_add(&f->cpu_us, (process_cpu_us(c->daemon.process.pid) - cpu) / (double)n);
	if (told.overflows > 0) {
		fprintf(stderr, "  events were not told one by one at %u a second\n", rates[i].rate);
		if (i == SUSTAINED)
			return;
	}
	rounds_add(&f->p50, told.p50);
	rounds_add(&f->p99, told.p99);
	rounds_add(&f->commit_p50, told.commit_p50);
	rounds_add(&f->per_second, (double)n / (told.last_us - start) * 1e6);
}

static void
round_go(struct process *go, const struct bench *b, size_t i, struct figures *f)
{
	double answer[5];

	process_ask(go, answer, 5, 120, "run %u %zu", rates[i].rate, events_of(b, i));
	rounds_add(&f->p50, answer[1]);
	rounds_add(&f->p99, answer[2]);
	rounds_add(&f->per_second, answer[3]);
	rounds_add(&f->cpu_us, answer[4]);
}

void
measure_events(struct bench *b, size_t n)
{
	struct figures ours[COUNT(rates)] = {0}, theirs[COUNT(rates)] = {0};
	const struct figures *most = &ours[CLOSED_LOOP], *their_most = &theirs[CLOSED_LOOP];
	struct server our_server, their_server;
	struct process go;
	struct crowd crowd;

	bench_need_client_go(b);
	bench_need_memory(4.0 * (1 << 30));
	our_server = go_server_start(b, n);
	their_server = go_server_start(b, n);
	crowd_start(&crowd, b, &our_server, OURS, 1);
	go = go_informer_start(b, &their_server, STREAM);
	process_ask(&go, &b->report->client_go_pss, 1, 10, "pss");
	for (unsigned round = 0; round < (b->quick ? 2u : 3u); round++)
		for (size_t i = 0; i < COUNT(rates); i++) {
			round_ours(&crowd, i, &ours[i]);
			if (i != SUSTAINED)
				round_go(&go, b, i, &theirs[i]);
		}
	for (size_t i = 0; i < LATENCIES; i++) {
		report_rounds(b->report, &ours[i].p50, NULL, &theirs[i].p50, "event_latency_%u_p50_us",
			      rates[i].rate);
		report_rounds(b->report, &ours[i].p99, NULL, &theirs[i].p99, "event_latency_%u_p99_us",
			      rates[i].rate);
	}
	for (size_t i = 0; i < 2; i++)
		report_rounds(b->report, &ours[i].commit_p50, NULL, NULL, "commit_to_handler_%u_p50_us",
			      rates[i].rate);
	report_rounds(b->report, &ours[SUSTAINED].per_second, NULL, &their_most->per_second,
		      "events_sustained");
	report_rounds(b->report, &most->per_second, NULL, &their_most->per_second, "events_closed_loop");
	report_rounds(b->report, &most->cpu_us, NULL, &their_most->cpu_us, "writer_cpu_per_event_us");
	process_end(&go, SIGKILL);
	crowd_end(&crowd);
	server_end(&our_server);
	server_end(&their_server);
}
