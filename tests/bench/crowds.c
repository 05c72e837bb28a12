/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What informerd and client-go's informers cost themselves and an API server: until a new process has every
 * pod, and until each agent of a node heard of later changes. Rounds alternate on one server: that of
 * client-go's program, with every object's bytes ready, or upstream's own, over TLS. Upstream's cost includes
 * its work until it is idle, garbage collection too.
 */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "tests/bench/servers.h"

#define CHANGES 1000u
#define RATE 500u /* a second: JSON informers keep up, and upstream's server can make them */
#define PARKED 10000u
#define PARKED_COME 500u
#define PARKED_RATE 100u

static const char *
label(size_t pods, char text[24])
{
	snprintf(text, 24, pods >= 1000 ? "%zuk" : "%zu", pods >= 1000 ? pods / 1000 : pods);
	return text;
}

/* client-go's better of two ways, by the median. */
static enum side
better(const struct rounds r[SIDES], enum side a, enum side b)
{
	return r[b].count > 0 && rounds_median(&r[b]) < rounds_median(&r[a]) ? b : a;
}

/* ---- from nothing to all pods ---- */

enum what { WALL, CPU, SERVER_CPU, BYTES, WHATS };

struct starts {
	struct rounds of[WHATS][SIDES];
};

static void
take_start(const struct bench *b, const struct server *s, enum side side, struct starts *to)
{
	struct server_cost before = server_cost(s), after;
	struct crowd c;

	crowd_start(&c, b, s, side, side == OURS ? 0 : 1);
	after = server_cost(s);
	crowd_end(&c);
	rounds_add(&to->of[WALL][side], c.wall_ms);
	rounds_add(&to->of[CPU][side], c.cpu_ms);
	rounds_add(&to->of[SERVER_CPU][side], (after.cpu_us - before.cpu_us) / 1e3);
	rounds_add(&to->of[BYTES][side], after.bytes - before.bytes);
}

static void
report_start(const struct bench *b, const struct starts *s, enum what w, enum side peer, const char *name)
{
	report_rounds(b->report, &s->of[w][OURS], side_names[peer], &s->of[w][peer], "%s", name);
}

void
measure_sync(struct bench *b, size_t n)
{
	/* slow sides get fewer rounds: the comparison is not close */
	static const unsigned rounds[][SIDES] = {{7, 5, 5, 2, 1}, {5, 3, 3, 1, 0}, {3, 2, 2, 1, 0}};
	const unsigned *wanted = rounds[b->quick ? 2 : n > 10000];
	static const char *const names[] = {[WALL] = "wall", [CPU] = "cpu"};
	struct starts s = {0};
	struct server server;
	char name[56], size[24];

	bench_need_client_go(b);
	bench_need_memory((double)n * 80000 + (1 << 30));
	server = go_server_start(b, n);
	for (unsigned round = 0; round < wanted[OURS]; round++)
		for (enum side side = OURS; side < SIDES; side++)
			if (round < wanted[side])
				take_start(b, &server, side, &s);
	server_end(&server);
	for (enum what w = WALL; w <= CPU; w++) {
		snprintf(name, sizeof(name), "sync_%s_%s_ms", label(n, size), names[w]);
		report_start(b, &s, w, better(s.of[w], STREAM, LIST), name);
		strcat(name, "_client_go_json");
		report_start(b, &s, w, better(s.of[w], JSON_LIST, JSON_STREAM), name);
	}
}

static struct server
start_upstream(const struct bench *b, size_t n)
{
	bench_need_client_go(b);
	bench_need_memory((double)n * 200000 + 2.0 * (1 << 30));
	return upstream_start(b, n, false);
}

static void
upstream_starts(const struct bench *b, const struct server *server, size_t n)
{
	static const char *const names[] = {
		[WALL] = "wall_ms", [CPU] = "cpu_ms", [SERVER_CPU] = "server_cpu_ms", [BYTES] = "bytes"};
	struct starts s = {0};
	char name[56], size[24];

	for (unsigned round = 0; round < (b->quick ? 2u : 5u); round++)
		for (enum side side = OURS; side <= LIST; side++)
			take_start(b, server, side, &s);
	/* gzip compresses its LIST of many copies too well: compare bytes with its default */
	for (enum what w = WALL; w < WHATS; w++) {
		snprintf(name, sizeof(name), "upstream_%s_%s", label(n, size), names[w]);
		report_start(b, &s, w, w == BYTES ? STREAM : better(s.of[w], STREAM, LIST), name);
	}
}

/* ---- agents ---- */

/* Until each agent has all pods (CPU), and until each has heard of the changes. */
static struct server_cost
take_agents(const struct bench *b, const struct server *s, enum side side, unsigned agents)
{
	struct server_cost before = server_cost(s), synced, after;
	struct crowd c;

	crowd_start(&c, b, s, side, agents);
	synced = server_cost(s);
	crowd_changes(&c, RATE, CHANGES, "");
	after = server_cost(s);
	crowd_end(&c);
	return (struct server_cost){after.requests - before.requests, synced.cpu_us - before.cpu_us,
				    after.bytes - before.bytes};
}

