/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What serving needs to know of one request: what was asked for, and in what it can be answered. A server
 * embeds it in what it keeps of a request itself, and fills it before it calls anything here.
 *
 * Threads   one at a time
 */
#ifndef TOOLS_SERVING_API_REQUEST_H
#define TOOLS_SERVING_API_REQUEST_H

#include <microhttpd.h>
#include <stdbool.h>

#include "tools/serving/api_path.h"
#include "tools/serving/shape.h"
#include "tools/serving/status_document.h"

struct api_request;

/* Where its parameters and headers are. Returns whether it is there; *ret_value may be NULL then: "?watch".
 */
typedef bool api_value_fn(const struct api_request *request, enum MHD_ValueKind kind, const char *name,
			  const char **ret_value);

struct api_request {
	struct MHD_Connection *connection; /* parameters and headers are read from it */
	api_value_fn *value;               /* NULL: in the connection */
	const char *method;
	const char *url;
	struct api_offer offer;              /* what the server has; `typed` is told by api_request_offer() */
	bool watch_list;                     /* it has sendInitialEvents */
	const struct api_path *path;         /* the url, taken apart; NULL: nobody has */
	const struct api_resource *resource; /* NULL: it asks for none */
	const char *namespace_;              /* NULL: all of them, or a cluster-wide resource */
	const char *name;                    /* NULL: the collection */
	const char *subresource;
	struct api_shape shape;   /* of the objects in the answer */
	struct api_status status; /* why it fails; the owner frees it */
};

/* A query parameter, NULL if absent. */
const char *api_request_query(const struct api_request *request, const char *name);
const char *api_request_header(const struct api_request *request, const char *name);

/* Is a query parameter there, with a value or without? */
bool api_request_has(const struct api_request *request, const char *name);

/* A bool parameter as the server converts it: there, and neither "false" nor "0". */
bool api_request_flag(const struct api_request *request, const char *name);
/* Is it a GET or a HEAD? */
bool api_request_is_read(const struct api_request *request);
/* Is it a WATCH? (watch=true, watch=1, watch) */
bool api_request_is_watch(const struct api_request *request);

/*
 * Make a path's resource and names the request's, which borrows them.
 *
 * Returns  0; -ENOENT  it is no resource's, the registry has no such resource, or that is in no namespace
 */
int api_request_locate(struct api_request *request, const struct api_path *path,
		       const struct api_registry *registry);
/* Are objects where it was located? Not deeper, in a namespace as it must be, and of a subresource there is.
 */
bool api_request_is_of_objects(const struct api_request *request);

/* What the server can answer it in. */
struct api_offer api_request_offer(const struct api_request *request);

/*
 * Choose request->shape by Accept and includeObject, for its resource and method.
 *
 * Returns  0; -EINVAL  none of those is served: the status is 406, or 400
 */
int api_request_choose_shape(struct api_request *request);

#endif
