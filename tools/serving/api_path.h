/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of the API, as upstream's RequestInfo reads them, whether there is such a resource or not:
 *
 *	/api/v1/RESOURCE[/NAME[/SUBRESOURCE[/...]]]
 *	/api/v1/namespaces/NS/RESOURCE[/NAME[/SUBRESOURCE[/...]]]
 *	/apis/GROUP/VERSION/...  the same
 *
 * A slash at the end does not count. A path with an empty segment before its subresource's end is no
 * resource's.
 */
#ifndef TOOLS_SERVING_API_PATH_H
#define TOOLS_SERVING_API_PATH_H

#include <stdbool.h>

enum api_place {
	API_ELSEWHERE, /* none of the following */
	API_ABOUT,     /* /version, and all below /openapi */
	API_DISCOVERY, /* /api and /apis, down to a version */
	API_RESOURCE,
	API_BROKEN, /* below these, with an empty segment; nothing is named */
};

struct api_path {
	enum api_place place;
	char *text;        /* what the others point into */
	const char *group; /* "": the core group, also of /api; NULL: none is named */
	const char *version;
	const char *namespace_; /* NULL: none */
	const char *plural;
	const char *name;        /* NULL: the collection */
	const char *subresource; /* NULL: none */
	bool deeper;             /* and something behind it */
};

/* Take a path apart. Free it with api_path_done(). */
enum api_place api_path_parse(const char *url, struct api_path *ret_path);
/* Cleanup function. */
void api_path_done(struct api_path *path);

/* Does it ask for what is served, and not for objects? */
static inline bool
api_place_is_discovery(enum api_place place)
{
	return place == API_DISCOVERY || place == API_ABOUT;
}

#endif
