/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags: one table gives parser, help text and the hint after a misspelt one.
 */
#include "tools/informer-sim/sim_flags.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/flags/nearest.h"
#include "tools/flags/whole_flag.h"

enum flag {
	FLAG_PORT = 256,
	FLAG_ADDRESS,
	FLAG_KUBECONFIG,
	FLAG_TOKEN,
	FLAG_TLS,
	FLAG_TLS_DIR,
	FLAG_TLS_CERT,
	FLAG_TLS_KEY,
	FLAG_CLIENT_CA,
	FLAG_LOAD,
	FLAG_REPLICAS,
	FLAG_NODES,
	FLAG_PODS_PER_NODE,
	FLAG_CRD,
	FLAG_SEED,
	FLAG_CHURN,
	FLAG_CHURN_COUNT,
	FLAG_HISTORY,
	FLAG_START_RV,
	FLAG_BOOKMARKS,
	FLAG_NO_WATCH_LIST,
	FLAG_NO_AGGREGATED,
	FLAG_RV_WAIT,
	FLAG_FAULTS,
	FLAG_HELP,
	FLAG_VERSION,
};

static const struct {
	enum flag flag;
	const char *name;
	const char *argument; /* NULL: takes none */
	const char *heading;  /* printed before it */
	const char *help;
} flags[] = {
	{FLAG_PORT, "port", "PORT", "Serving", "listen here; 0, the default, takes any free port"},
	{FLAG_ADDRESS, "address", "IP", NULL, "listen on this address; default 127.0.0.1"},
	{FLAG_KUBECONFIG, "write-kubeconfig", "FILE", NULL, "write a kubeconfig that points here"},
	{FLAG_TOKEN, "token", "TOKEN", NULL, "ask every client for this bearer token"},
	{FLAG_TLS, "tls", NULL, NULL,
	 "serve TLS with certificates made for this run, ask clients for theirs (in the kubeconfig)"},
	{FLAG_TLS_DIR, "tls-dir", "DIR", NULL,
	 "the same, and keep them here: ca, server, client .crt and .key; a CA that is there stays"},
	{FLAG_TLS_CERT, "tls-cert", "FILE", NULL,
	 "serve TLS with this certificate (PEM), which becomes the kubeconfig's CA"},
	{FLAG_TLS_KEY, "tls-key", "FILE", NULL, "and this key (PEM)"},
	{FLAG_CLIENT_CA, "client-ca", "FILE", NULL,
	 "let clients in whose certificate this CA (PEM) signed; others need --token"},
	{FLAG_LOAD, "load", "FILE|DIR", "Objects",
	 "load JSON manifests or `kubectl get -o json` dumps; repeatable"},
	{FLAG_REPLICAS, "replicas", "N", NULL,
	 "make each loaded pod N pods, with names, UIDs, addresses, times of their own"},
	{FLAG_NODES, "nodes", "N", NULL, "generate a cluster of N nodes"},
	{FLAG_PODS_PER_NODE, "pods-per-node", "M", NULL, "with M pods on each; default 30"},
	{FLAG_CRD, "crd", "PLURAL[/KIND].VERSION.GROUP", NULL,
	 "serve a custom resource too: widgets.v1.example.com; repeatable"},
	{FLAG_SEED, "seed", "N", NULL,
	 "equal seeds give equal clusters, times included (counted back from 2026-01-01)"},
	{FLAG_CHURN, "churn", "R", "Life",
	 "change R objects a second: mostly pods' status, some creates and deletes"},
	{FLAG_CHURN_COUNT, "churn-count", "N", NULL, "and stop after N changes"},
	{FLAG_HISTORY, "history", "N", NULL,
	 "events kept for watches of each resource, older is 410 Gone; default 10000"},
	{FLAG_START_RV, "start-rv", "N", NULL, "count resource versions from N; default 0"},
	{FLAG_BOOKMARKS, "bookmark-interval", "SECONDS", NULL,
	 "between two bookmarks of a watch; default 60"},
	{FLAG_NO_WATCH_LIST, "no-watch-list", NULL, NULL,
	 "refuse sendInitialEvents, as a server without the WatchList feature"},
	{FLAG_NO_AGGREGATED, "no-aggregated-discovery", NULL, NULL, "serve discovery the old way only"},
	{FLAG_RV_WAIT, "rv-wait", "MS", NULL,
	 "how long a request at a future RV waits for its 504; default 3000"},
	{FLAG_FAULTS, "faults", "FILE", NULL, "a script of faults, see below; repeatable"},
	{FLAG_HELP, "help", NULL, "Help", "print this"},
	{FLAG_VERSION, "version", NULL, NULL, "print the version"},
};
#define FLAG_COUNT (sizeof(flags) / sizeof(*flags))

