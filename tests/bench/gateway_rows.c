/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer-gateway beside its API server: the same questions to each in turn, over plain HTTP, with equal
 * bytes of each object. Lists are measured once more with informerd's default, without managedFields.
 * informerd follows the server all the time, and the gateway follows informerd.
 */
#include "tests/bench/gateway_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "tests/bench/gateway_clients.h"

#define JSON "application/json"
#define METADATA "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
#define TOGETHER 8u /* clients of the shared list */
#define ANSWER_S 600u

static bool
all_over(const struct clients *c, void *ctx)
{
	struct clients_count count = clients_count(c);

	(void)ctx;
	return count.whole + count.failed + count.refused == count.asked;
}

/* ---- lists ---- */

/* So many clients ask for a list at once: CPU of the serving process, ms a client. */
static double
take_list(struct gateway_world *w, enum place at, unsigned clients, bool gzip)
{
	const struct server *server = &w->servers[at];
	struct clients *c = clients_new(server->url);
	double before;

	server_cost(&w->servers[AT_UPSTREAM]);
	before = process_cpu_us(server->process.pid);
	for (unsigned i = 0; i < clients; i++)
		clients_add(c, "/api/v1/pods", JSON, gzip, false);
	if (!clients_run(c, now_ns() + ANSWER_S * 1000000000ull, all_over, NULL) ||
	    clients_count(c).whole != clients)
		bench_fail("%u of %u lists of %s came, %u were refused, %u failed", clients_count(c).whole,
			   clients, at == AT_UPSTREAM ? "the server" : "the gateway",
			   clients_count(c).refused, clients_count(c).failed);
	clients_free(c);
	server_cost(&w->servers[AT_UPSTREAM]);
	return (process_cpu_us(server->process.pid) - before) / 1e3 / clients;
}

static void
measure_lists(struct gateway_world *w, bool gzip, bool as_cached)
{
	struct rounds fresh = {0}, shared = {0}, theirs = {0};
	char name[48];

	for (unsigned round = 0; round < (w->b->quick ? 2u : 5u); round++) {
		rounds_add(&theirs, take_list(w, AT_UPSTREAM, 1, gzip));
		rounds_add(&fresh, take_list(w, AT_GATEWAY, 1, gzip));
		rounds_add(&shared, take_list(w, AT_GATEWAY, TOGETHER, gzip));
	}
	snprintf(name, sizeof(name), "%s%scpu_ms", as_cached ? "as_cached_" : "", gzip ? "gzip_" : "");
	report_rounds(w->b->report, &fresh, NULL, &theirs, "gateway_list_%s", name);
	report_rounds(w->b->report, &shared, NULL, &theirs, "gateway_list_shared_%s", name);
}

/* ---- one pod ---- */

static void
some_pod(const struct gateway_world *w, char path[512])
{
	char *text = server_get(&w->servers[AT_GATEWAY], false, "/api/v1/pods?limit=1");
	cJSON *page = cJSON_Parse(text);
	const cJSON *metadata = cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(page, "items"), 0),
						    "metadata");
	const char *namespace_ = cJSON_GetStringValue(cJSON_GetObjectItem(metadata, "namespace"));
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(metadata, "name"));

	if (!namespace_ || !name)
		bench_fail("the gateway has no pod");
	snprintf(path, 512, "/api/v1/namespaces/%s/pods/%s", namespace_, name);
	cJSON_Delete(page);
	free(text);
}

#define GETS 2000u

/* From the question until the complete answer, on one kept connection. */
static void
take_gets(const char *url, const char *path, unsigned n, struct rounds *p50, struct rounds *p99)
{
	double took[GETS] = {0};
	int fd = client_connect(url);

	for (unsigned i = 0; i < n; i++) {
		uint64_t start = now_ns();

		client_ask(fd, path, JSON);
		took[i] = (double)(now_ns() - start) / 1e3;
	}
	close(fd);
	qsort(took, n, sizeof(took[0]), ascending_doubles);
	rounds_add(p50, took[n / 2]);
	rounds_add(p99, took[n - 1 - n / 100]);
}

static void
measure_gets(struct gateway_world *w)
{
	struct rounds p50[PLACES] = {0}, p99[PLACES] = {0};
	char path[512];

	some_pod(w, path);
	for (unsigned round = 0; round < (w->b->quick ? 3u : 9u); round++)
		for (enum place at = 0; at < PLACES; at++)
			take_gets(w->servers[at].url, path, w->b->quick ? 500 : GETS, &p50[at], &p99[at]);
	report_rounds(w->b->report, &p50[AT_GATEWAY], NULL, &p50[AT_UPSTREAM], "gateway_get_p50_us");
	report_rounds(w->b->report, &p99[AT_GATEWAY], NULL, &p99[AT_UPSTREAM], "gateway_get_p99_us");
}

