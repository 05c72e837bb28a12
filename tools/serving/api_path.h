/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API path: parses a URL path as upstream's RequestInfo does, whether the resource exists or not:
 *
 *	/api/v1/RESOURCE[/NAME[/SUBRESOURCE[/...]]]
 *	/api/v1/namespaces/NS/RESOURCE[/NAME[/SUBRESOURCE[/...]]]
 *	/apis/GROUP/VERSION/...  the same
 *
 * A trailing slash is ignored. A path with an empty segment up to its subresource names no resource.
 */
#ifndef TOOLS_SERVING_API_PATH_H
#define TOOLS_SERVING_API_PATH_H

#include <stdbool.h>

enum api_place {
	API_ELSEWHERE, /* none of the following */
	API_ABOUT,     /* /version, and all below /openapi */
	API_DISCOVERY, /* /api and /apis, down to a version */
	API_RESOURCE,
	API_BROKEN, /* below these, with an empty segment; no field is set */
};

struct api_path {
	enum api_place place;
	char *text;        /* storage of the other texts */
	const char *group; /* "": the core group, also of /api; NULL: none is named */
	const char *version;
	const char *namespace_; /* NULL: none */
	const char *plural;
	const char *name;        /* NULL: the collection */
	const char *subresource; /* NULL: none */
	bool deeper;             /* there are segments after the subresource */
};

/* Parse a path. Free it with api_path_done(). */
enum api_place api_path_parse(const char *url, struct api_path *ret_path);
/* Cleanup function. */
void api_path_done(struct api_path *path);

/* Whether it asks for discovery or version documents, not for objects. */
static inline bool
api_place_is_discovery(enum api_place place)
{
	return place == API_DISCOVERY || place == API_ABOUT;
}

#endif
