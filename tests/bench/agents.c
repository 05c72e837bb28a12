/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents on one node: what eight of them take together with the daemon and its arena; and what the API server
 * hears of it when one of them is killed and comes back.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/daemon_side.h"
#include "tests/bench/handler_side.h"
#include "tests/bench/sim.h"

#define PODS 10000u
#define AGENTS 8u

struct node {
	struct bench *b;
	struct sim sim;
	struct daemon daemon;
	struct process agents[AGENTS];
	double pods;
};

static int
append(void *context, const char *bytes, size_t length)
{
	return bytes_append(context, bytes, length);
}

/* Sum of apiserver_request_total. */
static int
requests(const struct sim *sim, double *ret_sum)
{
	static const char name[] = "apiserver_request_total{";
	struct bytes text = {0};
	int r = sim_fetch(sim, "/metrics", append, &text);

	*ret_sum = 0;
	if (r == 0)
		r = bytes_append(&text, "", 1);
	for (char *line = r == 0 ? (char *)text.data : NULL; line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char *number = strncmp(line, name, sizeof(name) - 1) == 0 ? strchr(line, '}') : NULL;

		if (number)
			*ret_sum += strtod(number + 1, NULL);
	}
	bytes_done(&text);
	return r < 0 ? r : *ret_sum > 0 ? 0 : -EPROTO;
}

static void
measure_memory(struct node *n)
{
	char but[64];
	int64_t daemon, agents = 0, arena = daemon_arena_bytes(n->b, &n->daemon);
	struct row *row;

	snprintf(but, sizeof(but), "/%s.", n->daemon.name);
	daemon = process_mapped(n->daemon.process.pid, "Pss:", but);
	for (unsigned i = 0; i < AGENTS; i++)
		agents += process_mapped(n->agents[i].pid, "Pss:", but);
	row = report_add(
		n->b->report, "eight_readers_pss", "bytes", (double)(daemon + agents + arena),
		n->b->client_go_pss > 0 ? "client-go protobuf informers, 8" : NULL,
		n->b->client_go_pss * AGENTS,
		"%.0f pods, informerd %.1f MiB, %u processes with a handler %.1f MiB in all (each's share of "
		"what is shared), arena %.1f MiB; "
		"client-go: one's PSS after its first list, times 8 (measured apart: 1,783–1,906 MiB)",
		n->pods, (double)daemon / (1 << 20), AGENTS, (double)agents / (1 << 20),
		(double)arena / (1 << 20));
	row->target.value = 48 << 20;
}

static int
measure_restart(struct node *n)
{
	struct rounds ms = {0};
	double before = 0, after = 0, pods = 0;
	struct row *row;
	int r = requests(&n->sim, &before);

	for (unsigned i = 0; r == 0 && i < 3; i++) {
		uint64_t t = now_ns();

		process_end(&n->agents[i], SIGKILL);
		r = handler_start(n->b, n->daemon.socket, NULL, 1, &n->agents[i], &pods);
		if (r == 0 && pods != n->pods)
			r = -EPROTO;
		rounds_add(&ms, (double)(now_ns() - t) / 1e6);
	}
	if (r == 0)
		r = requests(&n->sim, &after);
	if (r < 0)
		return r;
	row = report_add(n->b->report, "restart_requests", "requests", after - before, NULL, 0,
			 "asked of the API server while %u agents were killed with -9, started again, and "
			 "told of all %.0f pods; %.0f ms each",
			 ms.count, n->pods, rounds_median(&ms));
	row->target.value = 0.5;
	return 0;
}

void
measure_agents(struct bench *b)
{
	struct node n = {.b = b};
	size_t real = pods_count(b->pods);
	double pods;
	int r;

	fprintf(stderr, "agents ...\n");
	r = sim_start(b, b->pods_directory, (PODS + real - 1) / real, PODS / 50, &n.sim);
	if (r == 0)
		r = daemon_start(b, "agents", "--kubeconfig", n.sim.kubeconfig, &n.daemon);
	for (unsigned i = 0; r == 0 && i < AGENTS; i++) {
		r = handler_start(b, n.daemon.socket, NULL, 1, &n.agents[i], &pods);
		n.pods = pods;
	}
	if (r == 0) {
		/* the daemon gathers its pages in its first seconds */
		nanosleep(&(struct timespec){b->quick ? 2 : 4, 0}, NULL);
		measure_memory(&n);
		r = measure_restart(&n);
	} else {
		report_skip(b->report, "eight_readers_pss", "bytes", "%s", strerror(-r));
	}
	if (r < 0)
		report_skip(b->report, "restart_requests", "requests", "%s", strerror(-r));
	for (unsigned i = 0; i < AGENTS; i++)
		process_end(&n.agents[i], SIGKILL);
	daemon_end(b, &n.daemon);
	sim_end(&n.sim);
}
