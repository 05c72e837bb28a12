/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/servers.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <curl/curl.h>

#include "reader-lib/informer.h"

#define TOKEN "bench"
#define START_S 900    /* upstream's server writes 50,000 pods one by one */
#define REST_MS 300    /* it is idle when it spent less than REST_US in so long */
#define REST_US 30000.0 /* a tenth of a core: etcd's clock ticks on */
#define REST_WITHIN_S 30u
#define AWAIT_S 120u

const char *const side_names[SIDES] = {"informerd", "client-go protobuf watch-list",
				       "client-go protobuf LIST", "client-go JSON LIST",
				       "client-go JSON watch-list", "clientgo over informerd",
				       "Go's reader"};

/* ---- servers ---- */

/* "... url=http://127.0.0.1:45711 ..." */
static void
read_url(struct server *s, const char *before, int timeout_s)
{
	char line[512], *at;

	process_line(&s->process, line, timeout_s);
	at = strstr(line, before);
	if (!at || sscanf(at + strlen(before), "%127s", s->url) != 1)
		bench_fail("a server said \"%s\"", line);
}

static const char *
replicas(const struct bench *b, struct server *s, size_t pods, char text[24])
{
	size_t real = pods_count(b->pods), each = (pods + real - 1) / real;

	s->pods = each * real;
	snprintf(text, 24, "%zu", each);
	return text;
}

struct server
sim_start(const struct bench *b, size_t pods)
{
	struct server s = {0};
	char count[24];

	snprintf(s.kubeconfig, sizeof(s.kubeconfig), "%s/kubeconfig", b->directory);
	s.process = process_start(b, NULL, "informer-sim", "--write-kubeconfig", s.kubeconfig, "--seed", "1",
				  "--load", b->pods_directory, "--replicas", replicas(b, &s, pods, count),
				  NULL);
	read_url(&s, "url=", 120);
	return s;
}

/* "serving 10000 pods on 127.0.0.1:45711" */
struct server
go_server_start(const struct bench *b, size_t pods)
{
	struct server s = {.pods = pods};
	char count[24], address[120];

	snprintf(count, sizeof(count), "%zu", pods);
	s.process = process_start(b, NULL, b->client_go, "serve", "-pods", b->pods_directory, "-n", count,
				  "-addr", "127.0.0.1:0", NULL);
	read_url(&s, " on ", 120);
	snprintf(address, sizeof(address), "%.119s", s.url);
	snprintf(s.url, sizeof(s.url), "http://%s", address);
	return s;
}

struct server
upstream_start(const struct bench *b, size_t pods, bool plain)
{
	struct server s = {0};
	char count[24];

	snprintf(s.directory, sizeof(s.directory), "%s/upstream", b->directory);
	snprintf(s.kubeconfig, sizeof(s.kubeconfig), "%s/kubeconfig", s.directory);
	s.process = process_start(b, NULL, "apiserver", "--load", b->pods_directory, "--replicas",
				  replicas(b, &s, pods, count), "--data-dir", s.directory,
				  "--write-kubeconfig", s.kubeconfig, "--token", TOKEN,
				  plain ? "--plain" : "", plain ? "--nodes" : "", plain ? "5000" : "", NULL);
	read_url(&s, "url=", START_S);
	return s;
}

void
server_end(struct server *s)
{
	process_end(&s->process, SIGKILL);
}

/* ---- requests ---- */

struct fetch {
	void (*each)(void *context, const char *bytes, size_t length);
	void *context;
};

static size_t
on_bytes(char *bytes, size_t size, size_t count, void *context)
{
	struct fetch *f = context;

	f->each(f->context, bytes, size * count);
	return size * count;
}

/* ca "": the system's, without a token */
static CURLcode
fetch(const char *url, const char *ca, bool post, struct fetch *f)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Authorization: Bearer " TOKEN);
	CURL *curl = curl_easy_init();
	CURLcode code;

	if (!curl || !headers)
		abort();
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, f);
	if (ca[0]) {
		curl_easy_setopt(curl, CURLOPT_CAINFO, ca);
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	}
	if (post) {
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 0L);
	}
	code = curl_easy_perform(curl);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	return code;
}

