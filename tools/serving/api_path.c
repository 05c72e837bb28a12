/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses one segment after another; see api_path.h.
 *
 * Source    k8s.io/apiserver/pkg/endpoints/request (RequestInfoFactory)
 */
#include "tools/serving/api_path.h"

#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

/* /apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME/SUBRESOURCE, and one segment more */
#define SEGMENTS_MAX 9u

/* Cut text into at most SEGMENTS_MAX segments. Returns their number. */
static unsigned
cut(char *text, const char *segments[SEGMENTS_MAX])
{
	char *rest = text + (*text == '/');
	unsigned count = 0;

	while (rest && count < SEGMENTS_MAX)
		segments[count++] = strsep(&rest, "/");
	if (!rest && !*segments[count - 1])
		segments[--count] = NULL;
	return count;
}

/* "status" and "finalize" are subresources of a Namespace, not resources in a namespace. */
static bool
is_subresource_of_namespace(const char *segment)
{
	return !strcmp(segment, "status") || !strcmp(segment, "finalize");
}

/* Parse the segments behind the version, from `at` on. Returns the number of segments used. */
static unsigned
name_resource(struct api_path *path, const char *const *segments, unsigned count, unsigned at)
{
	if (count > at + 2 && !strcmp(segments[at], "namespaces") &&
	    !is_subresource_of_namespace(segments[at + 2])) {
		path->namespace_ = segments[at + 1];
		at += 2;
	}
	path->plural = segments[at++];
	path->name = at < count ? segments[at++] : NULL;
	path->subresource = at < count ? segments[at++] : NULL;
	path->deeper = at < count;
	return at;
}

enum api_place
api_path_parse(const char *url, struct api_path *ret_path)
{
	const char *segments[SEGMENTS_MAX] = {0};
	struct api_path path = {.text = api_strndup(url, strlen(url))};
	unsigned count = cut(path.text, segments), named = count, version;
	const char *first = count ? segments[0] : "";

	if ((!strcmp(first, "version") && count == 1) || !strcmp(first, "openapi")) {
		path.place = API_ABOUT;
	} else if (!strcmp(first, "api") || !strcmp(first, "apis")) {
		version = first[3] ? 2 : 1;
		path.group = version == 1 ? "" : segments[1];
		path.version = segments[version];
		path.place = count > version + 1 ? API_RESOURCE : API_DISCOVERY;
		if (path.place == API_RESOURCE)
			named = name_resource(&path, segments, count, version + 1);
		for (unsigned i = 1; i < named; i++)
			if (!*segments[i])
				path = (struct api_path){.text = path.text, .place = API_BROKEN};
	}
	*ret_path = path;
	return path.place;
}

void
api_path_done(struct api_path *path)
{
	free(path->text);
	*path = (struct api_path){0};
}
