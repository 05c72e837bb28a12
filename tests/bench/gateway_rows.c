/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer-gateway beside the API server that it stands before: the same questions to the one and the other,
 * in turn, over plain HTTP, with the same bytes of each object in the answers; but for lists that are
 * measured once more as informerd caches without being told otherwise, without managedFields. informerd
 * follows the server all the while, and the gateway informerd.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "reader-lib/informer.h"
#include "tests/bench/gateway_clients.h"
#include "tests/bench/gateway_rows.h"

#define JSON "application/json"
#define METADATA "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
#define TOGETHER 8u /* who come at once, for the list that is shared */
#define ANSWER_S 600u

static bool
all_over(const struct clients *c, void *ctx)
{
	struct clients_count count = clients_count(c);

	(void)ctx;
	return count.whole + count.failed + count.refused == count.asked;
}

/* ---- lists ---- */

/* So many at once ask for a list. CPU of the process that serves them, ms a client; bytes of one answer. */
static int
take_list(struct gateway_world *w, enum place at, unsigned clients, bool gzip, double *ret_ms,
	  double *ret_bytes)
{
	struct clients *c = clients_new(place_url(&w->gateway, &w->server, at));
	struct upstream_cost rest;
	struct clients_count count = {0};
	double before;
	int r = c ? upstream_cost(&w->server, &rest) : -ENOMEM;

	before = process_cpu_us(place_pid(&w->gateway, &w->server, at));
	for (unsigned i = 0; r == 0 && i < clients; i++)
		r = clients_add(c, "/api/v1/pods", JSON, gzip, false);
	if (r == 0 && !clients_run(c, now_ns() + ANSWER_S * 1000000000ull, all_over, NULL))
		r = -ETIMEDOUT;
	if (r == 0)
		r = upstream_cost(&w->server, &rest);
	*ret_ms = (process_cpu_us(place_pid(&w->gateway, &w->server, at)) - before) / 1e3 / clients;
	if (c)
		count = clients_count(c);
	*ret_bytes = (double)count.bytes / clients;
	clients_free(c);
	return r < 0 ? r : count.whole == clients ? 0 : -EPROTO;
}

enum listed { FRESH, SHARED, LISTED };

/* What a row is of: who asks, in which form, and what informerd keeps. */
struct listing {
	enum listed what;
	bool gzip, as_cached;
};

static void
listing_name(const struct listing *l, char name[48])
{
	snprintf(name, 48, "gateway_list_%s%s%scpu_ms", l->what == SHARED ? "shared_" : "",
		 l->as_cached ? "as_cached_" : "", l->gzip ? "gzip_" : "");
}

static void
report_list(struct gateway_world *w, const struct listing *l, const struct rounds *ours,
	    const struct rounds *theirs, const double bytes[PLACES])
{
	static const char *const says[] = {[FRESH] = "one client, whose list is made for him",
					   [SHARED] = "a client, of eight that ask at once and are given the "
						      "same list; the server's for one"};
	char name[48];
	struct row *row;

	listing_name(l, name);
	row = report_add(
		w->b->report, name, "ms", rounds_median(ours), "upstream's API server", rounds_median(theirs),
		"user and system time of who serves a LIST of %zu pods as JSON%s: %s; %.0f–%.0f, the server "
		"%.0f–%.0f; %.1f MB here%s, %.1f MB there; %u rounds in turn",
		w->server.pods, l->gzip ? " in gzip" : "", says[l->what], rounds_min(ours), rounds_max(ours),
		rounds_min(theirs), rounds_max(theirs), bytes[AT_GATEWAY] / 1e6,
		l->as_cached ? ", without managedFields, which informerd drops" : "",
		bytes[AT_UPSTREAM] / 1e6, ours->count);
	row->target.ratio = 5;
	row->target.ratio_aim = 10;
}

static void
measure_lists_as(struct gateway_world *w, bool gzip, bool as_cached)
{
	struct listing listing = {.gzip = gzip, .as_cached = as_cached};
	struct rounds ours[LISTED] = {0}, theirs = {0};
	double ms, bytes[PLACES] = {0};
	char name[48];
	int r = 0;

	for (unsigned round = 0; r == 0 && round < (w->b->quick ? 2u : 5u); round++) {
		r = take_list(w, AT_UPSTREAM, 1, gzip, &ms, &bytes[AT_UPSTREAM]);
		rounds_add(&theirs, ms);
		for (enum listed what = 0; r == 0 && what < LISTED; what++) {
			r = take_list(w, AT_GATEWAY, what == SHARED ? TOGETHER : 1, gzip, &ms,
				      &bytes[AT_GATEWAY]);
			rounds_add(&ours[what], ms);
		}
	}
	if (r < 0) {
		listing_name(&listing, name);
		report_skip(w->b->report, name, "ms", "%s", gateway_reason(r));
		return;
	}
	for (; listing.what < LISTED; listing.what++)
		report_list(w, &listing, &ours[listing.what], &theirs, bytes);
}