static void
fetch_or_fail(const char *url, const char *ca, bool post, struct fetch *f)
{
	CURLcode code = fetch(url, ca, post, f);

	if (code != CURLE_OK)
		bench_fail("%s: %s", url, curl_easy_strerror(code));
}

static void
keep(void *context, const char *bytes, size_t length)
{
	if (bytes_append(context, bytes, length) < 0)
		abort();
}

char *
server_get(const struct server *s, bool post, const char *path, ...)
{
	char url[512], ca[192] = "";
	struct bytes text = {0};
	int n = snprintf(url, sizeof(url), "%s", s->url);
	va_list args;

	va_start(args, path);
	vsnprintf(url + n, sizeof(url) - (size_t)n, path, args);
	va_end(args);
	if (s->directory[0])
		snprintf(ca, sizeof(ca), "%s/certs/apiserver.crt", s->directory);
	fetch_or_fail(url, ca, post, &(struct fetch){keep, &text});
	keep(&text, "", 1);
	return (char *)text.data;
}

void
server_change(const struct server *s, unsigned rate, size_t n, const char *create)
{
	if (s->directory[0])
		free(server_get(s, true, "/sim/churn?rate=%u&count=%zu&stamp=peer.example%%2Fts&create=%s",
				rate, n, create));
	else
		free(server_get(s, false, "/churn?rate=%u&n=%zu", rate, n));
}

struct server_cost
server_cost(const struct server *s)
{
	uint64_t end = now_ns() + REST_WITHIN_S * 1000000000ull;
	struct server_cost ret = {0};
	double before;
	char *text;
	cJSON *stats;

	if (!s->directory[0]) {
		text = server_get(s, false, "/bench/traffic");
		if (sscanf(text, "%lf %lf", &ret.requests, &ret.bytes) != 2)
			bench_fail("the server said \"%s\"", text);
		free(text);
		return ret;
	}
	do {
		before = process_cpu_us(s->process.pid);
		sleep_ms(REST_MS);
		ret.cpu_us = process_cpu_us(s->process.pid);
	} while (ret.cpu_us - before > REST_US && now_ns() < end);
	text = server_get(s, false, "/sim/stats");
	stats = cJSON_Parse(text);
	ret.bytes = cJSON_GetNumberValue(cJSON_GetObjectItem(stats, "bytesSent"));
	cJSON_Delete(stats);
	free(text);
	return ret;
}

/* ---- informerd ---- */

struct daemon
daemon_start(const struct bench *b, const char *name, const struct server *s, const char *wire,
	     const char *flag)
{
	bool file = s->kubeconfig[0] != '\0';
	struct daemon d;

	if (!wire)
		wire = b->wire ? b->wire : "auto";
	snprintf(d.name, sizeof(d.name), "%s", name);
	snprintf(d.socket, sizeof(d.socket), "%s/%s.socket", b->directory, name);
	snprintf(d.log, sizeof(d.log), "%s/%s.log", b->directory, name);
	d.process = process_start(b, d.log, "informerd", file ? "--kubeconfig" : "--server",
				  file ? s->kubeconfig : s->url, "--resource", "pods", "--socket", d.socket,
				  "--arena-dir", b->directory, "--arena-name", d.name, "--wire", wire, flag,
				  NULL);
	return d;
}

double
daemon_arena_bytes(const struct bench *b, const struct daemon *d, bool remove_them)
{
	char pattern[256];
	double bytes = 0;
	struct stat st;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/%s.*[0-9]", b->directory, d->name);
	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (stat(found.gl_pathv[i], &st) == 0)
			bytes += (double)st.st_blocks * 512;
		if (remove_them)
			unlink(found.gl_pathv[i]);
	}
	globfree(&found);
	return bytes;
}

void
daemon_end(const struct bench *b, struct daemon *d)
{
	process_end(&d->process, SIGKILL);
	daemon_arena_bytes(b, d, true);
}

