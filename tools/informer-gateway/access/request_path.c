/* SPDX-License-Identifier: Apache-2.0 */
/* Which resource a path speaks of; see request_path.h. */
#include "tools/informer-gateway/access/request_path.h"

#include <string.h>

#define PARTS_MAX 16

/* Segments that are not empty; as many as there is room for. */
static unsigned
split(char *path, const char *parts[PARTS_MAX])
{
	unsigned count = 0;
	char *part;

	while (count < PARTS_MAX && (part = strsep(&path, "/")))
		if (*part)
			parts[count++] = part;
	return count;
}

/* What follows /api/v1 or /apis/GROUP/VERSION. */
static bool
parse_rest(const char **parts, unsigned count, struct gw_asked *ret)
{
	if (count >= 3 && strcmp(parts[0], "namespaces") == 0 && strcmp(parts[2], "status") != 0 &&
	    strcmp(parts[2], "finalize") != 0) {
		ret->namespace_ = parts[1];
		parts += 2;
		count -= 2;
	}
	if (count == 0)
		return false;
	ret->resource = parts[0];
	ret->name = count > 1 ? parts[1] : NULL;
	ret->subresource = count > 2 ? parts[2] : NULL;
	return true;
}

bool
gw_request_path_parse(char *path, struct gw_asked *ret)
{
	const char *parts[PARTS_MAX];
	unsigned count = split(path, parts);

	if (count >= 3 && strcmp(parts[0], "api") == 0) {
		ret->group = "";
		ret->version = parts[1];
		return parse_rest(parts + 2, count - 2, ret);
	}
	if (count >= 4 && strcmp(parts[0], "apis") == 0) {
		ret->group = parts[1];
		ret->version = parts[2];
		return parse_rest(parts + 3, count - 3, ret);
	}
	return false;
}

const char *
gw_request_verb(const char *method, bool named)
{
	if (strcmp(method, "POST") == 0)
		return "create";
	if (strcmp(method, "PUT") == 0)
		return "update";
	if (strcmp(method, "PATCH") == 0)
		return "patch";
	if (strcmp(method, "DELETE") == 0)
		return named ? "delete" : "deletecollection";
	return "get";
}
