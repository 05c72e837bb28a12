/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of the API:
 *
 *	/api/v1/RESOURCE[/NAME[/SUBRESOURCE]]
 *	/api/v1/namespaces/NS/RESOURCE[/NAME[/SUBRESOURCE]]
 *	/apis/GROUP/VERSION/...  the same
 */
#ifndef TOOLS_SERVING_API_PATH_H
#define TOOLS_SERVING_API_PATH_H

#include "tools/serving/api_request.h"
#include "tools/serving/served_resource.h"

enum api_place {
	API_ELSEWHERE, /* not below /api or /apis */
	API_NOWHERE,   /* below these, but no resource is named */
	API_RESOURCE,
};

struct api_path {
	char *text;        /* what the others point into */
	const char *group; /* "": the core group; NULL: none is named */
	const char *version;
	const char *namespace_; /* NULL: none */
	const char *plural;
	const char *name;        /* NULL: the collection */
	const char *subresource; /* NULL: none */
	bool deeper;             /* and something behind it */
};

/* Take a path apart, whether there is such a resource or not. Free with api_path_done() whatever it returns.
 */
enum api_place
api_path_parse(const char *url, struct api_path *ret_path);
/* Cleanup function. */
void
api_path_done(struct api_path *path);

/*
 * Make a path's resource and names the request's, which borrows them.
 *
 * Returns  0; -ENOENT  the registry has no such resource, or it is in no namespace
 */
int
api_path_apply(const struct api_path *path, const struct api_registry *registry, struct api_request *request);
/* Is it a place where objects are? Not deeper, in a namespace as it must be, and a subresource that there is.
 */
bool
api_path_served(const struct api_path *path, const struct api_request *request);

/* Does it ask for what is served, and not for objects: /api and /apis down to a version, /version, /openapi/?
 */
bool
api_path_is_discovery(const char *url);

#endif