static void
help(void)
{
	puts("informer-sim [flags]\n"
	     "\n"
	     "An API server without a cluster: LIST, WATCH and changes of Kubernetes objects, served\n"
	     "from memory, for tests, benchmarks and demonstrations. When it serves, it prints one line:\n"
	     "\n"
	     "    READY url=http://127.0.0.1:PORT kubeconfig=FILE pid=PID\n"
	     "\n"
	     "    informer-sim --write-kubeconfig sim.kubeconfig --nodes 10 --churn 50 &\n"
	     "    kubectl --kubeconfig sim.kubeconfig get pods -A");
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		char name[80];

		if (flags[i].heading)
			printf("\n%s\n", flags[i].heading);
		snprintf(name, sizeof(name), "--%s%s%s", flags[i].name, flags[i].argument ? " " : "",
			 flags[i].argument ? flags[i].argument : "");
		if (strlen(name) > 26)
			printf("  %s\n  %-26s %s\n", name, "", flags[i].help);
		else
			printf("  %-26s %s\n", name, flags[i].help);
	}
	puts("\nPages of its own (besides the API, /metrics, /healthz, /readyz, /livez, /version)\n"
	     "  POST /sim/churn?rate=R&count=N   start, change or (R=0) stop churn\n"
	     "  POST /sim/compact                forget the history: watches of older RVs get 410\n"
	     "  POST /sim/restore?rv=N           go back to an older RV, as after a restore: watches end\n"
	     "  GET, POST, DELETE /sim/faults    the fault rules with how often each acted; add; drop all\n"
	     "  GET, DELETE /sim/log             what was asked and answered, a line each; and forget it\n"
	     "  GET  /sim/stats                  RV, objects, watches, churn, as JSON\n"
	     "\n"
	     "Fault scripts, a rule a line\n"
	     "  when VERB [RESOURCE] [in NAMESPACE] [page N] [rv none|RV] [nth N]\n"
	     "       [after N events|N bytes|TIME] then ACTION [once|times N]\n"
	     "  random [seed=N] rate=P% [VERB [RESOURCE]] ACTION...\n"
	     "  VERB    LIST WATCH WATCHLIST GET CREATE UPDATE PATCH DELETE DELETECOLLECTION DISCOVERY ANY\n"
	     "  ACTION  refuse [TIME] | close [mid-frame] | end | 410, 429 [retry-after S], 500, ... | gone "
	     "|\n"
	     "          too-large | slow TIME | slow N bytes every TIME | truncate | invalid | stale N |\n"
	     "          restore N | freeze [TIME]\n"
	     "\n"
	     "Not served: server-side apply, dryRun, logs and exec, admission, defaulting. Fields are not\n"
	     "validated, a namespace need not exist, pods are deleted at once.\n"
	     "See informer-sim(1).");
}

