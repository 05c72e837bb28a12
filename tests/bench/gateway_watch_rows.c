/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watchers of all pods, and of a node's pods, at informer-gateway and at the API server: what watchers add to
 * the work of who serves them, which is what the same changes cost it with them less what they cost it while
 * the others watch elsewhere.
 */
#include "tests/bench/bench.h"

#include <stdio.h>

#include "tests/bench/gateway_rows.h"

#define PEER "upstream's API server"

/* ---- of all pods ---- */

/* A thousand of them want 9 GB/s of a thousand changes a second: more than loopback carries on a few
 * processors. */
static const struct {
	unsigned watchers, rate, seconds, quick_seconds;
} full[] = {{1, 1000, 5, 2}, {100, 1000, 5, 2}, {1000, 100, 5, 2}};
#define FULL (sizeof(full) / sizeof(full[0]))

struct taken {
	struct rounds cpu_us[PLACES], whole_us, p50[PLACES], p99[PLACES], made[PLACES];
	double missing[PLACES], ended[PLACES], line_bytes, informerd_us;
};

static int
take_full(struct gateway_world *w, size_t i, struct taken *t)
{
	struct watching how = {.watchers = full[i].watchers, .rate = full[i].rate};
	struct watched met[PLACES];
	int r = 0;

	how.changes = (size_t)full[i].rate * (w->b->quick ? full[i].quick_seconds : full[i].seconds);
	for (enum place at = 0; r == 0 && at < PLACES; at++)
		r = watch_changes(&w->gateway, &w->server, at, &how, &met[at]);
	if (r < 0)
		return r;
	for (enum place at = 0; at < PLACES; at++) {
		double alone = met[at == AT_GATEWAY ? AT_UPSTREAM : AT_GATEWAY].cpu_us[at];

		rounds_add(&t->cpu_us[at], (met[at].cpu_us[at] - alone) / met[at].lines);
		rounds_add(&t->p50[at], met[at].lag_p50);
		rounds_add(&t->p99[at], met[at].lag_p99);
		rounds_add(&t->made[at], (double)how.changes / met[at].made_s);
		t->missing[at] += met[at].missing;
		t->ended[at] += met[at].ended;
	}
	rounds_add(&t->whole_us, met[AT_GATEWAY].cpu_us[AT_GATEWAY] / met[AT_GATEWAY].lines);
	t->line_bytes = met[AT_GATEWAY].line_bytes;
	t->informerd_us = met[AT_GATEWAY].informerd_us / (double)how.changes;
	return 0;
}

static void
losses(const struct taken *t, char text[160])
{
	text[0] = '\0';
	for (enum place at = 0; at < PLACES; at++)
		if (t->missing[at] > 0 && text[0] == '\0')
			snprintf(text, 160,
				 "; LINES THAT DID NOT COME: %.0f here (%.0f watches ended), %.0f there "
				 "(%.0f)",
				 t->missing[AT_GATEWAY], t->ended[AT_GATEWAY], t->missing[AT_UPSTREAM],
				 t->ended[AT_UPSTREAM]);
}

static void
report_full(struct gateway_world *w, size_t i, const struct taken *t)
{
	char name[48], lost[160];
	struct row *row;

	losses(t, lost);
	snprintf(name, sizeof(name), "gateway_event_%u_cpu_us", full[i].watchers);
	row = report_add(w->b->report, name, "us", rounds_median(&t->cpu_us[AT_GATEWAY]), PEER,
			 rounds_median(&t->cpu_us[AT_UPSTREAM]),
			 "user and system time that %u watcher%s of all pods add%s, a change and watcher; "
			 "%.2f–%.2f, the "
			 "server %.2f–%.2f; the gateway's whole time is %.2f, informerd's beside it %.0f a "
			 "change; %u changes a "
			 "second asked for, %.0f made (the server's watchers: %.0f), %.1f KB each; %u rounds "
			 "in turn%s",
			 full[i].watchers, full[i].watchers == 1 ? "" : "s", full[i].watchers == 1 ? "s" : "",
			 rounds_min(&t->cpu_us[AT_GATEWAY]), rounds_max(&t->cpu_us[AT_GATEWAY]),
			 rounds_min(&t->cpu_us[AT_UPSTREAM]), rounds_max(&t->cpu_us[AT_UPSTREAM]),
			 rounds_median(&t->whole_us), t->informerd_us, full[i].rate,
			 rounds_median(&t->made[AT_GATEWAY]), rounds_median(&t->made[AT_UPSTREAM]),
			 t->line_bytes / 1e3, t->whole_us.count, lost);
	row->target.ratio = 3;
	snprintf(name, sizeof(name), "gateway_event_%u_p99_ms", full[i].watchers);
	row = report_add(w->b->report, name, "ms", rounds_median(&t->p99[AT_GATEWAY]), PEER,
			 rounds_median(&t->p99[AT_UPSTREAM]),
			 "from when the writer is told that a change is stored until its line is whole at a "
			 "client's socket, "
			 "for the gateway through informerd and the arena; the clients read on the same "
			 "processors; %.1f–%.1f, "
			 "the server %.1f–%.1f; p50 %.2f, the server %.2f%s",
			 rounds_min(&t->p99[AT_GATEWAY]), rounds_max(&t->p99[AT_GATEWAY]),
			 rounds_min(&t->p99[AT_UPSTREAM]), rounds_max(&t->p99[AT_UPSTREAM]),
			 rounds_median(&t->p50[AT_GATEWAY]), rounds_median(&t->p50[AT_UPSTREAM]), lost);
	row->target.value = full[i].watchers == 100 ? 50 : 0;
}

