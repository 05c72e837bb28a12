/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agents of one node cost the API server: requests and bytes, with informerd and with an informer in
 * each agent. Both are counted by the server, from before the first process starts until each agent has every
 * pod and was told of each of the changes that follow.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/client_go.h"
#include "tests/bench/daemon_side.h"
#include "tests/bench/handler_side.h"

#define PODS 10000u
#define CHANGES 1000u
#define RATE 500u	/* a second; what JSON informers can follow */
#define AGENTS_MAX 8u

static const unsigned crowds[] = {1, 4, 8};
#define CROWDS (sizeof(crowds) / sizeof(crowds[0]))

struct traffic {
	double requests, bytes;
};

struct node {
	struct bench *b;
	struct go_server server;
	struct daemon daemon;
	struct process agents[AGENTS_MAX];
	struct traffic before;
};

static int
begin(struct node *n)
{
	return go_server_traffic(&n->server, &n->before.requests, &n->before.bytes);
}

static int
end(struct node *n, struct traffic *ret)
{
	struct traffic now;
	int r = go_server_traffic(&n->server, &now.requests, &now.bytes);

	if (r == 0)
		*ret = (struct traffic){now.requests - n->before.requests, now.bytes - n->before.bytes};
	return r;
}

/* One daemon, and agents with a handler each. */
static int
crowd_ours(struct node *n, unsigned agents, struct traffic *ret)
{
	struct handled told;
	double pods;
	int r = begin(n);

	if (r == 0)
		r = daemon_start(n->b, "traffic", "--server", n->server.url, &n->daemon);
	for (unsigned i = 0; r == 0 && i < agents; i++) {
		r = handler_start(n->b, n->daemon.socket, NULL, 1, &n->agents[i], &pods);
		if (r == 0 && pods != PODS)
			r = -EPROTO;
	}
	for (unsigned i = 0; r == 0 && i < agents; i++)
		r = handler_begin(&n->agents[i]);
	if (r == 0)
		r = go_server_change(&n->server, RATE, CHANGES);
	for (unsigned i = 0; r == 0 && i < agents; i++) {
		r = handler_end(&n->agents[i], CHANGES, 20, &told);
		if (r == 0 && told.count < CHANGES && told.overflows == 0)
			r = -EPROTO;
	}
	if (r == 0)
		r = end(n, ret);
	for (unsigned i = 0; i < agents; i++)
		process_end(&n->agents[i], SIGKILL);
	daemon_end(n->b, &n->daemon);
	return r;
}

/* Agents with an informer each. */
static int
crowd_go(struct node *n, unsigned agents, unsigned ways, struct traffic *ret)
{
	double pods, count;
	int r = begin(n);

	for (unsigned i = 0; r == 0 && i < agents; i++) {
		r = go_informer_start(n->b, "-server", n->server.url, ways, &n->agents[i], &pods);
		if (r == 0 && pods != PODS)
			r = -EPROTO;
	}
	for (unsigned i = 0; r == 0 && i < agents; i++)
		r = go_informer_begin(&n->agents[i]);
	if (r == 0)
		r = go_server_change(&n->server, RATE, CHANGES);
	for (unsigned i = 0; r == 0 && i < agents; i++) {
		r = go_informer_await(&n->agents[i], CHANGES, 60, &count);
		if (r == 0 && count < CHANGES)
			r = -EPROTO;
	}
	if (r == 0)
		r = end(n, ret);
	for (unsigned i = 0; i < agents; i++)
		process_end(&n->agents[i], SIGKILL);
	return r;
}

/* ---- rows ---- */

static void
name_of(unsigned agents, const char *what, char name[48])
{
	snprintf(name, 48, "traffic_%u_agent%s_%s", agents, agents == 1 ? "" : "s", what);
}

static void
skip_from(struct bench *b, size_t crowd, const char *why)
{
	char name[48];

	for (; crowd < CROWDS; crowd++) {
		name_of(crowds[crowd], "requests", name);
		report_skip(b->report, name, "requests", "%s", why);
		name_of(crowds[crowd], "bytes", name);
		report_skip(b->report, name, "bytes", "%s", why);
	}
}

static void
report(struct bench *b, unsigned agents, const struct traffic *ours, const struct traffic *protobuf,
       const struct traffic *json)
{
	const char *many = agents == 1 ? "" : "s";
	char name[48], beside[96] = "";

	if (json->requests > 0)
		snprintf(beside, sizeof(beside),
			 "; client-go in JSON, LIST and WATCH: %.0f requests, %.1f MB", json->requests,
			 json->bytes / 1e6);
	name_of(agents, "requests", name);
	report_add(b->report, name, "requests", ours->requests, "client-go protobuf informers",
		   protobuf->requests,
		   "counted by the server, those that look at the cluster included, from nothing until %u "
		   "agent%s had all %u pods and heard of %u changes; one informerd "
		   "and %u reader%s with a handler; client-go: an informer in each process, which streams "
		   "its first list%s",
		   agents, many, PODS, CHANGES, agents, many, beside);
	name_of(agents, "bytes", name);
	report_add(b->report, name, "bytes", ours->bytes, "client-go protobuf informers", protobuf->bytes,
		   "sent by the server for that, HTTP's own included; informerd: --wire=%s%s", bench_wire(b),
		   beside);
}

void
measure_traffic(struct bench *b)
{
	struct node n = {.b = b};
	int r;

	fprintf(stderr, "traffic ...\n");
	if (!b->client_go) {
		skip_from(b, 0, b->why_no_client_go);
		return;
	}
	if (process_bytes(0, "../meminfo", "MemAvailable:") < (int64_t)5 << 30) {
		skip_from(b, 0, "the server and eight informers need 5 GiB of memory");
		return;
	}
	r = go_server_start(b, PODS, &n.server);
	for (size_t i = 0; i < CROWDS; i++) {
		struct traffic ours = {0}, protobuf = {0}, json = {0};

		if (r == 0)
			r = crowd_ours(&n, crowds[i], &ours);
		if (r == 0)
			r = crowd_go(&n, crowds[i], 0, &protobuf);
		if (r == 0 && !b->quick)
			r = crowd_go(&n, crowds[i], GO_JSON | GO_LIST, &json);
		if (r < 0) {
			skip_from(b, i, strerror(-r));
			break;
		}
		report(b, crowds[i], &ours, &protobuf, &json);
	}
	go_server_end(&n.server);
}
