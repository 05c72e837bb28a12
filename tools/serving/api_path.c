/* SPDX-License-Identifier: Apache-2.0 */
/* Segments, one behind the other; empty ones do not count. */
#include "tools/serving/api_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_MAX                                                                                         \
	8u /* as many as tell something: /apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME/SUBRESOURCE */

/* Cut text into segments. Returns how many there are, also beyond those that fit. */
static unsigned
cut(char *text, const char *segments[SEGMENTS_MAX])
{
	char *rest = text, *segment;
	unsigned count = 0;

	while ((segment = strsep(&rest, "/")))
		if (segment[0]) {
			if (count < SEGMENTS_MAX)
				segments[count] = segment;
			count++;
		}
	return count;
}

/* These two are a Namespace's own subresources, and no resources in one. */
static bool
is_subresource_of_namespace(const char *segment)
{
	return !strcmp(segment, "status") || !strcmp(segment, "finalize");
}

/* segments: what follows the version */
static void
name_resource(struct api_path *path, const char *const *segments, unsigned count)
{
	unsigned at = 0;

	if (count >= 3 && !strcmp(segments[0], "namespaces") &&
	    !(count == 3 && !path->group[0] && is_subresource_of_namespace(segments[2]))) {
		path->namespace_ = segments[1];
		at = 2;
	}
	path->plural = segments[at++];
	path->name = at < count ? segments[at++] : NULL;
	path->subresource = at < count ? segments[at++] : NULL;
	path->deeper = at < count;
}

enum api_place
api_path_parse(const char *url, struct api_path *ret_path)
{
	const char *segments[SEGMENTS_MAX] = {0};
	unsigned count, first;

	*ret_path = (struct api_path){.text = api_strndup(url, strlen(url))};
	count = cut(ret_path->text, segments);
	if (!count || strncmp(segments[0], "api", 3) != 0)
		return API_ELSEWHERE;
	if (!strcmp(segments[0], "api")) {
		ret_path->group = count >= 3 ? "" : NULL;
		first = 2;
	} else if (!strcmp(segments[0], "apis")) {
		ret_path->group = segments[1];
		first = 3;
	} else {
		return API_NOWHERE;
	}
	if (count <= first)
		return API_NOWHERE;
	ret_path->version = segments[first - 1];
	name_resource(ret_path, segments + first, count - first);
	return API_RESOURCE;
}

void
api_path_done(struct api_path *path)
{
	free(path->text);
	*path = (struct api_path){0};
}

int
api_path_apply(const struct api_path *path, const struct api_registry *registry, struct api_request *request)
{
	request->resource = api_registry_find(registry, path->group, path->version, path->plural);
	request->namespace_ = path->namespace_;
	request->name = path->name;
	request->subresource = path->subresource;
	return request->resource && (!path->namespace_ || request->resource->namespaced) ? 0 : -ENOENT;
}

static bool
has_subresource(const struct api_resource *resource, const char *name)
{
	return (!strcmp(name, "status") && resource->has_status) ||
	       (!strcmp(name, "scale") && resource->scale);
}

bool
api_path_served(const struct api_path *path, const struct api_request *request)
{
	const struct api_resource *resource = request->resource;

	return !path->deeper && !(path->name && resource->namespaced && !path->namespace_) &&
	       (!path->subresource || has_subresource(resource, path->subresource));
}

bool
api_path_is_discovery(const char *url)
{
	unsigned slashes = 0;

	for (const char *c = url; *c; c++)
		slashes += *c == '/' && c[1];
	return !strcmp(url, "/version") || (!strncmp(url, "/apis", 5) && slashes <= 3) ||
	       (!strncmp(url, "/api", 4) && url[4] != 's' && slashes <= 2) || !strncmp(url, "/openapi/", 9);
}