/* ---- a herd ---- */

static double
lists_made(const struct gateway_world *w)
{
	static const char name[] = "\ninformer_gateway_lists_made_total ";
	char *text = server_get(&w->servers[AT_GATEWAY], false, "/metrics"), *at = strstr(text, name);
	double value = at ? strtod(at + sizeof(name) - 1, NULL) : 0;

	free(text);
	return value;
}

/*
 * The clients come evenly within so many seconds. A client that gets 429 comes again a second later. CPU of
 * the serving process, ms a client.
 */
static double
take_herd(struct gateway_world *w, enum place at, unsigned clients, unsigned seconds)
{
	struct clients *c = clients_new(w->servers[at].url);
	pid_t pid = w->servers[at].process.pid;
	uint64_t start = now_ns(), pause = seconds * 1000000000ull / clients, again = 0;
	double cpu = process_cpu_us(pid);
	unsigned came = 0;
	bool over = false;

	while (!over && now_ns() - start < ANSWER_S * 1000000000ull) {
		struct clients_count count;

		if (came < clients) {
			clients_add(c, "/api/v1/pods?resourceVersion=0", METADATA, true, false);
			came++;
			clients_run(c, start + came * pause, NULL, NULL);
		} else {
			over = clients_run(c, now_ns() + 1000000000u, all_over, NULL);
		}
		count = clients_count(c);
		if (count.refused > count.asked - came && now_ns() >= again) {
			clients_add(c, "/api/v1/pods?resourceVersion=0", METADATA, true, false);
			over = false;
			again = now_ns() + pause;
		}
	}
	if (clients_count(c).whole != clients)
		bench_fail("%u of %u were served", clients_count(c).whole, clients);
	clients_free(c);
	return (process_cpu_us(pid) - cpu) / 1e3 / clients;
}

/* How often the gateway encoded the list; the server encodes it for each client. */
static void
measure_herd(struct gateway_world *w)
{
	unsigned theirs = w->b->quick ? 4 : 20, seconds = w->b->quick ? 2 : 10;
	double made = lists_made(w), cpu_ms = take_herd(w, AT_GATEWAY, w->b->quick ? 200 : 2000, seconds);

	report_value(w->b->report, lists_made(w) - made, NULL, theirs, "gateway_herd_encoded");
	report_value(w->b->report, cpu_ms, NULL, take_herd(w, AT_UPSTREAM, theirs, seconds),
		     "gateway_herd_client_cpu_ms");
}

/* True if a part is to be measured. */
static bool
has(const struct bench *b, const char *part)
{
	return !*b->parts || strstr(b->parts, part);
}

static void
start_gateway(struct gateway_world *w, const char *flag)
{
	w->daemon = daemon_start(w->b, "gateway", &w->servers[AT_UPSTREAM], NULL, flag);
	daemon_wait_pods(&w->daemon, w->servers[AT_UPSTREAM].pods);
	w->servers[AT_GATEWAY] = gateway_start(w->b, &w->daemon, &w->servers[AT_UPSTREAM]);
}

static void
end_gateway(struct gateway_world *w)
{
	server_end(&w->servers[AT_GATEWAY]);
	daemon_end(w->b, &w->daemon);
}

void
measure_gateway(struct bench *b, size_t n)
{
	struct gateway_world w = {.b = b};

	clients_raise_limits();
	w.servers[AT_UPSTREAM] = upstream_start(b, n, true);
	if (has(b, "list")) {
		start_gateway(&w, "");
		measure_lists(&w, false, true);
		measure_lists(&w, true, true);
		end_gateway(&w);
	}
	start_gateway(&w, "--keep-managed-fields");
	if (has(b, "list")) {
		measure_lists(&w, false, false);
		measure_lists(&w, true, false);
	}
	if (has(b, "get"))
		measure_gets(&w);
	if (has(b, "watch"))
		measure_gateway_watches(&w);
	if (has(b, "node"))
		measure_gateway_nodes(&w);
	if (has(b, "herd"))
		measure_herd(&w);
	end_gateway(&w);
	server_end(&w.servers[AT_UPSTREAM]);
}