static int __attribute__((format(printf, 1, 2)))
usage(const char *format, ...)
{
	va_list args;

	fputs("informer-sim: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs(" (informer-sim --help lists all flags)\n", stderr);
	return 2;
}

static int
unknown(const char *argument)
{
	const char *name = argument + strspn(argument, "-"), *names[FLAG_COUNT], *near;
	_cleanup_(sim_freep) char *bare = sim_strndup(name, strcspn(name, "="));

	for (size_t i = 0; i < FLAG_COUNT; i++)
		names[i] = flags[i].name;
	near = nearest(bare, names, FLAG_COUNT);
	if (near)
		return usage("%s is no flag of it; did you mean --%s?", argument, near);
	return usage("%s is no flag of it", argument);
}

static int
number(const char *flag, const char *text, uint64_t low, uint64_t high, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || *ret < low || *ret > high)
		return usage("--%s %s: must be a number from %llu to %llu", flag, text,
			     (unsigned long long)low, (unsigned long long)high);
	return -1;
}

static int
read_file(const char *flag, const char *path, char **ret_text)
{
	struct sim_buf buf = {0};
	int r = sim_buf_read_file(&buf, path, 1 << 20);

	if (r < 0) {
		sim_buf_done(&buf);
		return usage("--%s %s: %s", flag, path, strerror(-r));
	}
	free(*ret_text);
	*ret_text = sim_buf_take(&buf);
	if (!strstr(*ret_text, "-----BEGIN"))
		return usage("--%s %s: it is no PEM file", flag, path);
	return -1;
}

static int
repeat(const char *flag, const char *text, const char **list, unsigned *count)
{
	if (*count == SIM_REPEAT_MAX)
		return usage("--%s: given more than %d times", flag, SIM_REPEAT_MAX);
	list[(*count)++] = text;
	return -1;
}

static int
apply(struct sim_options *o, enum flag flag, const char *name, const char *text)
{
	uint64_t n = 0;
	char *end;
	int r = -1;

	switch (flag) {
	case FLAG_PORT:
		r = number(name, text, 0, 65535, &n);
		o->server.port = (uint16_t)n;
		return r;
	case FLAG_ADDRESS:
		o->server.address = text;
		return -1;
	case FLAG_KUBECONFIG:
		o->kubeconfig = text;
		return -1;
	case FLAG_TOKEN:
		o->server.token = text;
		return text[0] ? -1 : usage("--token: must not be empty");
	case FLAG_TLS_CERT:
		return read_file(name, text, &o->tls_cert_text);
	case FLAG_TLS_KEY:
		return read_file(name, text, &o->tls_key_text);
	case FLAG_CLIENT_CA:
		return read_file(name, text, &o->client_ca_text);
	case FLAG_TLS_DIR:
		o->tls_dir = text;
		o->tls = true;
		return -1;
	case FLAG_TLS:
		o->tls = true;
		return -1;
	case FLAG_LOAD:
		return repeat(name, text, o->load, &o->load_count);
	case FLAG_CRD:
		return repeat(name, text, o->crds, &o->crd_count);
	case FLAG_REPLICAS:
		r = number(name, text, 1, 10000000, &n);
		o->replicas = (unsigned)n;
		return r;
	case FLAG_NODES:
		r = number(name, text, 1, 60000, &n);
		o->nodes = (unsigned)n;
		return r;
	case FLAG_PODS_PER_NODE:
		r = number(name, text, 1, 10000, &n);
		o->pods_per_node = (unsigned)n;
		return r;
	case FLAG_SEED:
		r = number(name, text, 0, UINT64_MAX, &o->seed);
		o->now = 1767225600; /* 2026-01-01T00:00:00Z */
		return r;
	case FLAG_CHURN:
		errno = 0;
		o->churn = strtod(text, &end);
		if (errno || end == text || *end || !(o->churn >= 0 && o->churn <= 1e6))
			return usage("--churn %s: must be a number of changes a second, up to 1000000", text);
		return -1;
	case FLAG_CHURN_COUNT:
		return number(name, text, 1, UINT64_MAX, &o->churn_count);
	case FLAG_HISTORY:
		r = number(name, text, 1, 10000000, &n);
		o->history = (size_t)n;
		return r;
	case FLAG_START_RV:
		return number(name, text, 0, INT64_MAX, &o->start_rv);
	case FLAG_BOOKMARKS:
		r = number(name, text, 1, 86400, &n);
		o->server.bookmark_interval = (unsigned)n;
		return r;
	case FLAG_NO_WATCH_LIST:
		o->server.no_watch_list = true;
		return -1;
	case FLAG_NO_AGGREGATED:
		o->server.no_aggregated_discovery = true;
		return -1;
	case FLAG_RV_WAIT:
		r = number(name, text, 0, 3600000, &n);
		o->server.await_ms = (unsigned)n;
		return r;
	case FLAG_FAULTS:
		return repeat(name, text, o->faults, &o->fault_count);
	case FLAG_VERSION:
		puts("informer-sim " INFORMER_VERSION);
		return 0;
	case FLAG_HELP:
		help();
		return 0;
	}
	return r;
}

