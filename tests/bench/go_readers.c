/* SPDX-License-Identifier: Apache-2.0 */
/* Go's reader beside client-go: look-ups, typed objects, eight agents with handlers. On demand: ONLY=readers.
 */
#include "tests/bench/bench.h"

#include <signal.h>
#include <stdlib.h>

#include "tests/bench/servers.h"

#define LOOKUPS 200000u
#define RATE 1000u
#define CHANGES 5000u

/* Both sides are asked in one process, in turn. */
void
measure_go_reader(struct bench *b, size_t n)
{
	static const unsigned few[] = {35,
				       512}; /* as many as the codecs' rows have; and more than caches hold */
	struct rounds get[2] = {0}, typed[COUNT(few)][2] = {0};
	struct server sim;
	struct daemon daemon;
	struct process go;
	double heap, ns[2];

	bench_need_client_go(b);
	bench_need_memory((double)n * 40000 + (1 << 30));
	sim = sim_start(b, n);
	daemon = daemon_start(b, "go", &sim, NULL, "");
	daemon_wait_pods(&daemon, sim.pods);
	server_end(&sim);
	go = go_rounds_start(b, n, &daemon, &heap);
	for (unsigned round = 0; round < (b->quick ? 3u : 9u); round++) {
		process_ask(&go, &ns[0], 1, 60, "ours %u", LOOKUPS);
		process_ask(&go, &ns[1], 1, 60, "get %u", LOOKUPS);
		rounds_add(&get[0], ns[0]);
		rounds_add(&get[1], ns[1]);
		for (size_t i = 0; i < COUNT(few); i++) {
			process_ask(&go, ns, 2, 60, "typed %u", few[i]);
			rounds_add(&typed[i][0], ns[0]);
			rounds_add(&typed[i][1], ns[1]);
		}
	}
	process_end(&go, SIGKILL);
	daemon_end(b, &daemon);
	report_rounds(b->report, &get[0], NULL, &get[1], "go_get_%zuk", n / 1000);
	for (size_t i = 0; i < COUNT(few); i++)
		report_rounds(b->report, &typed[i][0], NULL, &typed[i][1], "go_typed_pod_of_%u_%zuk", few[i],
			      n / 1000);
}

static double
pss(struct process *p)
{
	double bytes;

	process_ask(p, &bytes, 1, 10, "pss");
	return bytes;
}

/* What is shared is counted once: a process's Pss has its part of the arena. */
static double
crowd_pss(struct crowd *c)
{
	double sum = process_mapped(c->daemon.process.pid, "Pss:", "\n"); /* all mappings */

	for (unsigned i = 0; i < c->count; i++)
		sum += pss(&c->agents[i]);
	return sum;
}

void
measure_go_agents(struct bench *b, size_t n)
{
	static const enum side sides[] = {OURS, GO_WATCH, GO_AGENT};
	struct rounds p50[COUNT(sides)] = {0};
	struct server server, theirs;
	struct crowd crowd;
	struct process informer;
	double each;

	bench_need_client_go(b);
	bench_need_memory(4.0 * (1 << 30));
	theirs = go_server_start(b, n);
	informer = go_informer_start(b, &theirs, STREAM);
	each = pss(&informer);
	process_end(&informer, SIGKILL);
	server_end(&theirs);

	server = go_server_start(b, n);
	crowd_start(&crowd, b, &server, GO_AGENT, AGENTS_MAX);
	sleep_ms(4000); /* the daemon gathers its pages in its first seconds */
	report_value(b->report, crowd_pss(&crowd), NULL, each * AGENTS_MAX, "go_eight_agents_pss");
	crowd_end(&crowd);

	for (unsigned round = 0; round < (b->quick ? 1u : 5u); round++) {
		double before = 0; /* from made to commit, the same for all */

		for (size_t i = 0; i < COUNT(sides); i++) {
			struct told told;

			crowd_start(&crowd, b, &server, sides[i], 1);
			told = crowd_changes(&crowd, RATE, CHANGES, "");
			if (sides[i] == OURS)
				before = told.p50 - told.commit_p50;
			rounds_add(&p50[i], told.p50 - before);
			crowd_end(&crowd);
		}
	}
	server_end(&server);
	report_rounds(b->report, &p50[1], NULL, &p50[0], "go_commit_to_handler_%u_p50_us", RATE);
	report_rounds(b->report, &p50[2], NULL, &p50[0], "clientgo_commit_to_handler_%u_p50_us", RATE);
}