void
measure_traffic(struct bench *b, size_t n)
{
	static const unsigned counts[] = {1, 4, AGENTS_MAX};
	struct server server;

	bench_need_client_go(b);
	bench_need_memory(5.0 * (1 << 30));
	server = go_server_start(b, n);
	for (size_t i = 0; i < COUNT(counts); i++) {
		struct server_cost ours = take_agents(b, &server, OURS, counts[i]),
				   theirs = take_agents(b, &server, STREAM, counts[i]);
		const char *many = counts[i] == 1 ? "" : "s";

		report_value(b->report, ours.requests, NULL, theirs.requests, "traffic_%u_agent%s_requests",
			     counts[i], many);
		report_value(b->report, ours.bytes, NULL, theirs.bytes, "traffic_%u_agent%s_bytes", counts[i],
			     many);
	}
	server_end(&server);
}

static void
upstream_agents(const struct bench *b, const struct server *s, unsigned agents)
{
	struct rounds cpu_ms[SIDES] = {0}, bytes[SIDES] = {0};
	const char *many = agents == 1 ? "" : "s";

	for (unsigned round = 0; round < (b->quick ? 1u : 3u); round++)
		for (enum side side = OURS; side <= STREAM; side++) {
			struct server_cost cost = take_agents(b, s, side, agents);

			rounds_add(&cpu_ms[side], cost.cpu_us / 1e3);
			rounds_add(&bytes[side], cost.bytes);
		}
	report_rounds(b->report, &cpu_ms[OURS], side_names[STREAM], &cpu_ms[STREAM],
		      "upstream_%u_agent%s_server_cpu_ms", agents, many);
	report_rounds(b->report, &bytes[OURS], side_names[STREAM], &bytes[STREAM],
		      "upstream_%u_agent%s_bytes", agents, many);
}

/* ---- events: from a server's writer, before it writes to etcd, until the handler is entered ---- */

static const struct {
	unsigned rate, seconds, quick_seconds;
} rates[] = {{100, 5, 2}, {1000, 5, 2}, {5000, 3, 1}};

static void
upstream_events(const struct bench *b, const struct server *s)
{
	struct rounds p50[COUNT(rates)][SIDES] = {0}, p99[COUNT(rates)][SIDES] = {0};
	struct crowd c;

	for (unsigned round = 0; round < (b->quick ? 1u : 5u); round++)
		for (enum side side = OURS; side <= STREAM; side++) {
			crowd_start(&c, b, s, side, 1);
			for (size_t i = 0; i < COUNT(rates); i++) {
				unsigned seconds = b->quick ? rates[i].quick_seconds : rates[i].seconds;
				struct told told;

				server_cost(s);
				told = crowd_changes(&c, rates[i].rate, (size_t)rates[i].rate * seconds, "");
				rounds_add(&p50[i][side], told.p50);
				rounds_add(&p99[i][side], told.p99);
			}
			crowd_end(&c);
		}
	for (size_t i = 0; i < COUNT(rates); i++) {
		report_rounds(b->report, &p50[i][OURS], side_names[STREAM], &p50[i][STREAM],
			      "upstream_event_%u_p50_us", rates[i].rate);
		report_rounds(b->report, &p99[i][OURS], side_names[STREAM], &p99[i][STREAM],
			      "upstream_event_%u_p99_us", rates[i].rate);
	}
}

/* New pods: until the answer to a parked key, or until client-go's handler. Most of the keys stay parked. */
static void
upstream_parked(const struct bench *b, struct server *s)
{
	struct rounds p50[SIDES] = {0}, p99[SIDES] = {0};

	for (unsigned round = 0; round < (b->quick ? 1u : 5u); round++)
		for (enum side side = OURS; side <= STREAM; side++) {
			struct told told;
			char prefix[40];
			struct crowd c;
			double r;

			snprintf(prefix, sizeof(prefix), "parked-%u-%u", round, (unsigned)side);
			crowd_start(&c, b, s, side, 1);
			if (side == OURS) {
				process_ask(&c.agents[0], &r, 1, 10, "park %s %u", prefix, PARKED);
				bench_need((int)r, "park");
			}
			server_cost(s);
			told = crowd_changes(&c, PARKED_RATE, PARKED_COME, prefix);
			s->pods += PARKED_COME;
			rounds_add(&p50[side], told.p50);
			rounds_add(&p99[side], told.p99);
			crowd_end(&c);
		}
	report_rounds(b->report, &p50[OURS], side_names[STREAM], &p50[STREAM], "upstream_parked_p50_us");
	report_rounds(b->report, &p99[OURS], side_names[STREAM], &p99[STREAM], "upstream_parked_p99_us");
}

void
measure_upstream_start(struct bench *b, size_t n)
{
	struct server server = start_upstream(b, n);

	upstream_starts(b, &server, n);
	server_end(&server);
}

void
measure_upstream(struct bench *b, size_t n)
{
	struct server server = start_upstream(b, n);

	upstream_starts(b, &server, n);
	upstream_agents(b, &server, 1);
	upstream_agents(b, &server, AGENTS_MAX);
	upstream_events(b, &server);
	upstream_parked(b, &server);
	server_end(&server);
}
