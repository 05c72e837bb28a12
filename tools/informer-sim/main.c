/* SPDX-License-Identifier: Apache-2.0 */
/* informer-sim: an API server without a cluster. Flags, start, signals, exit. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/informer-sim/churn.h"
#include "tools/informer-sim/cluster.h"
#include "tools/informer-sim/http.h"
#include "tools/informer-sim/load.h"
#include "tools/informer-sim/route.h"
#include "tools/informer-sim/sim_flags.h"
#include "tools/informer-sim/write_kubeconfig.h"

static int
load(const struct sim_options *options, struct api_registry *registry, struct sim_store *store)
{
	struct sim_rng rng = {options->seed};
	struct sim_hosts hosts;
	struct sim_loader loader = {.registry = registry,
				    .store = store,
				    .rng = &rng,
				    .hosts = &hosts,
				    .replicas = options->replicas,
				    .now = options->now};
	int r = 0;

	sim_hosts_init(&hosts, options->nodes ? options->nodes : 200, &rng);
	for (size_t i = 0; i < options->load.count && r == 0; i++) {
		_cleanup_(api_freep) char *error = NULL;

		r = sim_load(&loader, options->load.items[i], &error);
		if (r < 0)
			fprintf(stderr, "informer-sim: --load %s\n", error ? error : options->load.items[i]);
	}
	if (r == 0 && options->nodes)
		sim_cluster_generate(registry, store, &hosts, options->pods_per_node, options->now, &rng);
	if (r == 0)
		sim_cluster_complete(registry, store, options->now, &rng);
	if (loader.replaced)
		fprintf(stderr,
			"informer-sim: %zu objects were loaded more than once under one name; the last one "
			"counts\n",
			loader.replaced);
	sim_hosts_done(&hosts);
	/* the initial objects are not history */
	sim_store_compact(store);
	return r;
}

/* Load the scripts of --faults. */
static int
load_faults(const struct sim_options *options, struct sim_faults *faults)
{
	for (size_t i = 0; i < options->faults.count; i++) {
		_cleanup_(api_freep) char *error = NULL;
		_cleanup_(api_buf_done) struct api_buf script = {0};
		int r = api_buf_read_file(&script, options->faults.items[i], 1 << 20);

		if (r < 0)
			fprintf(stderr, "informer-sim: --faults %s: %s\n", options->faults.items[i],
				strerror(-r));
		else if ((r = sim_faults_add(faults, script.data, &error)) < 0)
			fprintf(stderr, "informer-sim: --faults %s: %s\n", options->faults.items[i], error);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
announce(const struct sim_options *options, const struct sim_server *server)
{
	struct sim_kubeconfig config = {.token = options->server.token,
					.ca = options->tls ? options->certs.ca : options->server.tls_cert,
					.client = options->certs.client,
					.client_key = options->certs.client_key};
	char url[128];
	bool v6 = strchr(options->server.address, ':') != NULL;
	int r = 0;

	snprintf(url, sizeof(url), "%s://%s%s%s:%u", options->server.tls_cert ? "https" : "http",
		 v6 ? "[" : "", options->server.address, v6 ? "]" : "", server->port);
	config.url = url;
	/* without a credential in the kubeconfig, kubectl asks for a name and password over TLS */
	if (options->server.tls_cert && !config.token && !config.client)
		config.token = "none-is-asked-for";
	if (options->kubeconfig)
		r = sim_kubeconfig_write(options->kubeconfig, &config);
	if (r < 0) {
		fprintf(stderr, "informer-sim: --write-kubeconfig %s: %s\n", options->kubeconfig,
			strerror(-r));
		return r;
	}
	printf("READY url=%s kubeconfig=%s pid=%ld\n", url, options->kubeconfig ? options->kubeconfig : "-",
	       (long)getpid());
	fflush(stdout);
	return 0;
}

int
main(int argc, char **argv)
{
	struct sim_options options;
	struct api_registry registry;
	struct sim_server server = {0};
	sigset_t signals;
	int r, signal_number;

	r = sim_options_parse(argc, argv, &options);
	if (r >= 0) { /* --help, or a usage error */
		sim_options_done(&options);
		return r;
	}
	if (sodium_init() < 0) {
		fputs("informer-sim: libsodium does not start\n", stderr);
		return 1;
	}
	/* Blocked before any thread starts, so that only the main thread takes the signals. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);

	api_registry_init(&registry);
	r = sim_options_resources(&options, &registry);
	if (r == 0)
		r = sim_options_certs(&options);
	server.registry = &registry;
	server.options = options.server;
	server.rng.state = options.seed + 1;
	server.store = sim_store_new(options.history, options.start_rv);
	server.faults = sim_faults_new();
	if (r == 0)
		r = load_faults(&options, server.faults);
	if (r == 0)
		r = load(&options, &registry, server.store);
	if (r == 0) {
		server.churn = sim_churn_new(&registry, server.store, options.seed);
		r = sim_server_start(&server, sim_route);
	}
	if (r == 0) {
		r = announce(&options, &server);
		if (r == 0) {
			if (options.churn > 0)
				sim_churn_set(server.churn, options.churn, options.churn_count);
			sigwait(&signals, &signal_number);
		}
		sim_server_stop(&server);
	}
	sim_churn_free(server.churn);
	sim_faults_free(server.faults);
	sim_store_free(server.store);
	api_registry_done(&registry);
	sim_options_done(&options);
	return r == 0 ? 0 : 1;
}