static void
measure_lists(struct gateway_world *w, bool as_cached)
{
	measure_lists_as(w, false, as_cached);
	measure_lists_as(w, true, as_cached);
}

/* ---- one pod ---- */

static int
some_pod(const struct gateway_world *w, char path[512])
{
	char *text = client_get(w->gateway.url, "/api/v1/pods?limit=1");
	cJSON *page = cJSON_Parse(text ? text : "");
	const cJSON *metadata = cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(page, "items"), 0),
						    "metadata");
	const char *namespace_ = cJSON_GetStringValue(cJSON_GetObjectItem(metadata, "namespace"));
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(metadata, "name"));

	if (namespace_ && name)
		snprintf(path, 512, "/api/v1/namespaces/%s/pods/%s", namespace_, name);
	cJSON_Delete(page);
	free(text);
	return namespace_ && name ? 0 : -EPROTO;
}

static int
ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

#define GETS 2000u

static int
take_gets(const char *url, const char *path, unsigned n, struct rounds *p50, struct rounds *p99)
{
	double took[GETS];
	int fd = client_connect(url);

	if (fd < 0)
		return -ECONNREFUSED;
	for (unsigned i = 0; i < n; i++) {
		uint64_t start = now_ns();

		if (client_ask(fd, path, JSON) < 0) {
			close(fd);
			return -EPROTO;
		}
		took[i] = (double)(now_ns() - start) / 1e3;
	}
	close(fd);
	qsort(took, n, sizeof(took[0]), ascending);
	rounds_add(p50, took[n / 2]);
	rounds_add(p99, took[n - 1 - n / 100]);
	return 0;
}

static void
measure_gets(struct gateway_world *w)
{
	struct rounds p[2][PLACES] = {0};
	unsigned n = w->b->quick ? 500 : GETS;
	char path[512];
	int r = some_pod(w, path);

	for (unsigned round = 0; r == 0 && round < (w->b->quick ? 3u : 9u); round++)
		for (enum place at = 0; r == 0 && at < PLACES; at++)
			r = take_gets(place_url(&w->gateway, &w->server, at), path, n, &p[0][at], &p[1][at]);
	for (unsigned i = 0; i < 2; i++) {
		const char *name = i == 0 ? "gateway_get_p50_us" : "gateway_get_p99_us";
		struct row *row;

		if (r < 0) {
			report_skip(w->b->report, name, "us", "%s", gateway_reason(r));
			continue;
		}
		row = report_add(
			w->b->report, name, "us", rounds_median(&p[i][AT_GATEWAY]), "upstream's API server",
			rounds_median(&p[i][AT_UPSTREAM]),
			"GET of one pod, from the question until the answer is whole, one connection that is "
			"kept; %.0f–%.0f, the server %.0f–%.0f; %u rounds of %u in turn",
			rounds_min(&p[i][AT_GATEWAY]), rounds_max(&p[i][AT_GATEWAY]),
			rounds_min(&p[i][AT_UPSTREAM]), rounds_max(&p[i][AT_UPSTREAM]),
			p[i][AT_GATEWAY].count, n);
		row->target.ratio = i == 0 ? 3 : 0;
	}
}

/* ---- a herd ---- */

struct herd {
	double cpu_ms, seconds, encoded, megabytes, rss;
	unsigned served, refused, failed;
};

/* They come evenly within so many seconds; who is told 429 comes again a second later. */
static int
take_herd(struct gateway_world *w, enum place at, unsigned clients, unsigned seconds, struct herd *ret)
{
	struct clients *c = clients_new(place_url(&w->gateway, &w->server, at));
	pid_t pid = place_pid(&w->gateway, &w->server, at);
	uint64_t start = now_ns(), pause = seconds * 1000000000ull / clients, again = 0;
	double cpu = process_cpu_us(pid),
	       made = gateway_side_metric(&w->gateway, "informer_gateway_lists_made_total");
	unsigned came = 0;
	struct clients_count count = {0};
	bool over = false;
	int r = c ? 0 : -ENOMEM;

	while (r == 0 && !over && now_ns() - start < ANSWER_S * 1000000000ull) {
		if (came < clients) {
			r = clients_add(c, "/api/v1/pods?resourceVersion=0", METADATA, true, false);
			came++;
			clients_run(c, start + came * pause, NULL, NULL);
		} else {
			over = clients_run(c, now_ns() + 1000000000u, all_over, NULL);
		}
		count = clients_count(c);
		if (count.refused > count.asked - came && now_ns() >= again) {
			r = clients_add(c, "/api/v1/pods?resourceVersion=0", METADATA, true, false);
			over = false;
			again = now_ns() + pause;
		}
	}
	if (r == 0)
		*ret = (struct herd){.seconds = (double)(now_ns() - start) / 1e9,
				     .served = count.whole,
				     .refused = count.refused,
				     .failed = count.failed,
				     .megabytes = (double)count.bytes / (count.whole ? count.whole : 1) /
						  1e6};
	clients_free(c);
	ret->encoded = gateway_side_metric(&w->gateway, "informer_gateway_lists_made_total") - made;
	ret->cpu_ms = (process_cpu_us(pid) - cpu) / 1e3;
	ret->rss = (double)process_bytes(pid, "status", "VmHWM:");
	return r;
}