int
sim_options_parse(int argc, char **argv, struct sim_options *ret_options)
{
	struct option long_options[FLAG_COUNT + 1] = {0};
	struct sim_options *o = ret_options;
	int c;

	*o = (struct sim_options){
		.server = {.address = "127.0.0.1", .bookmark_interval = 60, .await_ms = 3000},
		.replicas = 1,
		.pods_per_node = 30,
		.seed = 1,
		.now = (int64_t)time(NULL),
		.history = 10000};
	for (size_t i = 0; i < FLAG_COUNT; i++)
		long_options[i] = (struct option){.name = flags[i].name,
						  .has_arg = flags[i].argument ? required_argument
									       : no_argument,
						  .val = (int)flags[i].flag};
	opterr = 0;
	for (;;) {
		int r;

		if (!flag_is_whole(argv[optind], long_options))
			return unknown(argv[optind]);
		c = getopt_long(argc, argv, "+:h", long_options, NULL);
		if (c == -1)
			break;
		if (c == ':')
			return usage("%s needs a value", argv[optind - 1]);
		if (c == '?')
			return unknown(argv[optind - 1]);
		if (c == 'h')
			c = FLAG_HELP;
		r = apply(o, (enum flag)c, flags[c - FLAG_PORT].name, optarg);
		if (r >= 0)
			return r;
	}
	if (optind < argc)
		return usage("%s: it takes flags only", argv[optind]);
	if (!o->tls_cert_text != !o->tls_key_text)
		return usage("--tls-cert and --tls-key go together");
	if (o->tls && (o->tls_cert_text || o->client_ca_text))
		return usage(
			"--tls makes its own certificates: it does not go with --tls-cert and --client-ca");
	if (o->client_ca_text && !o->tls_cert_text)
		return usage("--client-ca needs --tls-cert and --tls-key");
	if (o->replicas > 1 && !o->load_count)
		return usage("--replicas multiplies what --load loads: give --load too");
	if (o->churn_count && o->churn == 0)
		return usage("--churn-count needs --churn");
	o->server.tls_cert = o->tls_cert_text;
	o->server.tls_key = o->tls_key_text;
	o->server.client_ca = o->client_ca_text;
	return -1;
}

int
sim_options_resources(const struct sim_options *options, struct sim_registry *registry)
{
	struct sim_resource *resource;

	for (unsigned i = 0; i < options->crd_count; i++) {
		if (sim_registry_declare(registry, options->crds[i], &resource) == 0)
			continue;
		fprintf(stderr,
			"informer-sim: --crd %s: write it as PLURAL.VERSION.GROUP, as "
			"widgets.v1.example.com\n",
			options->crds[i]);
		return -EINVAL;
	}
	return 0;
}

int
sim_options_certs(struct sim_options *options)
{
	_cleanup_(sim_freep) char *error = NULL;
	int r;

	if (!options->tls)
		return 0;
	r = sim_certs_make(options->server.address, options->tls_dir, &options->certs, &error);
	if (r < 0)
		fprintf(stderr, "informer-sim: --tls: %s\n", error);
	options->server.tls_cert = options->certs.cert;
	options->server.tls_key = options->certs.key;
	options->server.client_ca = options->certs.ca;
	return r;
}

void
sim_options_done(struct sim_options *options)
{
	sim_certs_done(&options->certs);
	free(options->client_ca_text);
	free(options->tls_cert_text);
	free(options->tls_key_text);
}
