/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ListerWatcher makes LIST and WATCH requests for a Reflector: for one resource, namespace and pair of
 * selectors. The real one (lister_watcher.c) uses writer/kube/transport.h; tests use a fake.
 *
 * The callbacks keep the promises of transport.h: on_response comes at most once, on_data any number of
 * times. on_done comes exactly once unless the request was cancelled. None comes before ask() returned.
 */
#ifndef WRITER_REFLECT_LISTER_WATCHER_H
#define WRITER_REFLECT_LISTER_WATCHER_H

#include <stdbool.h>

#include "writer/kube/resource_name.h"
#include "writer/kube/transport.h"

/* Strings may be NULL: then the parameter is left out. */
struct request_params {
	const char *resource_version;	/* "" is left out, too */
	const char *resource_version_match;
	const char *continue_token;
	unsigned limit;			/* 0: left out */
	bool watch;                     /* a WATCH, for timeout_s */
	unsigned timeout_s;
	bool initial_events;            /* a WatchList: the state first, up to its end mark */
	bool fresh_connection;          /* over a new connection */
	/* ask for PartialObjectMetadata, or whole objects if the server has nothing else */
	bool metadata_only;
	bool protobuf; /* prefer protobuf to JSON */
};

struct lister_watcher {
	void *context;
	/*
	 * Start a request. Returns 0, -EINVAL, -ENOMEM. *ret_request names it for the three calls below,
	 * until on_done.
	 */
	int (*ask)(void *context, const struct request_params *params,
		   const struct transport_callbacks *callbacks, void *ctx, void **ret_request);
	void (*cancel)(void *context, void *request);	/* no callback comes any more */
	void (*pause)(void *context, void *request);
	void (*resume)(void *context, void *request);
};

/* The real one. It borrows everything but its strings; kube_lister_watcher_done() frees those. */
struct kube_lister_watcher {
	struct lister_watcher base;
	struct transport *transport;
	char *path;			/* "/api/v1/namespaces/ns/pods" */
	char *selectors;		/* "&labelSelector=…&fieldSelector=…", encoded; or "" */
	/* set by the caller after kube_lister_watcher_init(): ask for PartialObjectMetadata */
	bool metadata_only;
	bool drop_managed_fields; /* ask for objects without managedFields */
};

/* namespace_ and selectors may be NULL. Returns 0 or -ENOMEM. */
int kube_lister_watcher_init(struct kube_lister_watcher *lw, struct transport *transport,
			     const struct kube_resource *resource, const char *namespace_,
			     const char *label_selector, const char *field_selector);
void kube_lister_watcher_done(struct kube_lister_watcher *lw);

/* The path and query of a request; allocated, NULL without memory. */
char *kube_request_url(const struct kube_lister_watcher *lw, const struct request_params *params);

#endif
