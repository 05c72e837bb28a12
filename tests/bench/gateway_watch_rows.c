/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watchers of all pods, and of a node's pods, at informer-gateway and at the API server, while pods change.
 * Their cost is the serving process's CPU with them, less its CPU for the same changes while they watch at
 * the other. The latency of each line is measured too. The gateway follows the server in both cases.
 */
#include "tests/bench/gateway_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "tests/bench/gateway_clients.h"

#define NODES 5000u /* over which the server's pods are spread */
#define AT_ONCE 100u /* connections are opened, so that no backlog is full */
#define OPEN_S 60u
#define QUIET_S 5u /* without a line for so long, no more come */
#define WITHIN_S 300u

/* nodes: 0: each watches all pods; else watcher i those of node-(i % nodes). */
struct watching {
	unsigned watchers, nodes, rate;
	size_t changes;
};

/*
 * cpu_us         user and system time of each, from the first change until all are idle
 * made_s         how long making the changes took
 * lines          received by all watchers
 * lag            from when the writer knew that a change is stored until its line was complete at a client's
 *                socket, ms
 * watcher_bytes  anonymous memory that a watcher added, before the changes
 */
struct watched {
	double cpu_us[PLACES], made_s, lines, lag_p99, lag_worst, watcher_bytes;
};

/* ---- clients ---- */

/* The RV after which everything is new there. */
static uint64_t
newest_rv(const struct server *s)
{
	static const char name[] = "\"resourceVersion\":\"";
	char *page = server_get(s, false, "/api/v1/pods?limit=1"), *at = strstr(page, name);
	uint64_t rv = at ? strtoull(at + sizeof(name) - 1, NULL, 10) : 0;

	free(page);
	return rv;
}

static bool
all_answered(const struct clients *c, void *ctx)
{
	struct clients_count count = clients_count(c);

	(void)ctx;
	return count.answered + count.failed + count.refused == count.asked;
}

static void
open_watchers(struct clients *c, const struct watching *w, uint64_t rv)
{
	for (unsigned i = 0; i < w->watchers; i++) {
		char path[256], selector[64] = "";

		if (w->nodes)
			snprintf(selector, sizeof(selector), "&fieldSelector=spec.nodeName%%3Dnode-%u",
				 i % w->nodes);
		snprintf(path, sizeof(path),
			 "/api/v1/pods?watch=1&timeoutSeconds=3600&resourceVersion=%" PRIu64 "%s", rv,
			 selector);
		clients_add(c, path, "application/json", false, true);
		if ((i + 1) % AT_ONCE == 0 || i + 1 == w->watchers)
			clients_run(c, now_ns() + OPEN_S * 1000000000ull, all_answered, NULL);
	}
	if (clients_count(c).answered != w->watchers)
		bench_fail("%u of %u watches began", clients_count(c).answered, w->watchers);
}

/* Until all lines came, or none came for QUIET_S. */
struct wait {
	size_t expected, seen;
	uint64_t seen_ns;
};

static bool
all_came(const struct clients *c, void *ctx)
{
	struct wait *wait = ctx;
	uint64_t now = now_ns();
	size_t n;

	clients_arrivals(c, &n);
	if (n != wait->seen) {
		wait->seen = n;
		wait->seen_ns = now;
	}
	return n >= wait->expected || now - wait->seen_ns > QUIET_S * 1000000000ull;
}

/* epoll wakes only for data: check now and then whether none comes. */
static void
await(struct clients *c, size_t expected)
{
	struct wait wait = {.expected = expected, .seen_ns = now_ns()};
	uint64_t end = now_ns() + WITHIN_S * 1000000000ull;

	while (now_ns() < end && !clients_run(c, now_ns() + 200000000u, all_came, &wait))
		;
}

/* ---- latency ---- */

/* A change: its RV, and when its writer learned of it, µs since 1970. */
struct commit {
	uint64_t rv;
	int64_t us;
};

static int
by_rv(const void *a, const void *b)
{
	const struct commit *x = a, *y = b;

	return (x->rv > y->rv) - (x->rv < y->rv);
}

/* The newest changes, by RV. */
static struct commit *
newest_commits(const struct server *s, size_t *ret_count)
{
	char *text = server_get(s, false, "/sim/commits");
	cJSON *made = cJSON_Parse(text), *one;
	struct commit *commits = bench_alloc((size_t)cJSON_GetArraySize(made), sizeof(*commits));
	size_t i = 0;

	cJSON_ArrayForEach(one, made)
	{
		commits[i].rv = (uint64_t)cJSON_GetNumberValue(cJSON_GetArrayItem(one, 0));
		commits[i++].us = (int64_t)cJSON_GetNumberValue(cJSON_GetArrayItem(one, 1));
	}
	qsort(commits, i, sizeof(*commits), by_rv);
	cJSON_Delete(made);
	free(text);
	*ret_count = i;
	return commits;
}

static void
judge(const struct clients *c, const struct server *s, struct watched *ret)
{
	size_t n, count, known = 0;
	const struct arrival *arrivals = clients_arrivals(c, &n);
	struct commit *commits = newest_commits(s, &count);
	double *lag = bench_alloc(n, sizeof(*lag));
	int64_t first = INT64_MAX, last = 0;

	for (size_t i = 0; i < count; i++) {
		first = commits[i].us < first ? commits[i].us : first;
		last = commits[i].us > last ? commits[i].us : last;
	}
	ret->made_s = (double)(last - first) / 1e6;
	for (size_t i = 0; i < n; i++) {
		const struct commit key = {.rv = arrivals[i].rv},
				    *commit = bsearch(&key, commits, count, sizeof(key), by_rv);

		if (commit)
			lag[known++] = arrivals[i].us > commit->us
					       ? (double)(arrivals[i].us - commit->us) / 1e3
					       : 0;
	}
	if (known == 0)
		bench_fail("no line came");
	qsort(lag, known, sizeof(*lag), ascending_doubles);
	ret->lag_p99 = lag[known - 1 - known / 100];
	ret->lag_worst = lag[known - 1];
	ret->lines = (double)known;
	free(lag);
	free(commits);
}

