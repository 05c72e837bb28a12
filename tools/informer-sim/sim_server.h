/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sim server: the state that all requests share: options, store, and, under one lock, counts and random
 * numbers.
 *
 * A request goes through http.c (collects the body, authenticates) and route.c (path and method) to a handler
 * (handlers.h), which answers with reply.h. Each file calls only files after it.
 */
#ifndef TOOLS_INFORMER_SIM_SIM_SERVER_H
#define TOOLS_INFORMER_SIM_SIM_SERVER_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdint.h>

#include "tools/informer-sim/fault.h"
#include "tools/informer-sim/journal.h"
#include "tools/informer-sim/metrics.h"
#include "tools/informer-sim/object_store.h"
#include "tools/informer-sim/rng.h"

struct sim_churn;
struct sim_holds;
struct sim_listen;
struct sim_request;
struct sim_watch;

struct sim_server_options {
	const char *address;
	uint16_t port;
	const char *token;              /* the bearer token to ask for, or NULL */
	const char *tls_cert, *tls_key; /* PEM texts, or NULL */
	/* PEM text: clients with a certificate signed by it are admitted; or NULL */
	const char *client_ca;
	unsigned bookmark_interval;   /* seconds */
	bool no_protobuf;             /* JSON alone */
	bool hide_version;            /* /version is forbidden */
	bool drop_fields;             /* honour drop=metadata.managedFields in Accept */
	bool no_watch_list;           /* refuse sendInitialEvents, as with the feature gate off */
	bool no_aggregated_discovery; /* only the old form, as before 1.26 */
	unsigned await_ms;            /* longest wait for a future RV */
};

struct sim_server {
	struct api_registry *registry;
	struct sim_store *store;
	struct api_store served; /* store, behind the interface of lists and watches */
	struct sim_server_options options;
	struct sim_metrics metrics;
	struct sim_journal journal;
	struct sim_faults *faults;
	struct sim_holds *holds;
	struct sim_churn *churn;
	enum MHD_Result (*answer)(struct sim_request *request);
	struct MHD_Daemon *daemon;
	struct sim_listen *listen;
	uint16_t port; /* the one it listens on */
	bool serving;

	pthread_mutex_t lock; /* protects the members below */
	struct sim_rng rng;
	struct sim_watch *watches; /* the open ones */
	unsigned watch_count;
	uint64_t watches_cut; /* cut because their client was too slow */
	uint64_t begun;       /* requests */
	unsigned under_way;   /* of these */
	unsigned frozen;      /* of these: until their client disconnects */
	bool stopping;
	pthread_cond_t stop;
	pthread_t slow_watches; /* cuts off clients that lost their place */
};

/* A fresh UID, a name suffix of 5 characters. */
void
sim_server_uid(struct sim_server *server, char out[SIM_UID_SIZE]);
void
sim_server_suffix(struct sim_server *server, char out[6]);

#endif
