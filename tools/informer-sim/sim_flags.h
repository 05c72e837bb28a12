/* SPDX-License-Identifier: Apache-2.0 */
/* Sim flags: the command line. */
#ifndef TOOLS_INFORMER_SIM_SIM_FLAGS_H
#define TOOLS_INFORMER_SIM_SIM_FLAGS_H

#include "tools/flags/flags.h"
#include "tools/informer-sim/certs.h"
#include "tools/informer-sim/sim_server.h"

struct sim_options {
	struct sim_server_options server;
	char *tls_cert_text, *tls_key_text, *client_ca_text; /* storage of server.tls_* and .client_ca */
	bool tls;                                            /* use generated certificates */
	const char *tls_dir;                                 /* folder to write them to, or NULL */
	struct sim_certs certs;
	const char *kubeconfig;
	struct flag_texts load, crds, faults;
	unsigned replicas;
	unsigned nodes;
	unsigned pods_per_node;
	unsigned release; /* proto_release(); 0: the newest */
	double churn;
	uint64_t churn_count;
	uint64_t seed;
	int64_t now; /* current time of generated objects */
	uint64_t start_rv;
	size_t history;
	bool help, version; /* print and exit */
};

/*
 * Parse the command line.
 *
 * Returns  -1 to go on; otherwise the exit code: 0 after --help or --version, 2 after a
 *          usage error, which was explained on stderr
 */
int
sim_options_parse(int argc, char **argv, struct sim_options *ret_options);
/* Declare the resources of --crd. Returns 0, or -EINVAL, explained on stderr. */
int
sim_options_resources(const struct sim_options *options, struct api_registry *registry);
/* Make the certificates of --tls. Returns 0, or negative errno, explained on stderr. */
int
sim_options_certs(struct sim_options *options);
void
sim_options_done(struct sim_options *options);

#endif
