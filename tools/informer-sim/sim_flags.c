/* SPDX-License-Identifier: Apache-2.0 */
/* informer-sim's table of flags, and checks of their combinations; see sim_flags.h. */
#include "tools/informer-sim/sim_flags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/flags/flags.h"
#include "tools/informer-sim/registry.h"
#include "tools/schema/proto_release.h"
#include "tools/schema/proto_schema.h"

/* ---- values ---- */

#define TAKE_NUMBER(function, type, low, high)                                                               \
	static int function(void *at, const char *value, char **ret_error)                                   \
	{                                                                                                    \
		uint64_t number;                                                                             \
		int r = flag_number(value, low, high, &number, ret_error);                                   \
                                                                                                             \
		if (r == 0)                                                                                  \
			*(type *)at = (type)number;                                                          \
		return r;                                                                                    \
	}
TAKE_NUMBER(take_port, uint16_t, 0, 65535)
TAKE_NUMBER(take_replicas, unsigned, 1, 10000000)
TAKE_NUMBER(take_nodes, unsigned, 1, 60000)
TAKE_NUMBER(take_pods_per_node, unsigned, 1, 10000)
TAKE_NUMBER(take_churn_count, uint64_t, 1, UINT64_MAX)
TAKE_NUMBER(take_history, size_t, 1, 10000000)
TAKE_NUMBER(take_start_rv, uint64_t, 0, INT64_MAX)
TAKE_NUMBER(take_bookmarks, unsigned, 1, 86400)
TAKE_NUMBER(take_rv_wait, unsigned, 0, 3600000)

/* Take the seed, and fix the time: runs with equal seeds are equal. */
static int
take_seed(void *at, const char *value, char **ret_error)
{
	struct sim_options *options = at;

	options->now = 1767225600; /* 2026-01-01T00:00:00Z */
	return flag_number(value, 0, UINT64_MAX, &options->seed, ret_error);
}

static int
take_release(void *at, const char *value, char **ret_error)
{
	const char *minor = strchr(value, '.');

	*(unsigned *)at = minor ? proto_release(value, minor + 1) : 0;
	return *(unsigned *)at ? 0 : flag_fail(ret_error, "must be a release, as 1.36");
}

/* Print objects as this release; 0: as the newest. Whether the release is known. */
static bool
fit(unsigned release)
{
	struct proto_schema *schema = proto_schema_builtin();

	proto_schema_fit(schema, release ? release : proto_schema_newest(schema));
	return proto_schema_release(schema) && release <= proto_schema_newest(schema);
}

static int
take_churn(void *at, const char *value, char **ret_error)
{
	double churn;
	char *end;

	errno = 0;
	churn = strtod(value, &end);
	if (errno || end == value || *end || !(churn >= 0 && churn <= 1e6))
		return flag_fail(ret_error, "must be a number of changes a second, up to 1000000");
	*(double *)at = churn;
	return 0;
}

static int
take_pem(void *at, const char *value, char **ret_error)
{
	struct api_buf buf = {0};
	char **text = at;
	int r = api_buf_read_file(&buf, value, 1 << 20);

	if (r < 0) {
		api_buf_done(&buf);
		return flag_fail(ret_error, "%s", strerror(-r));
	}
	free(*text);
	*text = api_buf_take(&buf);
	return strstr(*text, "-----BEGIN") ? 0 : flag_fail(ret_error, "it is no PEM file");
}

/* ---- the table ---- */