/* ---- a run ---- */

static void
look(const struct gateway_world *w, double cpu_us[PLACES])
{
	cpu_us[AT_UPSTREAM] = server_cost(&w->servers[AT_UPSTREAM]).cpu_us;
	cpu_us[AT_GATEWAY] = process_cpu_us(w->servers[AT_GATEWAY].process.pid);
}

static void
watch_changes(struct gateway_world *w, enum place at, const struct watching *how, struct watched *ret)
{
	const struct server *server = &w->servers[at], *upstream = &w->servers[AT_UPSTREAM];
	size_t expected = how->changes * (how->nodes ? how->watchers / how->nodes : how->watchers);
	struct clients *c = clients_new(server->url);
	uint64_t rv = newest_rv(server);
	double before[PLACES];
	int64_t memory;

	server_cost(upstream);
	memory = process_bytes(server->process.pid, "status", "RssAnon:");
	open_watchers(c, how, rv);
	memory = process_bytes(server->process.pid, "status", "RssAnon:") - memory;
	ret->watcher_bytes = (double)memory / how->watchers;
	look(w, before);
	server_change(upstream, how->rate, how->changes, "");
	await(c, expected);
	look(w, ret->cpu_us);
	for (enum place i = 0; i < PLACES; i++)
		ret->cpu_us[i] -= before[i];
	judge(c, upstream, ret);
	if (ret->lines < (double)expected)
		fprintf(stderr, "  LINES THAT DID NOT COME from %s: %.0f (%u watches ended)\n", server->url,
			(double)expected - ret->lines, clients_count(c).whole + clients_count(c).failed);
	clients_free(c);
}

/* ---- of all pods ---- */

/* A thousand watchers of a thousand changes a second would take 9 GB/s: too much for loopback here. */
static const struct {
	unsigned watchers, rate, seconds, quick_seconds;
} full[] = {{1, 1000, 5, 2}, {100, 1000, 5, 2}, {1000, 100, 5, 2}};

void
measure_gateway_watches(struct gateway_world *w)
{
	for (size_t i = 0; i < COUNT(full); i++) {
		unsigned seconds = w->b->quick ? full[i].quick_seconds : full[i].seconds;
		struct watching how = {.watchers = full[i].watchers,
				       .rate = full[i].rate,
				       .changes = (size_t)full[i].rate * seconds};
		struct rounds cpu_us[PLACES] = {0}, p99[PLACES] = {0};
		struct watched met[PLACES];

		for (unsigned round = 0; round < (w->b->quick ? 1u : 3u); round++) {
			for (enum place at = 0; at < PLACES; at++)
				watch_changes(w, at, &how, &met[at]);
			for (enum place at = 0; at < PLACES; at++) {
				double alone = met[PLACES - 1 - at].cpu_us[at];

				rounds_add(&cpu_us[at], (met[at].cpu_us[at] - alone) / met[at].lines);
				rounds_add(&p99[at], met[at].lag_p99);
			}
		}
		report_rounds(w->b->report, &cpu_us[AT_GATEWAY], NULL, &cpu_us[AT_UPSTREAM],
			      "gateway_event_%u_cpu_us", full[i].watchers);
		report_rounds(w->b->report, &p99[AT_GATEWAY], NULL, &p99[AT_UPSTREAM],
			      "gateway_event_%u_p99_ms", full[i].watchers);
	}
}

/* ---- of one node's ---- */

void
measure_gateway_nodes(struct gateway_world *w)
{
	struct watching how = {
		.watchers = NODES, .nodes = NODES, .rate = 1000, .changes = w->b->quick ? 3000 : 10000};
	struct rounds cores[PLACES] = {0}, lag[PLACES] = {0}, memory[PLACES] = {0};
	struct watched met[PLACES];

	for (unsigned round = 0; round < (w->b->quick ? 1u : 3u); round++) {
		for (enum place at = 0; at < PLACES; at++)
			watch_changes(w, at, &how, &met[at]);
		for (enum place at = 0; at < PLACES; at++) {
			/* the gateway's whole work; of the server's what the watchers add */
			double alone = at == AT_UPSTREAM ? met[AT_GATEWAY].cpu_us[at] : 0;

			rounds_add(&cores[at], (met[at].cpu_us[at] - alone) / 1e6 / met[at].made_s);
			rounds_add(&lag[at], met[at].lag_worst);
			rounds_add(&memory[at], met[at].watcher_bytes);
		}
	}
	report_rounds(w->b->report, &cores[AT_GATEWAY], NULL, &cores[AT_UPSTREAM], "gateway_nodes_cores");
	report_rounds(w->b->report, &lag[AT_GATEWAY], NULL, &lag[AT_UPSTREAM], "gateway_nodes_worst_ms");
	report_rounds(w->b->report, &memory[AT_GATEWAY], NULL, &memory[AT_UPSTREAM],
		      "gateway_nodes_watcher_bytes");
}
