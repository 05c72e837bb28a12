/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a change at the server to a handler in a reader, and how many of them a second: the real daemon
 * beside client-go's informer, which watches protobuf. Each has a server of its own, of one
 * program; rounds are taken in turn.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/client_go.h"
#include "tests/bench/daemon_side.h"
#include "tests/bench/handler_side.h"

#define PODS 10000u

/* p50, p99 of each rate; of the closed loop events a second and CPU. */
struct figures {
	struct rounds p50, p99, per_second, cpu_us;
};

static const struct {
	unsigned rate, seconds, quick_seconds;
	const char *label;
} rates[] = {{100, 3, 2, "100"},
	     {1000, 3, 1, "1000"},
	     {5000, 2, 1, "5000"},
	     {20000, 2, 1, "20000"},
	     {0, 0, 0, "0"}};
#define RATES (sizeof(rates) / sizeof(rates[0]))
#define LATENCIES 3u	/* rates at which latency is reported */
#define SUSTAINED 3u
#define CLOSED_LOOP 4u

struct sides {
	struct bench *b;
	struct go_server our_server, their_server;
	struct process theirs, handler;
	struct daemon daemon;
	struct figures ours[RATES], go[RATES];
	struct rounds commit_p50[RATES], commit_p99[RATES];
	struct rounds reader_us;	/* CPU of the reader an event, in the closed loop */
	unsigned coalesced[RATES];	/* rounds in which not every event was told */
};

static int
open_sides(struct sides *s)
{
	double pods = 0;
	int r = go_server_start(s->b, PODS, &s->our_server);

	if (r == 0)
		r = go_server_start(s->b, PODS, &s->their_server);
	if (r == 0)
		r = daemon_start(s->b, "events", "--server", s->our_server.url, &s->daemon);
	if (r == 0)
		r = handler_start(s->b, s->daemon.socket, NULL, 1, &s->handler, &pods);
	if (r == 0 && pods != PODS)
		r = -EPROTO;
	if (r == 0)
		r = go_informer_start(s->b, "-server", s->their_server.url, 0, &s->theirs, &pods);
	if (r == 0 && pods != PODS)
		r = -EPROTO;
	if (r == 0)
		r = process_ask(&s->theirs, "pss", &s->b->client_go_pss, 1, 10);
	return r;
}

static void
close_sides(struct sides *s)
{
	process_end(&s->handler, SIGKILL);
	process_end(&s->theirs, SIGKILL);
	daemon_end(s->b, &s->daemon);
	go_server_end(&s->our_server);
	go_server_end(&s->their_server);
}

static size_t
events_of(const struct bench *b, size_t i)
{
	if (rates[i].rate == 0)
		return b->quick ? 20000 : 40000;
	return (size_t)rates[i].rate * (b->quick ? rates[i].quick_seconds : rates[i].seconds);
}

static int
round_ours(struct sides *s, size_t i)
{
	size_t n = events_of(s->b, i);
	struct handled h = {0};
	double cpu, reader, start;
	int r = handler_begin(&s->handler);

	cpu = process_cpu_us(s->daemon.process.pid);
	reader = process_cpu_us(s->handler.pid);
	start = (double)wall_ns() / 1e3;
	if (r == 0)
		r = go_server_change(&s->our_server, rates[i].rate, n);
	if (r == 0)
		r = handler_end(&s->handler, n, 20, &h);
	if (r < 0)
		return r;
	cpu = process_cpu_us(s->daemon.process.pid) - cpu;
	reader = process_cpu_us(s->handler.pid) - reader;
	rounds_add(&s->ours[i].cpu_us, cpu / (double)n);
	if (i == CLOSED_LOOP)
		rounds_add(&s->reader_us, reader / (double)n);
	if (h.overflows > 0 || h.count < (double)n)
		s->coalesced[i]++;
	if (h.overflows > 0 && i == SUSTAINED)
		return 0;
	rounds_add(&s->ours[i].p50, h.p50);
	rounds_add(&s->ours[i].p99, h.p99);
	rounds_add(&s->commit_p50[i], h.commit_p50);
	rounds_add(&s->commit_p99[i], h.commit_p99);
	rounds_add(&s->ours[i].per_second, (double)n / (h.last_us - start) * 1e6);
	return 0;
}

static int
round_go(struct sides *s, size_t i)
{
	double answer[5];
	char question[64];
	int r;

	snprintf(question, sizeof(question), "run %u %zu", rates[i].rate, events_of(s->b, i));
	r = process_ask(&s->theirs, question, answer, 5, 120);
	if (r < 0)
		return r;
	rounds_add(&s->go[i].p50, answer[1]);
	rounds_add(&s->go[i].p99, answer[2]);
	rounds_add(&s->go[i].per_second, answer[3]);
	rounds_add(&s->go[i].cpu_us, answer[4]);
	return 0;
}

/* ---- rows ---- */

static void
span(const struct rounds *r, char text[48])
{
	snprintf(text, 48, "%.0f–%.0f", rounds_min(r), rounds_max(r));
}