static const struct flag flags[] = {
	FLAG_HEADING("Serving"),
	{"port", 0, "PORT", "listen here; 0, the default, takes any free port", take_port,
	 offsetof(struct sim_options, server.port), false},
	{"address", 0, "IP", "listen on this address; default 127.0.0.1",
	 FLAG_TEXT(struct sim_options, server.address)},
	{"write-kubeconfig", 0, "FILE", "write a kubeconfig that points here",
	 FLAG_TEXT(struct sim_options, kubeconfig)},
	{"token", 0, "TOKEN", "ask every client for this bearer token",
	 FLAG_TEXT(struct sim_options, server.token)},
	{"tls", 0, NULL,
	 "serve TLS with certificates made for this run, ask clients for theirs (in the kubeconfig)",
	 FLAG_ON(struct sim_options, tls)},
	{"tls-dir", 0, "DIR",
	 "the same, and keep them here: ca, server, client .crt and .key; a CA that is there stays",
	 FLAG_TEXT(struct sim_options, tls_dir)},
	{"tls-cert", 0, "FILE", "serve TLS with this certificate (PEM), which becomes the kubeconfig's CA",
	 take_pem, offsetof(struct sim_options, tls_cert_text), false},
	{"tls-key", 0, "FILE", "and this key (PEM)", take_pem, offsetof(struct sim_options, tls_key_text),
	 false},
	{"client-ca", 0, "FILE", "let clients in whose certificate this CA (PEM) signed; others need --token",
	 take_pem, offsetof(struct sim_options, client_ca_text), false},
	FLAG_HEADING("Objects"),
	{"load", 0, "FILE|DIR", "load JSON manifests or `kubectl get -o json` dumps; repeatable",
	 FLAG_TEXTS(struct sim_options, load)},
	{"replicas", 0, "N", "make each loaded pod N pods, with names, UIDs, addresses, times of their own",
	 take_replicas, offsetof(struct sim_options, replicas), false},
	{"nodes", 0, "N", "generate a cluster of N nodes", take_nodes, offsetof(struct sim_options, nodes),
	 false},
	{"pods-per-node", 0, "M", "with M pods on each; default 30", take_pods_per_node,
	 offsetof(struct sim_options, pods_per_node), false},
	{"crd", 0, "PLURAL[/KIND].VERSION.GROUP",
	 "serve a custom resource too: widgets.v1.example.com; repeatable",
	 FLAG_TEXTS(struct sim_options, crds)},
	{"seed", 0, "N", "equal seeds give equal clusters, times included (counted back from 2026-01-01)",
	 take_seed, 0, false},
	FLAG_HEADING("Life"),
	{"churn", 0, "R", "change R objects a second: mostly pods' status, some creates and deletes",
	 take_churn, offsetof(struct sim_options, churn), false},
	{"churn-count", 0, "N", "and stop after N changes", take_churn_count,
	 offsetof(struct sim_options, churn_count), false},
	{"history", 0, "N", "events kept for watches of each resource, older is 410 Gone; default 10000",
	 take_history, offsetof(struct sim_options, history), false},
	{"start-rv", 0, "N", "count resource versions from N; default 0", take_start_rv,
	 offsetof(struct sim_options, start_rv), false},
	{"bookmark-interval", 0, "SECONDS", "between two bookmarks of a watch; default 60", take_bookmarks,
	 offsetof(struct sim_options, server.bookmark_interval), false},
	{"no-watch-list", 0, NULL, "refuse sendInitialEvents, as a server without the WatchList feature",
	 FLAG_ON(struct sim_options, server.no_watch_list)},
	{"drop-fields", 0, NULL, "honour drop=metadata.managedFields in Accept",
	 FLAG_ON(struct sim_options, server.drop_fields)},
	{"release", 0, "R", "print objects as Kubernetes R did, 1.36; default: the newest that is known",
	 take_release, offsetof(struct sim_options, release), false},
	{"hide-version", 0, NULL, "forbid /version, as without ClusterRole system:public-info-viewer",
	 FLAG_ON(struct sim_options, server.hide_version)},
	{"no-protobuf", 0, NULL, "serve JSON only", FLAG_ON(struct sim_options, server.no_protobuf)},
	{"no-aggregated-discovery", 0, NULL, "serve discovery the old way only",
	 FLAG_ON(struct sim_options, server.no_aggregated_discovery)},
	{"rv-wait", 0, "MS", "how long a request at a future RV waits for its 504; default 3000",
	 take_rv_wait, offsetof(struct sim_options, server.await_ms), false},
	{"faults", 0, "FILE", "a script of faults, see below; repeatable",
	 FLAG_TEXTS(struct sim_options, faults)},
	FLAG_HEADING("Help"),
	{"help", 'h', NULL, "print this", FLAG_ON(struct sim_options, help)},
	{"version", 0, NULL, "print the version", FLAG_ON(struct sim_options, version)},
};
static const struct flag_table table = {flags, sizeof(flags) / sizeof(*flags), NULL, true, NULL};

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
	flags_help(stdout, &table, 29);
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

int
sim_options_parse(int argc, char **argv, struct sim_options *ret_options)
{
	_cleanup_(api_freep) char *error = NULL;
	struct sim_options *o = ret_options;
	char span[PROTO_SCHEMA_SPAN];
	int at;

	*o = (struct sim_options){
		.server = {.address = "127.0.0.1", .bookmark_interval = 60, .await_ms = 3000},
		.replicas = 1,
		.pods_per_node = 30,
		.seed = 1,
		.now = (int64_t)time(NULL),
		.history = 10000};
	at = flags_parse(&table, argc, argv, o, NULL, &error);
	if (at < 0)
		return usage("%s", error ? error : strerror(-at));
	if (o->help) {
		help();
		return 0;
	}
	if (o->version) {
		puts("informer-sim " INFORMER_VERSION);
		return 0;
	}
	if (at < argc)
		return usage("%s: it takes flags only", argv[at]);
	if (!proto_schema_builtin())
		return usage("out of memory");
	if (!fit(o->release))
		return usage("--release is none of %s", proto_schema_span(proto_schema_builtin(), span));
	o->tls |= o->tls_dir != NULL;
	if (!o->tls_cert_text != !o->tls_key_text)
		return usage("--tls-cert and --tls-key go together");
	if (o->tls && (o->tls_cert_text || o->client_ca_text))
		return usage(
			"--tls makes its own certificates: it does not go with --tls-cert and --client-ca");
	if (o->client_ca_text && !o->tls_cert_text)
		return usage("--client-ca needs --tls-cert and --tls-key");
	if (o->replicas > 1 && o->load.count == 0)
		return usage("--replicas multiplies what --load loads: give --load too");
	if (o->churn_count && o->churn == 0)
		return usage("--churn-count needs --churn");
	o->server.tls_cert = o->tls_cert_text;
	o->server.tls_key = o->tls_key_text;
	o->server.client_ca = o->client_ca_text;
	return -1;
}

int
sim_options_resources(const struct sim_options *options, struct api_registry *registry)
{
	struct api_resource *resource;

	for (size_t i = 0; i < options->crds.count; i++) {
		if (sim_registry_declare(registry, options->crds.items[i], &resource) == 0)
			continue;
		fprintf(stderr,
			"informer-sim: --crd %s: write it as PLURAL.VERSION.GROUP, as "
			"widgets.v1.example.com\n",
			options->crds.items[i]);
		return -EINVAL;
	}
	return 0;
}

int
sim_options_certs(struct sim_options *options)
{
	_cleanup_(api_freep) char *error = NULL;
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
