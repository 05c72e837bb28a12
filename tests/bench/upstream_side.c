/* SPDX-License-Identifier: Apache-2.0 */
/* informerd, or client-go's informer, on upstream's server; see upstream_side.h. */
#include "tests/bench/upstream_side.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "tests/bench/client_go.h"
#include "tests/bench/handler_side.h"

#define AWAIT_S 120u

const char *const side_names[SIDES] = {
	[OURS] = "informerd", [STREAM] = "client-go protobuf watch-list", [LIST] = "client-go protobuf LIST"};

static int
start_agent(struct asker *a, unsigned i)
{
	double pods = 0;
	int r;

	if (a->side == OURS)
		r = handler_start(a->b, a->daemon.socket, NULL, 1, &a->agent[i], &pods);
	else
		r = go_informer_start(a->b, "-kubeconfig", a->server->kubeconfig,
				      a->side == LIST ? GO_LIST : 0, &a->agent[i], &pods);
	return r < 0 ? r : pods == (double)a->server->pods ? 0 : -EPROTO;
}

int
asker_start(struct asker *a, struct bench *b, struct upstream *server, enum side side, unsigned agents)
{
	uint64_t start = now_ns();
	unsigned begun = 0;
	int r = 0;

	*a = (struct asker){.b = b, .server = server, .side = side, .agents = agents};
	if (side == OURS) {
		r = daemon_start(b, "upstream", "--kubeconfig", server->kubeconfig, &a->daemon);
		if (r == 0)
			r = daemon_wait_pods(&a->daemon, server->pods);
	} else {
		r = start_agent(a, begun++);
	}
	a->wall_ms = (double)(now_ns() - start) / 1e6;
	a->cpu_ms = process_cpu_us(side == OURS ? a->daemon.process.pid : a->agent[0].pid) / 1e3;
	for (; r == 0 && begun < agents; begun++)
		r = start_agent(a, begun);
	return r;
}

void
asker_end(struct asker *a)
{
	for (unsigned i = 0; i < AGENTS_MAX; i++)
		process_end(&a->agent[i], SIGKILL);
	if (a->side == OURS)
		daemon_end(a->b, &a->daemon);
}

/* Until agent i was told of n. */
static int
await(struct asker *a, unsigned i, size_t n, double start_us, struct changes_met *ret)
{
	struct handled h = {0};
	int r;

	if (a->side == OURS)
		r = handler_end(&a->agent[i], n, AWAIT_S, &h);
	else
		r = go_informer_met(&a->agent[i], n, AWAIT_S, &h.count, &h.p50, &h.p99, &h.last_us);
	*ret = (struct changes_met){h.p50, h.p99, (double)n / (h.last_us - start_us) * 1e6,
				    h.count >= (double)n && h.overflows == 0};
	return r < 0 ? r : h.count >= (double)n || h.overflows > 0 ? 0 : -ETIMEDOUT;
}

int
asker_changes(struct asker *a, unsigned rate, size_t n, struct changes_met *ret)
{
	double start_us = (double)wall_ns() / 1e3;
	struct changes_met met;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < a->agents; i++)
		r = a->side == OURS ? handler_begin(&a->agent[i]) : go_informer_begin(&a->agent[i]);
	if (r == 0)
		r = upstream_change(a->server, rate, n);
	for (unsigned i = 0; r == 0 && i < a->agents; i++)
		r = await(a, i, n, start_us, i == 0 ? ret : &met);
	return r;
}
