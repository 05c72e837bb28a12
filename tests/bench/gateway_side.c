/* SPDX-License-Identifier: Apache-2.0 */
/* A gateway before a server; see gateway_side.h. */
#include "tests/bench/gateway_side.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/gateway_clients.h"

#define READY_S 60u

/* What it logs when it listens: "listening at URL ...". */
static bool
listens(struct gateway_side *g)
{
	static const char said[] = "listening at ";
	FILE *log = fopen(g->log, "re");
	char line[512], *at = NULL;

	while (log && !at && fgets(line, sizeof(line), log))
		at = strstr(line, said);
	if (log)
		fclose(log);
	return at && sscanf(at + sizeof(said) - 1, "%63s", g->url) == 1;
}

static bool
ready(struct gateway_side *g)
{
	char *said;

	if (!g->url[0] && !listens(g))
		return false;
	said = client_get(g->url, "/readyz");
	free(said);
	return said != NULL;
}

static int
start_gateway(struct gateway_side *g, const struct upstream *server)
{
	char program[4096];
	const char *argv[] = {
		program,    "--socket",    g->daemon.socket,         "--kubeconfig", server->kubeconfig,
		"--listen", "127.0.0.1:0", "--insecure-loopback",    "--allow",      "*",
		"--allow",  "/metrics",    "--requests-by-identity", "10000",        "--watches-by-identity",
		"10000",    NULL};
	uint64_t end = now_ns() + READY_S * 1000000000ull;
	int r;

	snprintf(program, sizeof(program), "%s/informer-gateway", g->b->build);
	snprintf(g->log, sizeof(g->log), "%s/gateway.log", g->b->directory);
	r = process_start(&g->process, argv, NULL, g->log);
	while (r == 0 && !ready(g)) {
		nanosleep(&(struct timespec){0, 20000000}, NULL);
		if (now_ns() > end)
			r = -ETIMEDOUT;
	}
	return r;
}

int
gateway_side_start(const struct bench *b, const struct upstream *server, bool all_fields,
		   struct gateway_side *ret)
{
	const char *more[DAEMON_MORE] = {b->wire ? "--wire" : NULL, b->wire};
	int r;

	if (all_fields)
		more[b->wire ? 2 : 0] = "--keep-managed-fields";
	*ret = (struct gateway_side){.b = b};
	r = daemon_start_with(b, "gateway", "--kubeconfig", server->kubeconfig, more, &ret->daemon);
	if (r == 0)
		r = daemon_wait_pods(&ret->daemon, server->pods);
	return r == 0 ? start_gateway(ret, server) : r;
}

void
gateway_side_end(struct gateway_side *g)
{
	process_end(&g->process, SIGKILL);
	daemon_end(g->b, &g->daemon);
}

double
gateway_side_metric(const struct gateway_side *g, const char *name)
{
	char *text = client_get(g->url, "/metrics"), line[128], *at;
	double value = -1;

	snprintf(line, sizeof(line), "\n%s ", name);
	at = text ? strstr(text, line) : NULL;
	if (at)
		value = strtod(at + strlen(line), NULL);
	free(text);
	return value;
}