/* The socket exists some milliseconds after the start. */
void
daemon_wait_pods(const struct daemon *d, size_t pods)
{
	struct informer_options options = {
		.size = sizeof(options), .socket_path = d->socket, .reader_name = "bench"};
	struct informer_resource_info info = {.size = sizeof(info)};
	uint64_t end = now_ns() + 10000000000u;
	struct informer *inf = NULL;
	struct informer_resource *resource;
	struct informer_snapshot snap;

	for (bool attached = false; !attached && now_ns() < end;) {
		struct informer_status status = {.size = sizeof(status)};

		informer_detach(inf);
		nanosleep(&(struct timespec){0, 500000}, NULL);
		bench_need(informer_attach(&options, &inf), "attach");
		bench_need(informer_status(inf, &status), "status");
		attached = status.attached;
	}
	bench_need(informer_wait_synced(inf, "pods", 120000), "sync");
	bench_need(informer_resource_open(inf, "pods", &resource), "pods");
	bench_need(informer_begin(inf, &snap), "snapshot");
	bench_need(informer_resource_info(&snap, resource, &info), "pods");
	informer_end(&snap);
	informer_detach(inf);
	if (info.object_count != pods)
		bench_fail("informerd has %llu pods, not %zu", (unsigned long long)info.object_count, pods);
}

/* ---- informer-gateway ---- */

static void
ignore(void *context, const char *bytes, size_t length)
{
	(void)context;
	(void)bytes;
	(void)length;
}

/* Its log when it listens: "listening at URL ...". */
static bool
gateway_ready(struct server *s, const char *log)
{
	static const char said[] = "listening at ";
	char line[512], *at = NULL, url[160];
	FILE *f = fopen(log, "re");

	while (f && !at && fgets(line, sizeof(line), f))
		at = strstr(line, said);
	if (f)
		fclose(f);
	if (!at || sscanf(at + sizeof(said) - 1, "%127s", s->url) != 1)
		return false;
	snprintf(url, sizeof(url), "%s/readyz", s->url);
	return fetch(url, "", false, &(struct fetch){ignore, NULL}) == CURLE_OK;
}

struct server
gateway_start(const struct bench *b, const struct daemon *d, const struct server *upstream)
{
	uint64_t end = now_ns() + 60000000000u;
	struct server s = {.pods = upstream->pods};
	char log[96], config[96];
	FILE *f;

	snprintf(log, sizeof(log), "%s/gateway.log", b->directory);
	snprintf(config, sizeof(config), "%s/gateway.yaml", b->directory);
	f = fopen(config, "we");
	if (!f ||
	    fputs("listeners: [{listen: '127.0.0.1:0', profile: insecure-loopback, scope: ['*', /metrics]}]\n"
		  "limits: {requestsByIdentity: 10000, watchesByIdentity: 10000}\n",
		  f) < 0 ||
	    fclose(f) != 0)
		bench_fail("%s: %s", config, strerror(errno));
	s.process = process_start(b, log, "informer-gateway", "--socket", d->socket, "--kubeconfig",
				  upstream->kubeconfig, "--config", config, NULL);
	while (!gateway_ready(&s, log)) {
		sleep_ms(20);
		if (now_ns() > end)
			bench_fail("the gateway is not ready");
	}
	return s;
}

/* ---- agents ---- */

struct process
handler_spawn(const struct bench *b, const char *socket, const char *ns, unsigned count)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", count);
	return process_start(b, NULL, "/proc/self/exe", "handler", socket, ns ? ns : "-", number, NULL);
}

/* "ready 10000" */
static double
read_ready(struct process *p, int timeout_s)
{
	char line[512];
	double number;

	process_line(p, line, timeout_s);
	if (sscanf(line, "ready %lf", &number) != 1)
		bench_fail("an agent said \"%s\"", line);
	return number;
}

double
handler_ready(struct process *p)
{
	return read_ready(p, 60);
}

