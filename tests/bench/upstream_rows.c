/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On upstream's own API server, over TLS, with real pods: what informerd, and what an informer of client-go
 * in protobuf, take and cost the server. Both in turn, on one server; what the server spends includes what
 * follows until it rests, its garbage collector's work too.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/informer.h"
#include "tests/bench/upstream_side.h"

#define SIZES_MAX 4u
#define CHANGES 1000u
#define CHANGES_RATE 500u /* what upstream's server surely makes */

enum what { WALL, SERVER_CPU, CPU, BYTES, WHATS };

static const struct {
	const char *name, *unit, *says;
	struct target target;
} whats[WHATS] = {
	[WALL] = {"wall_ms",
		  "ms",
		  "wall time from its start until all pods are there to be read",
		  {.ratio = 1, .ratio_aim = 1 / 0.7}},
	[SERVER_CPU] = {"server_cpu_ms",
			"ms",
			"the API server's user and system time for that",
			{.ratio = 1 / 1.05}},
	[CPU] = {"cpu_ms", "ms", "its own user and system time until then", {.ratio = 3, .ratio_aim = 5}},
	[BYTES] = {"bytes", "bytes", "sent by the server for that, TLS and HTTP with it", {.ratio = 1}},
};

static const char *
size_label(size_t pods, char label[24])
{
	if (pods >= 1000)
		snprintf(label, 24, "%zuk", pods / 1000);
	else
		snprintf(label, 24, "%zu", pods);
	return label;
}

static const char *
reason(int r)
{
	return r < -4095 ? informer_strerror(r) : strerror(-r);
}

/* client-go's better way, by its median. */
static enum side
better(const struct rounds r[SIDES])
{
	return rounds_median(&r[LIST]) < rounds_median(&r[STREAM]) ? LIST : STREAM;
}

/* ---- from nothing to all pods ---- */

static int
take_start(struct bench *b, struct upstream *server, enum side side, struct rounds to[WHATS][SIDES])
{
	struct upstream_cost before = {0}, after = {0};
	struct asker a = {0};
	int r = upstream_cost(server, &before);

	if (r == 0)
		r = asker_start(&a, b, server, side, side == OURS ? 0 : 1);
	if (r == 0)
		r = upstream_cost(server, &after);
	asker_end(&a);
	if (r < 0)
		return r;
	rounds_add(&to[WALL][side], a.wall_ms);
	rounds_add(&to[CPU][side], a.cpu_ms);
	rounds_add(&to[SERVER_CPU][side], (after.cpu_us - before.cpu_us) / 1e3);
	rounds_add(&to[BYTES][side], after.bytes - before.bytes);
	return 0;
}

static void
span(const struct rounds *r, double scale, char text[48])
{
	snprintf(text, 48, "%.0f–%.0f", rounds_min(r) / scale, rounds_max(r) / scale);
}

static void
measure_start(struct bench *b, struct upstream *server, const char *label)
{
	struct rounds taken[WHATS][SIDES] = {0};
	char name[48], spans[SIDES][48];
	int r = 0;

	for (unsigned round = 0; r == 0 && round < (b->quick ? 2u : 5u); round++)
		for (enum side side = OURS; r == 0 && side < SIDES; side++)
			r = take_start(b, server, side, taken);
	for (enum what w = 0; w < WHATS; w++) {
		const struct rounds *of = taken[w];
		double scale = w == BYTES ? 1e3 : 1;
		enum side peer = w == BYTES ? STREAM : better(of);
		struct row *row;

		snprintf(name, sizeof(name), "upstream_%s_%s", label, whats[w].name);
		if (r < 0) {
			report_skip(b->report, name, whats[w].unit, "%s", reason(r));
			continue;
		}
		for (enum side side = OURS; side < SIDES; side++)
			span(&of[side], scale, spans[side]);
		row = report_add(
			b->report, name, whats[w].unit, rounds_median(&of[OURS]), side_names[peer],
			rounds_median(&of[peer]),
			"%s; upstream's API server, %zu pods (%s); informerd, --wire=%s, with all built-in "
			"indexes %s, client-go with one index and a handler: watch-list %s, LIST %s%s; %u "
			"rounds in turn, %s",
			whats[w].says, server->pods, b->pods_note, bench_wire(b), spans[OURS], spans[STREAM],
			spans[LIST], w == BYTES ? " (KB)" : "", of[OURS].count,
			w == BYTES ? "the peer is client-go's default: its LIST comes in gzip, which this "
				     "few pods, in many copies, suit"
				   : "the better of client-go's ways is the peer");
		row->target = whats[w].target;
	}
}

