/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP side: one libmicrohttpd daemon with a thread for each connection, so
 * that a handler may simply block (a quiet watch, a list at a future RV).
 *
 * A request goes through http.c (collect the body, authenticate), route.c (path
 * and method to a handler), and one of the handlers: list.c, watch.c, crud.c,
 * discovery.c, control.c. All answer by the sim_reply functions (reply.c).
 */
#ifndef TOOLS_INFORMER_SIM_SIM_SERVER_H
#define TOOLS_INFORMER_SIM_SIM_SERVER_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdint.h>

#include "tools/informer-sim/fault.h"
#include "tools/informer-sim/hold.h"
#include "tools/informer-sim/journal.h"
#include "tools/informer-sim/metrics.h"
#include "tools/informer-sim/rng.h"
#include "tools/informer-sim/shape.h"
#include "tools/informer-sim/status_document.h"
#include "tools/informer-sim/object_store.h"

struct sim_churn;
struct sim_listen;
struct sim_watch;

struct sim_server_options {
	const char *address;
	uint16_t port;
	const char *token;		/* the bearer token to ask for, or NULL */
	const char *tls_cert, *tls_key; /* PEM texts, or NULL */
	/* PEM text: clients whose certificate it signed are let in; or NULL */
	const char *client_ca;
	unsigned bookmark_interval;	/* seconds */
	bool no_watch_list;		/* refuse sendInitialEvents, as with the feature gate off */
	bool no_aggregated_discovery;	/* only the old way, as before 1.26 */
	unsigned await_ms;		/* how long a future RV is waited for */
};

struct sim_server {
	struct sim_registry *registry;
	struct sim_store *store;
	struct sim_server_options options;
	struct sim_metrics metrics;
	struct sim_journal journal;
	struct sim_faults *faults;
	struct sim_holds holds;
	struct sim_churn *churn;
	struct MHD_Daemon *daemon;
	struct sim_listen *listen;
	uint16_t port; /* the one it listens on */
	bool serving;

	pthread_mutex_t lock; /* of what follows */
	struct sim_rng rng;
	struct sim_watch *watches; /* the open ones */
	unsigned watch_count;
	uint64_t watches_cut; /* ended because their client was too slow */
	uint64_t begun;	      /* requests */
	unsigned under_way;   /* of these */
	unsigned frozen;      /* of these: for as long as their client stays */
	bool stopping;
	pthread_cond_t stop;
	pthread_t warden; /* cuts off clients that lost their place */
};

/* As the real server's limit of a request's body. */
#define SIM_BODY_MAX 3145728u /* 3 MiB */

struct sim_request {
	struct sim_server *server;
	struct MHD_Connection *connection;
	const char *method;
	const char *url;
	struct sim_buf body;
	bool too_large;
	bool logged; /* in the journal: it is one of the API's */

	const char *verb; /* for the metrics: "LIST", ...; NULL: not counted */
	const struct sim_resource *resource;
	const char *namespace_; /* NULL: all of them, or a cluster-wide resource */
	const char *name;	/* NULL: the collection */
	const char *subresource;
	unsigned page; /* of a LIST, from 1 */
	struct sim_shape shape; /* of the objects in the answer */
	struct sim_status status;

	struct sim_fault fault; /* of the answer's body, or of the watch */
	uint64_t stale;		/* answer as of so many RVs ago */
	uint64_t paginate;	/* a list: in pages of so many items; 0: as it was asked for */
	bool plain;		/* a watch: as if sendInitialEvents had not been asked for */
	bool gzip;		/* the body is compressed */
	struct sim_buf note;	/* for the journal, behind the code: " rv=20 items=3" */
};

/*
 * Start serving. The server's registry, store, options, faults and churn are set, the rest zero.
 *
 * Returns  0, or negative errno with a message on stderr
 */
int
sim_server_start(struct sim_server *server);
/* Stop, waiting for every request to end. */
void
sim_server_stop(struct sim_server *server);

/* Find the handler of a complete request and answer it. */
enum MHD_Result
sim_route(struct sim_request *request);

/* A query parameter, NULL if absent. */
const char *
sim_request_query(const struct sim_request *request, const char *name);
const char *
sim_request_header(const struct sim_request *request, const char *name);

/* The connection's socket, or -1. */
int
sim_request_socket(const struct sim_request *request);

/* Answer; the body is taken over. */
enum MHD_Result
sim_reply(struct sim_request *request, unsigned code, const char *content_type, struct sim_buf *body);
/* Answer with request->status. */
enum MHD_Result
sim_reply_status(struct sim_request *request);
/* Answer with an object, in the shape that was asked for. */
enum MHD_Result
sim_reply_object(struct sim_request *request, unsigned code, const struct sim_object *object, uint64_t rv);
/* Answer with a response made by the caller, which is given up here. */
enum MHD_Result
sim_reply_response(struct sim_request *request, unsigned code, const char *content_type,
		   struct MHD_Response *response);

/*
 * Answer with what a reader gives; `cls` is freed by `free_cls`, also on failure.
 *
 * size  of it all, or MHD_SIZE_UNKNOWN where neither a fault nor gzip needs it
 * told  send the size ahead, as Content-Length; else in chunks
 */
enum MHD_Result sim_reply_reader(struct sim_request *request, unsigned code, const char *content_type,
				 uint64_t size, bool told, MHD_ContentReaderCallback reader, void *cls,
				 MHD_ContentReaderFreeCallback free_cls);

/* Does the client take gzip? Then readers are asked for their size. */
bool
sim_reply_may_gzip(const struct sim_request *request);

/* A fresh UID, a name suffix of 5 characters. */
void
sim_server_uid(struct sim_server *server, char out[SIM_UID_SIZE]);
void
sim_server_suffix(struct sim_server *server, char out[6]);

/* ---- the handlers --------------------------------------------------------- */

enum MHD_Result
sim_handle_list(struct sim_request *request);
enum MHD_Result
sim_handle_watch(struct sim_request *request);
enum MHD_Result
sim_handle_get(struct sim_request *request);
enum MHD_Result
sim_handle_create(struct sim_request *request);
enum MHD_Result
sim_handle_update(struct sim_request *request);
enum MHD_Result
sim_handle_patch(struct sim_request *request);
enum MHD_Result
sim_handle_delete(struct sim_request *request);
enum MHD_Result
sim_handle_delete_collection(struct sim_request *request);
/* Does it ask for what is served, and not for objects? */
bool
sim_is_discovery(const struct sim_request *request);
/* /api, /apis and below, /version; false: no such page */
bool
sim_handle_discovery(struct sim_request *request, enum MHD_Result *ret_result);
/* /openapi/...; false: no such page */
bool
sim_handle_openapi(struct sim_request *request, enum MHD_Result *ret_result);
/* /sim/..., /metrics, /healthz and its like; false: no such page */
bool
sim_handle_control(struct sim_request *request, enum MHD_Result *ret_result);

#endif
