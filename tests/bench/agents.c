/* SPDX-License-Identifier: Apache-2.0 */
/* Eight agents on one node: memory, CPU, and the API server's requests when one is killed and restarted. */
#include "tests/bench/bench.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/servers.h"

static double
requests(const struct server *sim)
{
	static const char name[] = "\napiserver_request_total{";
	char *text = server_get(sim, false, "/metrics");
	double sum = 0;

	for (char *line = text; (line = strstr(line, name)); line++)
		sum += strtod(strchr(line, '}') + 1, NULL);
	free(text);
	if (sum <= 0)
		bench_fail("informer-sim counts no requests");
	return sum;
}

void
measure_agents(struct bench *b, size_t n)
{
	struct server sim = sim_start(b, n);
	struct crowd crowd;
	double pss, before;
	char but[64];

	crowd_start(&crowd, b, &sim, OURS, AGENTS_MAX);
	sleep_ms(b->quick ? 2000 : 4000); /* the daemon gathers its pages in its first seconds */
	snprintf(but, sizeof(but), "/%s.", crowd.daemon.name);
	pss = daemon_arena_bytes(b, &crowd.daemon, false) +
	      process_mapped(crowd.daemon.process.pid, "Pss:", but);
	for (unsigned i = 0; i < AGENTS_MAX; i++)
		pss += process_mapped(crowd.agents[i].pid, "Pss:", but);
	report_value(b->report, pss, NULL, b->report->client_go_pss * AGENTS_MAX, "eight_readers_pss");
	before = requests(&sim);
	for (unsigned i = 0; i < 3; i++) {
		process_end(&crowd.agents[i], SIGKILL);
		crowd.agents[i] = handler_spawn(b, crowd.daemon.socket, NULL, 1);
		if (handler_ready(&crowd.agents[i]) != (double)sim.pods)
			bench_fail("a reader was not told of all pods");
	}
	report_value(b->report, requests(&sim) - before, NULL, 0, "restart_requests");
	crowd_end(&crowd);
	server_end(&sim);
}
