/* SPDX-License-Identifier: Apache-2.0 */
/* Watchers while pods change; see gateway_watching.h. */
#include "tests/bench/gateway_watching.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/gateway_clients.h"

#define AT_ONCE 100u /* connections are opened, so that no backlog is full */
#define OPEN_S 60u
#define QUIET_S 5u /* behind the last line that came, none comes any more */
#define WITHIN_S 300u

const char *
place_url(const struct gateway_side *g, const struct upstream *u, enum place at)
{
	return at == AT_GATEWAY ? g->url : u->url;
}

pid_t
place_pid(const struct gateway_side *g, const struct upstream *u, enum place at)
{
	return at == AT_GATEWAY ? g->process.pid : u->process.pid;
}

/* The RV from which on all is new there; 0: it is not to be had. */
static uint64_t
newest_rv(const char *url)
{
	static const char name[] = "\"resourceVersion\":\"";
	char *page = client_get(url, "/api/v1/pods?limit=1"), *at = page ? strstr(page, name) : NULL;
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

static int
open_watchers(struct clients *c, const struct watching *w, uint64_t rv)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < w->watchers; i++) {
		char path[256], selector[64] = "";

		if (w->nodes)
			snprintf(selector, sizeof(selector), "&fieldSelector=spec.nodeName%%3Dnode-%u",
				 i % w->nodes);
		snprintf(path, sizeof(path),
			 "/api/v1/pods?watch=1&timeoutSeconds=3600&resourceVersion=%" PRIu64 "%s", rv,
			 selector);
		r = clients_add(c, path, "application/json", false, true);
		if (r == 0 && ((i + 1) % AT_ONCE == 0 || i + 1 == w->watchers) &&
		    !clients_run(c, now_ns() + OPEN_S * 1000000000ull, all_answered, NULL))
			r = -ETIMEDOUT;
	}
	if (r == 0 && clients_count(c).answered != w->watchers)
		r = -ECONNREFUSED;
	return r;
}

/* Until all lines came, or none came for a while. */
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

/* epoll wakes only for what comes: look now and then whether nothing does. */
static void
await(struct clients *c, size_t expected)
{
	struct wait wait = {.expected = expected, .seen_ns = now_ns()};
	uint64_t end = now_ns() + WITHIN_S * 1000000000ull;

	while (now_ns() < end && !clients_run(c, now_ns() + 200000000u, all_came, &wait))
		;
}

/* ---- how late ---- */

static int
commit_before(const void *a, const void *b)
{
	const struct upstream_commit *x = a, *y = b;

	return (x->rv > y->rv) - (x->rv < y->rv);
}

static int
ascending(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
in_ms(const int64_t *lag, size_t i)
{
	return (double)lag[i] / 1e3;
}

static void
judge(const struct clients *c, const struct upstream_commit *commits, size_t count, struct watched *ret)
{
	size_t n, known = 0;
	const struct arrival *arrivals = clients_arrivals(c, &n);
	int64_t *lag = calloc(n ? n : 1, sizeof(*lag)), first = INT64_MAX, last = 0;

	for (size_t i = 0; i < count; i++) {
		first = commits[i].us < first ? commits[i].us : first;
		last = commits[i].us > last ? commits[i].us : last;
	}
	ret->made_s = (double)(last - first) / 1e6;
	for (size_t i = 0; lag && i < n; i++) {
		const struct upstream_commit key = {.rv = arrivals[i].rv},
					     *commit = bsearch(&key, commits, count, sizeof(key),
							       commit_before);

		if (commit)
			lag[known++] = arrivals[i].us > commit->us ? arrivals[i].us - commit->us : 0;
	}
	if (known > 0) {
		qsort(lag, known, sizeof(*lag), ascending);
		ret->lag_p50 = in_ms(lag, known / 2);
		ret->lag_p99 = in_ms(lag, known - 1 - known / 100);
		ret->lag_worst = in_ms(lag, known - 1);
	}
	ret->lines = (double)known;
	free(lag);
}

/* ---- a run ---- */

struct spent {
	double place_us[PLACES], informerd_us;
};

static int
look(const struct gateway_side *g, struct upstream *u, struct spent *ret)
{
	struct upstream_cost cost;
	int r = upstream_cost(u, &cost);

	ret->place_us[AT_UPSTREAM] = cost.cpu_us;
	ret->place_us[AT_GATEWAY] = process_cpu_us(g->process.pid);
	ret->informerd_us = process_cpu_us(g->daemon.process.pid);
	return r;
}

static int
run(struct gateway_side *g, struct upstream *u, struct clients *c, const struct watching *w,
    struct watched *ret)
{
	size_t expected = w->changes * (w->nodes ? w->watchers / w->nodes : w->watchers), count = 0;
	struct upstream_commit *commits = NULL;
	struct spent before, after;
	uint64_t bytes;
	int r = look(g, u, &before);

	bytes = clients_count(c).bytes;
	if (r == 0)
		r = upstream_change(u, w->rate, w->changes);
	if (r < 0)
		return r;
	await(c, expected);
	r = look(g, u, &after);
	if (r == 0)
		r = upstream_commits(u, &commits, &count);
	if (r < 0 || !commits)
		return r < 0 ? r : -EPROTO;
	for (enum place at = 0; at < PLACES; at++)
		ret->cpu_us[at] = after.place_us[at] - before.place_us[at];
	ret->informerd_us = after.informerd_us - before.informerd_us;
	judge(c, commits, count, ret);
	free(commits);
	ret->missing = (double)expected - ret->lines;
	ret->line_bytes = ret->lines > 0 ? (double)(clients_count(c).bytes - bytes) / ret->lines : 0;
	ret->ended = clients_count(c).whole + clients_count(c).failed;
	return ret->lines > 0 ? 0 : -EPROTO;
}

int
watch_changes(struct gateway_side *g, struct upstream *u, enum place at, const struct watching *w,
	      struct watched *ret)
{
	const char *url = place_url(g, u, at);
	struct clients *c = clients_new(url);
	struct upstream_cost rest;
	uint64_t rv = newest_rv(url);
	int64_t memory;
	int r = c && rv > 0 ? upstream_cost(u, &rest) : -EPROTO;

	*ret = (struct watched){0};
	memory = process_bytes(place_pid(g, u, at), "status", "RssAnon:");
	if (r == 0)
		r = open_watchers(c, w, rv);
	ret->watcher_bytes = (double)(process_bytes(place_pid(g, u, at), "status", "RssAnon:") - memory) /
			     w->watchers;
	if (r == 0)
		r = run(g, u, c, w, ret);
	clients_free(c);
	return r;
}
