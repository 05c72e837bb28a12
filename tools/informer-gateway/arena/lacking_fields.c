/* SPDX-License-Identifier: Apache-2.0 */
/* Reads drop: from the arena's table; see lacking_fields.h. */
#include "tools/informer-gateway/arena/lacking_fields.h"

#include <string.h>

#include "tools/informer-gateway/arena/arena_handles.h"

#define HARMLESS "metadata.managedFields"

static bool
is(const char *data, size_t length, const char *text)
{
	return strlen(text) == length && memcmp(data, text, length) == 0;
}

static bool
add(const char *path, size_t length, bool first, struct api_buf *ret)
{
	if (is(path, length, HARMLESS) || is(path, length, "." HARMLESS))
		return false;
	if (!first)
		api_buf_puts(ret, ", ");
	api_buf_put(ret, path, length);
	return true;
}

static bool
put_lacking(const struct informer_snapshot *snapshot, const struct api_resource *resource,
	    struct api_buf *ret)
{
	uint32_t count = informer_resource_count(snapshot);
	bool any = false;

	for (uint32_t at = 0; at < count; at++) {
		struct informer_resource_info info = {.size = sizeof(info)};

		if (informer_resource_info_at(snapshot, at, &info) < 0 ||
		    !is(info.group, info.group_length, resource->group) ||
		    !is(info.resource, info.resource_length, resource->plural))
			continue;
		if (info.metadata_only) {
			api_buf_reset(ret);
			api_buf_puts(ret, "all but their metadata");
			return true;
		}
		for (uint32_t i = 0; i < info.drop_count; i++) {
			const char *path;
			size_t length;

			if (informer_resource_drop(snapshot, at, i, &path, &length) == 0)
				any = add(path, length, !any, ret) || any;
		}
	}
	return any;
}

bool
gw_arena_lacks(void *ctx, const struct api_resource *resource, struct api_buf *ret)
{
	const struct gw_arena *arena = ctx;
	struct informer_snapshot snapshot;
	bool lacks;

	if (informer_begin(arena->reads, &snapshot) < 0)
		return false;
	lacks = put_lacking(&snapshot, resource, ret);
	informer_end(&snapshot);
	return lacks;
}