/* ---- agents ---- */

/* The server's CPU until each agent has all pods, and bytes until each has heard of the changes, too. */
static int
take_agents(struct bench *b, struct upstream *server, enum side side, unsigned agents, struct rounds *cpu_ms,
	    struct rounds *bytes)
{
	struct upstream_cost before = {0}, synced = {0}, after = {0};
	struct changes_met met;
	struct asker a = {0};
	int r = upstream_cost(server, &before);

	if (r == 0)
		r = asker_start(&a, b, server, side, agents);
	if (r == 0)
		r = upstream_cost(server, &synced);
	if (r == 0)
		r = asker_changes(&a, CHANGES_RATE, CHANGES, &met);
	if (r == 0)
		r = upstream_cost(server, &after);
	asker_end(&a);
	if (r == 0) {
		rounds_add(cpu_ms, (synced.cpu_us - before.cpu_us) / 1e3);
		rounds_add(bytes, after.bytes - before.bytes);
	}
	return r;
}

static void
measure_agents_of(struct bench *b, struct upstream *server, unsigned agents)
{
	struct rounds cpu_ms[SIDES] = {0}, bytes[SIDES] = {0};
	const char *many = agents == 1 ? "" : "s";
	char cpu_name[48], bytes_name[48], ours[48], theirs[48];
	struct row *row;
	int r = 0;

	for (unsigned round = 0; r == 0 && round < (b->quick ? 1u : 3u); round++)
		for (enum side side = OURS; r == 0 && side <= STREAM; side++)
			r = take_agents(b, server, side, agents, &cpu_ms[side], &bytes[side]);
	snprintf(cpu_name, sizeof(cpu_name), "upstream_%u_agent%s_server_cpu_ms", agents, many);
	snprintf(bytes_name, sizeof(bytes_name), "upstream_%u_agent%s_bytes", agents, many);
	if (r < 0) {
		report_skip(b->report, cpu_name, "ms", "%s", reason(r));
		report_skip(b->report, bytes_name, "bytes", "%s", reason(r));
		return;
	}
	span(&cpu_ms[OURS], 1, ours);
	span(&cpu_ms[STREAM], 1, theirs);
	row = report_add(
		b->report, cpu_name, "ms", rounds_median(&cpu_ms[OURS]), side_names[STREAM],
		rounds_median(&cpu_ms[STREAM]),
		"the API server's user and system time until %u agent%s %s all %zu pods: readers of one "
		"informerd, --wire=%s, or an informer each, begun one after another; ours %s, client-go %s, "
		"%u rounds in turn",
		agents, many, agents == 1 ? "has" : "have", server->pods, bench_wire(b), ours, theirs,
		cpu_ms[OURS].count);
	row->target.ratio = agents / 1.05;
	row = report_add(b->report, bytes_name, "bytes", rounds_median(&bytes[OURS]), side_names[STREAM],
			 rounds_median(&bytes[STREAM]),
			 "sent by the server for that and for %u changes, of which each agent heard",
			 CHANGES);
	row->target.ratio = 1;
}

/* ---- events ---- */

static const struct {
	unsigned rate, seconds, quick_seconds;
} rates[] = {{100, 5, 2}, {1000, 5, 2}, {5000, 3, 1}};
#define RATES (sizeof(rates) / sizeof(rates[0]))

struct latencies {
	struct rounds p50[RATES][SIDES], p99[RATES][SIDES], made[RATES][SIDES];
	unsigned coalesced[RATES]; /* rounds in which not every change was told */
};

static size_t
changes_of(const struct bench *b, size_t i)
{
	return (size_t)rates[i].rate * (b->quick ? rates[i].quick_seconds : rates[i].seconds);
}