struct process
go_informer_start(const struct bench *b, const struct server *s, enum side side)
{
	bool file = s->kubeconfig[0] != '\0', json = side == JSON_LIST || side == JSON_STREAM;
	struct process p;
	double pods;

	setenv("KUBE_FEATURE_WatchListClient", side == LIST || side == JSON_LIST ? "false" : "true", 1);
	p = process_start(b, NULL, b->client_go, "events", file ? "-kubeconfig" : "-server",
			  file ? s->kubeconfig : s->url, json ? "-json" : "", NULL);
	unsetenv("KUBE_FEATURE_WatchListClient");
	pods = read_ready(&p, 300);
	if (pods != (double)s->pods)
		bench_fail("client-go has %.0f pods, not %zu", pods, s->pods);
	return p;
}

struct process
go_agent_start(const struct bench *b, const struct daemon *d, enum side side, size_t pods)
{
	struct process p = process_start(b, NULL, b->client_go, "events", "-socket", d->socket,
					 side == GO_WATCH ? "-watch" : "", NULL);

	if (read_ready(&p, 60) != (double)pods)
		bench_fail("Go's reader has not all pods");
	return p;
}

struct process
go_rounds_start(const struct bench *b, size_t n, const struct daemon *d, double *ret_heap)
{
	struct process p;
	char count[24];

	snprintf(count, sizeof(count), "%zu", n);
	p = process_start(b, NULL, b->client_go, "rounds", "-pods", b->pods_directory, "-n", count,
			  d ? "-socket" : "", d ? d->socket : "", NULL);
	*ret_heap = read_ready(&p, 180);
	return p;
}

void
agent_begin(struct process *p)
{
	double answer;

	process_ask(p, &answer, 1, 10, "begin");
}

struct told
agent_await(struct process *p, enum side side, size_t n, unsigned seconds)
{
	double t[7] = {0};

	process_ask(p, t, side == OURS ? 7 : 4, (int)seconds + 10, "await %u %zu", seconds, n);
	return (struct told){t[0], t[1], t[2], t[3], t[4], t[5], t[6]};
}

static bool
has_daemon(enum side side)
{
	return side == OURS || side == GO_AGENT || side == GO_WATCH;
}

void
crowd_start(struct crowd *c, const struct bench *b, const struct server *s, enum side side, unsigned count)
{
	uint64_t start = now_ns();
	unsigned i = 0;

	*c = (struct crowd){.b = b, .server = s, .side = side, .count = count};
	if (has_daemon(side)) {
		c->daemon = daemon_start(b, "crowd", s, NULL, "");
		daemon_wait_pods(&c->daemon, s->pods);
	} else {
		c->agents[i++] = go_informer_start(b, s, side);
	}
	c->wall_ms = ms_since(start);
	c->cpu_ms = process_cpu_us(has_daemon(side) ? c->daemon.process.pid : c->agents[0].pid) / 1e3;
	for (; i < count; i++) {
		if (side != OURS) {
			c->agents[i] = has_daemon(side) ? go_agent_start(b, &c->daemon, side, s->pods) :
							  go_informer_start(b, s, side);
			continue;
		}
		c->agents[i] = handler_spawn(b, c->daemon.socket, NULL, 1);
		if (handler_ready(&c->agents[i]) != (double)s->pods)
			bench_fail("a reader was not told of all pods");
	}
}

void
crowd_end(struct crowd *c)
{
	for (unsigned i = 0; i < AGENTS_MAX; i++)
		process_end(&c->agents[i], SIGKILL);
	if (has_daemon(c->side))
		daemon_end(c->b, &c->daemon);
}

struct told
crowd_changes(struct crowd *c, unsigned rate, size_t n, const char *create)
{
	struct told first = {0}, told;

	for (unsigned i = 0; i < c->count; i++)
		agent_begin(&c->agents[i]);
	server_change(c->server, rate, n, create);
	for (unsigned i = 0; i < c->count; i++) {
		told = agent_await(&c->agents[i], c->side, n, AWAIT_S);
		if (told.count < (double)n && told.overflows == 0)
			bench_fail("an agent was told of %.0f changes of %zu", told.count, n);
		if (i == 0)
			first = told;
	}
	return first;
}