static void
report_latency(struct sides *s, size_t i)
{
	char name[48], ours[48], theirs[48];
	const char *of[] = {"p50", "p99"};

	for (unsigned k = 0; k < 2; k++) {
		const struct rounds *mine = k ? &s->ours[i].p99 : &s->ours[i].p50,
				    *peer = k ? &s->go[i].p99 : &s->go[i].p50;
		struct row *row;

		span(mine, ours);
		span(peer, theirs);
		snprintf(name, sizeof(name), "event_latency_%s_%s_us", rates[i].label, of[k]);
		row = report_add(
			s->b->report, name, "us", rounds_median(mine), "client-go protobuf informer",
			rounds_median(peer),
			"a change made at the server (its annotation) until the handler is entered, %u a "
			"second of %u pods; ours "
			"(--wire=%s) over daemon, arena and queue; one server program for both, on this "
			"machine; %u rounds of %zu in "
			"turn, ours %s, client-go %s; CPU an event: informerd %.0f µs, client-go %.0f µs%s",
			rates[i].rate, PODS, bench_wire(s->b), mine->count, events_of(s->b, i), ours, theirs,
			rounds_median(&s->ours[i].cpu_us), rounds_median(&s->go[i].cpu_us),
			s->coalesced[i] > 0 ? "; SOME EVENTS WERE NOT TOLD ONE BY ONE" : "");
		row->target.ratio = 1;
		if (rates[i].rate <= 1000)
			row->target.value_aim = k ? 1000 : 100;
	}
}

static void
report_commit(struct sides *s, size_t i)
{
	char name[48], spans[48];
	struct row *row;

	span(&s->commit_p50[i], spans);
	snprintf(name, sizeof(name), "commit_to_handler_%s_p50_us", rates[i].label);
	row = report_add(s->b->report, name, "us", rounds_median(&s->commit_p50[i]), NULL, 0,
			 "of the above: from the root's committed_wall_ns (before it is sealed and stored) "
			 "until the handler is entered; p99 "
			 "%.0f µs; rounds %s",
			 rounds_median(&s->commit_p99[i]), spans);
	row->target.value_aim = 25;
}

static void
report_sustained(struct sides *s)
{
	const struct figures *ours = &s->ours[SUSTAINED], *most = &s->ours[CLOSED_LOOP],
			     *go = &s->go[CLOSED_LOOP];
	char mine[48], theirs[48];
	struct row *row;

	span(&ours->per_second, mine);
	span(&go->per_second, theirs);
	row = report_add(s->b->report, "events_sustained", "1/s", rounds_median(&ours->per_second),
			 "client-go, the most it takes", rounds_median(&go->per_second),
			 "real pods, one reader; asked for 20,000 a second, %zu a round: %s in %u rounds in "
			 "which every event was told one by one, "
			 "%u others overflowed; client-go as fast as it takes them, %s; the server builds "
			 "both encodings of each event",
			 events_of(s->b, SUSTAINED), mine, ours->per_second.count, s->coalesced[SUSTAINED],
			 theirs);
	row->target = (struct target){.value = 15000};
	span(&most->per_second, mine);
	report_add(s->b->report, "events_closed_loop", "1/s", rounds_median(&most->per_second),
		   "client-go, the most it takes", rounds_median(&go->per_second),
		   "as fast as the slowest watcher (informerd; client-go) takes them, %zu a round; ours %s, "
		   "in %u of %u rounds the reader's queue "
		   "overflowed; the reader's CPU %.1f µs an event",
		   events_of(s->b, CLOSED_LOOP), mine, s->coalesced[CLOSED_LOOP], most->per_second.count,
		   rounds_median(&s->reader_us));
	span(&most->cpu_us, mine);
	span(&go->cpu_us, theirs);
	row = report_add(s->b->report, "writer_cpu_per_event_us", "us", rounds_median(&most->cpu_us),
			 "client-go protobuf informer", rounds_median(&go->cpu_us),
			 "user and system time of informerd in those rounds, ours %s, client-go's process %s",
			 mine, theirs);
	row->target = (struct target){.value = 102, .value_aim = 51};
}

static void
skip_all(struct bench *b, const char *why)
{
	char name[48];

	for (size_t i = 0; i < LATENCIES; i++) {
		snprintf(name, sizeof(name), "event_latency_%s_p50_us", rates[i].label);
		report_skip(b->report, name, "us", "%s", why);
		snprintf(name, sizeof(name), "event_latency_%s_p99_us", rates[i].label);
		report_skip(b->report, name, "us", "%s", why);
	}
	report_skip(b->report, "commit_to_handler_1000_p50_us", "us", "%s", why);
	report_skip(b->report, "events_sustained", "1/s", "%s", why);
	report_skip(b->report, "writer_cpu_per_event_us", "us", "%s", why);
}

void
measure_events(struct bench *b)
{
	struct sides s = {.b = b};
	int r;

	fprintf(stderr, "events ...\n");
	if (!b->client_go) {
		skip_all(b, b->why_no_client_go);
		return;
	}
	if (process_bytes(0, "../meminfo", "MemAvailable:") < (int64_t)4 << 30) {
		skip_all(b, "two servers and client-go need 4 GiB of memory");
		return;
	}
	r = open_sides(&s);
	for (unsigned round = 0; r == 0 && round < (b->quick ? 2u : 3u); round++)
		for (size_t i = 0; r == 0 && i < RATES; i++) {
			r = round_ours(&s, i);
			if (r == 0 && i != SUSTAINED)
				r = round_go(&s, i);
		}
	if (r < 0) {
		skip_all(b, strerror(-r));
	} else {
		for (size_t i = 0; i < LATENCIES; i++)
			report_latency(&s, i);
		for (size_t i = 0; i < 2; i++)
			report_commit(&s, i);
		report_sustained(&s);
	}
	close_sides(&s);
}