static int
take_latencies(struct bench *b, struct upstream *server, enum side side, struct latencies *to)
{
	struct upstream_cost rest;
	struct changes_met met = {0};
	struct asker a = {0};
	int r = asker_start(&a, b, server, side, 1);

	for (size_t i = 0; r == 0 && i < RATES; i++) {
		r = upstream_cost(server, &rest);
		if (r == 0)
			r = asker_changes(&a, rates[i].rate, changes_of(b, i), &met);
		if (r < 0)
			break;
		rounds_add(&to->p50[i][side], met.p50);
		rounds_add(&to->p99[i][side], met.p99);
		rounds_add(&to->made[i][side], met.per_second);
		to->coalesced[i] += !met.each;
	}
	asker_end(&a);
	return r;
}

static void
report_latency(struct bench *b, const struct latencies *l, size_t i, bool is_p99, int r)
{
	const struct rounds *of = is_p99 ? l->p99[i] : l->p50[i];
	char name[48], ours[48], theirs[48];
	struct row *row;

	snprintf(name, sizeof(name), "upstream_event_%u_%s_us", rates[i].rate, is_p99 ? "p99" : "p50");
	if (r < 0) {
		report_skip(b->report, name, "us", "%s", reason(r));
		return;
	}
	span(&of[OURS], 1, ours);
	span(&of[STREAM], 1, theirs);
	row = report_add(
		b->report, name, "us", rounds_median(&of[OURS]), side_names[STREAM],
		rounds_median(&of[STREAM]),
		"from a writer at the server, before it writes to etcd, until the handler is entered; %u "
		"changes a second asked for, %.0f made (client-go: %.0f); informerd, --wire=%s, arena and "
		"queue: %s, client-go %s; %u rounds of %zu in turn%s",
		rates[i].rate, rounds_median(&l->made[i][OURS]), rounds_median(&l->made[i][STREAM]),
		bench_wire(b), ours, theirs, of[OURS].count, changes_of(b, i),
		l->coalesced[i] > 0 ? "; SOME EVENTS WERE NOT TOLD ONE BY ONE" : "");
	row->target.ratio = 1;
}

static void
measure_latencies(struct bench *b, struct upstream *server)
{
	struct latencies l = {0};
	int r = 0;

	for (unsigned round = 0; r == 0 && round < (b->quick ? 1u : 5u); round++)
		for (enum side side = OURS; r == 0 && side <= STREAM; side++)
			r = take_latencies(b, server, side, &l);
	for (size_t i = 0; i < RATES; i++) {
		report_latency(b, &l, i, false, r);
		report_latency(b, &l, i, true, r);
	}
}

/* ---- */

static void
measure_size(struct bench *b, size_t pods, bool all)
{
	struct upstream server = {0};
	char label[24];
	int r;

	size_label(pods, label);
	if (process_bytes(0, "../meminfo", "MemAvailable:") < (int64_t)pods * 200000 + ((int64_t)2 << 30)) {
		report_skip(b->report, "upstream_*", "ms", "%zu pods: more memory is needed than there is",
			    pods);
		return;
	}
	r = upstream_start(b, pods, &server);
	if (r < 0) {
		report_skip(b->report, "upstream_*", "ms", "the API server did not start: %s", strerror(-r));
		return;
	}
	measure_start(b, &server, label);
	if (all) {
		measure_agents_of(b, &server, 1);
		measure_agents_of(b, &server, AGENTS_MAX);
		measure_latencies(b, &server);
	}
	upstream_end(&server);
}

void
measure_upstream(struct bench *b)
{
	const char *why = b->client_go ? upstream_missing(b) : b->why_no_client_go, *at = b->upstream_pods;
	char *end;
	bool first = true;

	fprintf(stderr, "upstream ...\n");
	if (why) {
		report_skip(b->report, "upstream_*", "ms", "%s", why);
		return;
	}
	for (; *at; at = *end ? end + 1 : end, first = false) {
		size_t pods = strtoul(at, &end, 10);

		if (end == at || pods == 0) {
			report_skip(b->report, "upstream_*", "ms", "--upstream-pods: \"%s\" is no number",
				    at);
			return;
		}
		measure_size(b, pods, first);
	}
}
