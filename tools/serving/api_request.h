/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API request: what one request asks for, and the formats it can be answered in. A server embeds it in its
 * own request, and fills it before it calls any function here.
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

/* Looks up a parameter or header. Returns whether it is there; *ret_value may then be NULL: "?watch". */
typedef bool api_value_fn(const struct api_request *request, enum MHD_ValueKind kind, const char *name,
			  const char **ret_value);

struct api_request {
	struct MHD_Connection *connection; /* parameters and headers are read from it */
	api_value_fn *value;               /* NULL: in the connection */
	const char *method;
	const char *url;
	struct api_offer offer;              /* formats of the server; api_request_offer() sets `typed` */
	bool watch_list;                     /* the server has sendInitialEvents */
	const struct api_path *path;         /* the parsed url; NULL: not parsed */
	const struct api_resource *resource; /* NULL: it asks for none */
	const char *namespace_;              /* NULL: all namespaces, or a cluster-wide resource */
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

/* A bool parameter by the server's rule: present, and neither "false" nor "0". */
bool api_request_flag(const struct api_request *request, const char *name);
/* Is it a GET or a HEAD? */
bool api_request_is_read(const struct api_request *request);
/* Is it a WATCH? (watch=true, watch=1, watch) */
bool api_request_is_watch(const struct api_request *request);

/*
 * Set the request's resource and names from a path; borrows them.
 *
 * Returns  0; -ENOENT  the path names no resource, the registry does not have it, or it is cluster-wide and
 *          the path has a namespace
 */
int api_request_locate(struct api_request *request, const struct api_path *path,
		       const struct api_registry *registry);
/*
 * Whether the located path has objects: no deeper segments, a namespace where required, and a known
 * subresource.
 */
bool api_request_is_of_objects(const struct api_request *request);

/* The formats the server can answer this request in. */
struct api_offer api_request_offer(const struct api_request *request);

/*
 * Choose request->shape from Accept and includeObject, for its resource and method.
 *
 * Returns  0; -EINVAL  none is served: the status is 406, or 400
 */
int api_request_choose_shape(struct api_request *request);

#endif
