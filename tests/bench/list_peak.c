/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real binaries: one LIST response of 100,000 pods, what it takes of the daemon's private memory; then
 * the daemon is killed and comes back, while a reader goes on.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "reader-lib/informer.h"
#include "tests/bench/daemon_side.h"
#include "tests/bench/sim.h"

static void
pause_us(long us)
{
	struct timespec t = {0, us * 1000};

	nanosleep(&t, NULL);
}

/* Until the first list is in; the highest RssAnon seen, and how long it took. */
static int
watch_list(const struct daemon *d, struct informer *inf, int64_t *ret_peak, double *ret_ms,
	   unsigned *ret_looks)
{
	uint64_t start = now_ns();
	int r = -ETIMEDOUT;

	*ret_peak = 0;
	*ret_looks = 0;
	while (r == -ETIMEDOUT && now_ns() - start < 120000000000u) {
		for (int i = 0; i < 10; i++, pause_us(500)) {
			int64_t now = process_bytes(d->process.pid, "status", "RssAnon:");

			*ret_peak = now > *ret_peak ? now : *ret_peak;
			++*ret_looks;
		}
		r = informer_wait_synced(inf, "pods", 0);
	}
	*ret_ms = (double)(now_ns() - start) / 1e6;
	return r;
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

struct names {
	char ns[64][256], name[64][256];
	unsigned count;
};

static void
some_names(struct informer *inf, struct informer_resource *pods, struct names *n)
{
	struct informer_snapshot s;
	struct informer_object o;
	struct informer_iter it;
	const char *text;
	size_t length;

	n->count = 0;
	if (informer_begin(inf, &s) < 0)
		return;
	if (informer_list(&s, pods, &it) == 0)
		for (; n->count < 64 && informer_next(&it, &o) > 0; n->count++) {
			if (informer_object_namespace(&o, &text, &length) == 0)
				snprintf(n->ns[n->count], 256, "%.*s", (int)length, text);
			if (informer_object_name(&o, &text, &length) == 0)
				snprintf(n->name[n->count], 256, "%.*s", (int)length, text);
		}
	informer_end(&s);
}

/* Look up on and on until a snapshot is of another generation. */
static int
until_moved(struct informer *inf, struct informer_resource *pods, const struct names *n, uint64_t generation,
	    unsigned long *ret_lookups, unsigned long *ret_failed, double *ret_worst_us)
{
	uint64_t end = now_ns() + 30000000000u;

	*ret_lookups = *ret_failed = 0;
	*ret_worst_us = 0;
	while (now_ns() < end) {
		struct informer_moment moment = {0};
		struct informer_snapshot s;
		struct informer_object o;
		unsigned i = (unsigned)(++*ret_lookups % n->count);
		uint64_t t = now_ns();
		double us;
		int r = informer_begin(inf, &s);

		if (r == 0) {
			r = informer_get_z(&s, pods, n->ns[i], n->name[i], &o);
			informer_snapshot_moment(&s, &moment);
			informer_end(&s);
		}
		us = (double)(now_ns() - t) / 1e3;
		*ret_worst_us = us > *ret_worst_us ? us : *ret_worst_us;
		*ret_failed += r != 0;
		if (r == 0 && moment.generation != generation)
			return 0;
		if (*ret_lookups % 16 == 0)	/* leaves the daemon its share of a small machine */
			pause_us(100);
	}
	return -ETIMEDOUT;
}

static void
measure_restart(struct bench *b, const struct sim *sim, struct daemon *d, struct informer *inf)
{
	struct rounds ms = {0};
	struct names *names = calloc(1, sizeof(*names));
	struct informer_resource *pods;
	struct informer_status status = {.size = sizeof(status)};
	unsigned long lookups = 0, failed = 0, n = 0, f = 0;
	double worst = 0, us = 0;
	struct row *row;
	int r = names ? informer_resource_open(inf, "pods", &pods) : -ENOMEM;

	if (r == 0)
		some_names(inf, pods, names);
	for (unsigned i = 0; r == 0 && names->count > 0 && i < (b->quick ? 1u : 5u); i++) {
		uint64_t t;

		r = informer_status(inf, &status);
		t = now_ns();
		process_end(&d->process, SIGKILL);
		if (r == 0)
			r = daemon_start(b, "list", "--kubeconfig", sim->kubeconfig, d);
		if (r == 0)
			r = until_moved(inf, pods, names, status.generation, &n, &f, &us);
		if (r < 0)
			break;
		rounds_add(&ms, (double)(now_ns() - t) / 1e6);
		lookups += n;
		failed += f;
		worst = us > worst ? us : worst;
		r = informer_wait_synced(inf, "pods", 10000);
	}
	free(names);
	if (r < 0 || ms.count == 0) {
		report_skip(b->report, "restart_100k_ms", "ms", "the daemon did not come back: %s",
			    informer_strerror(r));
		return;
	}
	row = report_add(b->report, "restart_100k_ms", "ms", rounds_median(&ms), NULL, 0,
			 "informerd killed with -9 and started again, until a reader's snapshot is of the "
			 "new generation; %u times, %.0f–%.0f; "
			 "meanwhile %lu lookups, %lu failed, the slowest took %.0f µs",
			 ms.count, rounds_min(&ms), rounds_max(&ms), lookups, failed, worst);
	row->target = (struct target){.value = 1000, .value_aim = 500};
}

/* How the list comes: as a LIST, so that all of it is one response. */
static const struct syntax {
	const char *wire, *peak, *ms;
} syntaxes[] = {{"json", "list_peak_bytes", "list_100k_ms"},
		{"protobuf", "list_peak_protobuf_bytes", "list_100k_protobuf_ms"}};

static int
measure_syntax(struct bench *b, const struct sim *sim, const struct syntax *s, struct daemon *d,
	       struct informer **ret_inf)
{
	const char *const more[DAEMON_MORE] = {"--wire", s->wire, "--no-watch-list"};
	struct informer_options options = {.size = sizeof(options), .reader_name = "bench"};
	int r = daemon_start_with(b, "list", "--kubeconfig", sim->kubeconfig, more, d);
	int64_t peak = 0, after;
	double ms = 0, response;
	unsigned looks = 0;
	struct row *row;

	options.socket_path = d->socket;
	if (r == 0)
		r = informer_attach(&options, ret_inf);
	if (r == 0)
		r = watch_list(d, *ret_inf, &peak, &ms, &looks);
	if (r < 0) {
		report_skip(b->report, s->peak, "bytes", "the daemon could not list: %s",
			    informer_strerror(r));
		return r;
	}
	after = process_bytes(d->process.pid, "status", "RssAnon:");
	response = response_bytes(d);
	row = report_add(b->report, s->peak, "bytes", (double)peak, response > 0 ? "the response" : NULL,
			 response,
			 "informerd, one LIST response of 100000 pods and more from informer-sim, --wire=%s; "
			 "highest RssAnon of %u looks (the arena is RssShmem); afterwards %.1f MiB",
			 s->wire, looks, (double)after / (1 << 20));
	row->target = (struct target){.value = 16 << 20};
	report_add(b->report, s->ms, "ms", ms, NULL, 0,
		   "from the daemon's start until its readers see all of them, server on the same machine; "
		   "%.0f MB of %s",
		   response / 1e6, s->wire);
	return 0;
}

void
measure_list(struct bench *b)
{
	const size_t total = 100000, real = pods_count(b->pods);
	struct sim sim = {0};
	int r;

	fprintf(stderr, "list ...\n");
	if (process_bytes(0, "../meminfo", "MemAvailable:") < (int64_t)3 << 30) {
		report_skip(b->report, "list_peak_bytes", "bytes",
			    "a server of 100000 pods needs 3 GiB of memory");
		return;
	}
	r = sim_start(b, b->pods_directory, (total + real - 1) / real, total / 50, &sim);
	if (r < 0)
		report_skip(b->report, "list_peak_bytes", "bytes", "informer-sim did not start: %s",
			    strerror(-r));
	for (size_t i = 0; r == 0 && i < sizeof(syntaxes) / sizeof(syntaxes[0]); i++) {
		struct daemon d = {0};
		struct informer *inf = NULL;

		r = measure_syntax(b, &sim, &syntaxes[i], &d, &inf);
		if (r == 0 && i == 0)
			measure_restart(b, &sim, &d, inf);
		informer_detach(inf);
		daemon_end(b, &d);
	}
	sim_end(&sim);
}
