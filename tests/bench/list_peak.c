/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real binaries: the peak of the daemon's private memory for one LIST response of 100,000 pods. Then the
 * daemon is killed and restarted while a reader goes on.
 */
#include "tests/bench/bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/informer.h"
#include "tests/bench/servers.h"

/* The highest RssAnon until the first list is complete. */
static double
watch_list(const struct daemon *d, struct informer *inf)
{
	uint64_t end = now_ns() + 120000000000u;
	int64_t peak = 0;

	while (informer_wait_synced(inf, "pods", 0) < 0) {
		for (int i = 0; i < 10; i++) {
			int64_t now = process_bytes(d->process.pid, "status", "RssAnon:");

			peak = now > peak ? now : peak;
			nanosleep(&(struct timespec){0, 500000}, NULL);
		}
		if (now_ns() > end)
			bench_fail("the list did not come");
	}
	return (double)peak;
}

/* "listed 100030 objects at resourceVersion 1 in 1048 ms (1 page, 891642 KB)" */
static double
response_bytes(const struct daemon *d)
{
	char line[512], *at;
	double kilobytes = 0;
	FILE *f = fopen(d->log, "re");

	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, "(1 page, ");
		if (at)
			kilobytes = strtod(at + 9, NULL);
	}
	if (f)
		fclose(f);
	return kilobytes * 1000;
}

/* ---- killed ---- */

#define NAMES 64u

struct names {
	char ns[NAMES][256], name[NAMES][256];
};

static void
some_names(struct informer *inf, struct informer_resource *pods, struct names *n)
{
	struct informer_snapshot s;
	struct informer_object o;
	struct informer_iter it;
	const char *text;
	size_t length;

	bench_need(informer_begin(inf, &s), "snapshot");
	bench_need(informer_list(&s, pods, &it), "list");
	for (unsigned i = 0; i < NAMES; i++) {
		if (informer_next(&it, &o) <= 0)
			bench_fail("there are few pods");
		bench_need(informer_object_namespace(&o, &text, &length), "namespace");
		snprintf(n->ns[i], 256, "%.*s", (int)length, text);
		bench_need(informer_object_name(&o, &text, &length), "name");
		snprintf(n->name[i], 256, "%.*s", (int)length, text);
	}
	informer_end(&s);
}

/* Look up again and again, each time with success, until a snapshot is of another generation. */
static void
until_moved(struct informer *inf, struct informer_resource *pods, const struct names *n, uint64_t generation)
{
	struct informer_moment moment = {.generation = generation};
	uint64_t end = now_ns() + 30000000000u;

	for (unsigned i = 1; moment.generation == generation; i++) {
		struct informer_snapshot s;
		struct informer_object o;

		bench_need(informer_begin(inf, &s), "snapshot");
		bench_need(informer_get_z(&s, pods, n->ns[i % NAMES], n->name[i % NAMES], &o), "get");
		bench_need(informer_snapshot_moment(&s, &moment), "moment");
		informer_end(&s);
		if (i % 16 == 0) /* leaves the daemon its share of a small machine */
			nanosleep(&(struct timespec){0, 100000}, NULL);
		if (now_ns() > end)
			bench_fail("the daemon did not come back");
	}
}

static void
measure_restart(struct bench *b, const struct server *sim, struct daemon *d, struct informer *inf)
{
	struct rounds ms = {0};
	struct names *names = bench_alloc(1, sizeof(*names));
	struct informer_resource *pods;
	struct informer_status status = {.size = sizeof(status)};

	bench_need(informer_resource_open(inf, "pods", &pods), "pods");
	some_names(inf, pods, names);
	for (unsigned i = 0; i < (b->quick ? 1u : 5u); i++) {
		uint64_t t;

		bench_need(informer_status(inf, &status), "status");
		t = now_ns();
		process_end(&d->process, SIGKILL);
		*d = daemon_start(b, "list", sim, NULL, "");
		until_moved(inf, pods, names, status.generation);
		rounds_add(&ms, ms_since(t));
		bench_need(informer_wait_synced(inf, "pods", 10000), "sync");
	}
	free(names);
	report_rounds(b->report, &ms, NULL, NULL, "restart_100k_ms");
}

/* As a LIST, so that it is one response. infix: of the rows' names */
static void
measure_syntax(struct bench *b, const struct server *sim, const char *wire, const char *infix, bool restart)
{
	uint64_t start = now_ns();
	struct daemon d = daemon_start(b, "list", sim, wire, "--no-watch-list");
	struct informer_options options = {
		.size = sizeof(options), .socket_path = d.socket, .reader_name = "bench"};
	struct informer *inf;
	double peak;

	bench_need(informer_attach(&options, &inf), "attach");
	peak = watch_list(&d, inf);
	report_value(b->report, ms_since(start), NULL, 0, "list_100k_%sms", infix);
	report_value(b->report, peak, NULL, response_bytes(&d), "list_peak_%sbytes", infix);
	if (restart)
		measure_restart(b, sim, &d, inf);
	informer_detach(inf);
	daemon_end(b, &d);
}

void
measure_list(struct bench *b, size_t n)
{
	struct server sim;

	bench_need_memory(3.0 * (1 << 30));
	sim = sim_start(b, n);
	measure_syntax(b, &sim, "json", "", true);
	measure_syntax(b, &sim, "protobuf", "protobuf_", false);
	server_end(&sim);
}