void
measure_gateway_watches(struct gateway_world *w)
{
	for (size_t i = 0; i < FULL; i++) {
		struct taken t = {0};
		char name[48];
		int r = 0;

		for (unsigned round = 0; r == 0 && round < (w->b->quick ? 1u : 3u); round++)
			r = take_full(w, i, &t);
		snprintf(name, sizeof(name), "gateway_event_%u_cpu_us", full[i].watchers);
		if (r < 0)
			report_skip(w->b->report, name, "us", "%s", gateway_reason(r));
		else
			report_full(w, i, &t);
	}
}

/* ---- of one node's ---- */

static void
report_nodes(struct gateway_world *w, const struct watching *how, unsigned rounds,
	     struct rounds cores[PLACES], struct rounds lag[PLACES], struct rounds memory[PLACES],
	     const struct watched met[PLACES])
{
	struct row *row;

	row = report_add(w->b->report, "gateway_nodes_cores", "cores", rounds_median(&cores[AT_GATEWAY]),
			 PEER, rounds_median(&cores[AT_UPSTREAM]),
			 "processors that are busy serving %u watchers, each of one node's pods, %u changes "
			 "a second asked "
			 "for, %.0f made; %.2f–%.2f, the server %.2f–%.2f, for the watchers alone, %u rounds "
			 "in turn; lines that "
			 "did not come: %.0f here, %.0f there",
			 how->watchers, how->rate, (double)how->changes / met[AT_GATEWAY].made_s,
			 rounds_min(&cores[AT_GATEWAY]), rounds_max(&cores[AT_GATEWAY]),
			 rounds_min(&cores[AT_UPSTREAM]), rounds_max(&cores[AT_UPSTREAM]), rounds,
			 met[AT_GATEWAY].missing, met[AT_UPSTREAM].missing);
	row->target.value = 1;
	row = report_add(w->b->report, "gateway_nodes_worst_ms", "ms", rounds_median(&lag[AT_GATEWAY]), PEER,
			 rounds_median(&lag[AT_UPSTREAM]),
			 "the latest of all lines behind its commit; %.0f–%.0f, the server %.0f–%.0f; p99 "
			 "%.1f, the server %.1f",
			 rounds_min(&lag[AT_GATEWAY]), rounds_max(&lag[AT_GATEWAY]),
			 rounds_min(&lag[AT_UPSTREAM]), rounds_max(&lag[AT_UPSTREAM]),
			 met[AT_GATEWAY].lag_p99, met[AT_UPSTREAM].lag_p99);
	row->target.value = 1000;
	row = report_add(w->b->report, "gateway_nodes_watcher_bytes", "bytes",
			 rounds_median(&memory[AT_GATEWAY]), PEER, rounds_median(&memory[AT_UPSTREAM]),
			 "anonymous memory that a watcher adds, without TLS; the kernel's for its socket is "
			 "not counted; %.0f–%.0f, "
			 "the server %.0f–%.0f",
			 rounds_min(&memory[AT_GATEWAY]), rounds_max(&memory[AT_GATEWAY]),
			 rounds_min(&memory[AT_UPSTREAM]), rounds_max(&memory[AT_UPSTREAM]));
	row->target.value = 32 << 10;
}

void
measure_gateway_nodes(struct gateway_world *w)
{
	struct watching how = {.watchers = GATEWAY_NODES, .nodes = GATEWAY_NODES, .rate = 1000};
	struct rounds cores[PLACES] = {0}, lag[PLACES] = {0}, memory[PLACES] = {0};
	struct watched met[PLACES] = {0};
	unsigned round = 0;
	int r = 0;

	how.changes = (size_t)how.rate * (w->b->quick ? 3 : 10);
	for (; r == 0 && round < (w->b->quick ? 1u : 3u); round++) {
		for (enum place at = 0; r == 0 && at < PLACES; at++)
			r = watch_changes(&w->gateway, &w->server, at, &how, &met[at]);
		for (enum place at = 0; r == 0 && at < PLACES; at++) {
			/* the gateway's whole work; of the server's what the watchers add */
			double alone = at == AT_UPSTREAM ? met[AT_GATEWAY].cpu_us[at] : 0;

			rounds_add(&cores[at], (met[at].cpu_us[at] - alone) / 1e6 / met[at].made_s);
			rounds_add(&lag[at], met[at].lag_worst);
			rounds_add(&memory[at], met[at].watcher_bytes);
		}
	}
	if (r < 0)
		report_skip(w->b->report, "gateway_nodes_cores", "cores", "%s", gateway_reason(r));
	else
		report_nodes(w, &how, round, cores, lag, memory, met);
}