static void
measure_herd(struct gateway_world *w)
{
	unsigned n[PLACES] = {[AT_GATEWAY] = w->b->quick ? 200 : 2000, [AT_UPSTREAM] = w->b->quick ? 4 : 20};
	unsigned seconds = w->b->quick ? 2 : 10;
	struct herd herd[PLACES] = {0};
	struct row *row;
	int r = 0;

	for (enum place at = 0; r == 0 && at < PLACES; at++)
		r = take_herd(w, at, n[at], seconds, &herd[at]);
	if (r < 0) {
		report_skip(w->b->report, "gateway_herd_encoded", "times", "%s", gateway_reason(r));
		return;
	}
	row = report_add(
		w->b->report, "gateway_herd_encoded", "times", herd[AT_GATEWAY].encoded,
		"upstream's API server", n[AT_UPSTREAM],
		"%u clients come within %u s and want %zu pods as metadata (JSON, gzip): how often that was "
		"encoded; %u served within %.1f s, %u told to come again, %u failed, %.2f MB each; the "
		"server, asked by %u within as long, encodes for each: %u served within %.1f s, %.2f MB each",
		n[AT_GATEWAY], seconds, w->server.pods, herd[AT_GATEWAY].served, herd[AT_GATEWAY].seconds,
		herd[AT_GATEWAY].refused, herd[AT_GATEWAY].failed, herd[AT_GATEWAY].megabytes, n[AT_UPSTREAM],
		herd[AT_UPSTREAM].served, herd[AT_UPSTREAM].seconds, herd[AT_UPSTREAM].megabytes);
	row->target.value = 10;
	report_add(w->b->report, "gateway_herd_client_cpu_ms", "ms", herd[AT_GATEWAY].cpu_ms / n[AT_GATEWAY],
		   "upstream's API server", herd[AT_UPSTREAM].cpu_ms / n[AT_UPSTREAM],
		   "user and system time of who serves it, a client, sending with it; the gateway held at "
		   "most %.0f MiB",
		   herd[AT_GATEWAY].rss / 1048576);
}

/* ---- */

const char *
gateway_reason(int r)
{
	return r < -4095 ? informer_strerror(r) : strerror(-r);
}

/* Whether a part is to be measured. */
static bool
has(const char *which, const char *part)
{
	return !*which || strstr(which, part);
}

static void
measure_all(struct gateway_world *w, const char *which)
{
	if (has(which, "list"))
		measure_lists(w, false);
	if (has(which, "get"))
		measure_gets(w);
	if (has(which, "watch"))
		measure_gateway_watches(w);
	if (has(which, "node"))
		measure_gateway_nodes(w);
	if (has(which, "herd"))
		measure_herd(w);
}

/* A gateway, and what is measured with it. */
static void
with_gateway(struct gateway_world *w, const char *which, bool all_fields)
{
	int r = gateway_side_start(w->b, &w->server, all_fields, &w->gateway);

	if (r < 0)
		report_skip(w->b->report, "gateway_*", "ms", "the gateway did not start: %s",
			    gateway_reason(r));
	else if (all_fields)
		measure_all(w, which);
	else
		measure_lists(w, true);
	gateway_side_end(&w->gateway);
}

void
measure_gateway(struct bench *b, const char *which)
{
	const char *const more[UPSTREAM_MORE] = {"--plain", "--nodes", "5000"}; /* GATEWAY_NODES */
	const char *why = upstream_missing(b);
	struct gateway_world w = {.b = b};
	int r;

	fprintf(stderr, "gateway ...\n");
	if (why) {
		report_skip(b->report, "gateway_*", "ms", "%s", why);
		return;
	}
	clients_raise_limits();
	r = upstream_start_with(b, strtoul(b->upstream_pods, NULL, 10), more, &w.server);
	if (r < 0) {
		report_skip(b->report, "gateway_*", "ms", "the API server did not start: %s", strerror(-r));
		return;
	}
	if (has(which, "list"))
		with_gateway(&w, which, false);
	with_gateway(&w, which, true);
	upstream_end(&w.server);
}
