/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts names from group/version/resource to resource.version.group, and compares names.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "reader-lib/factory/gvr_name.h"

#define PARTS_MAX 3u

int
resource_name_of(const char *text, char ret_name[RESOURCE_NAME_MAX + 1])
{
	const char *parts[PARTS_MAX], *at = text;
	size_t lengths[PARTS_MAX], length = text ? strlen(text) : 0;
	unsigned count = 0;

	if (length == 0 || length > RESOURCE_NAME_MAX)
		return -EINVAL;
	for (;;) {
		if (count == PARTS_MAX)
			return -EINVAL;
		parts[count] = at;
		lengths[count] = strcspn(at, "/");
		at += lengths[count++];
		if (*at++ == '\0')
			break;
	}
	if (count == 1) {
		memcpy(ret_name, text, length + 1);
		return 0;
	}
	if (lengths[count - 1] == 0 || lengths[count - 2] == 0)
		return -EINVAL;
	snprintf(ret_name, RESOURCE_NAME_MAX + 1, "%.*s.%.*s%s%.*s", (int)lengths[count - 1],
		 parts[count - 1], (int)lengths[count - 2], parts[count - 2],
		 count == 3 && lengths[0] ? "." : "", count == 3 ? (int)lengths[0] : 0, parts[0]);
	return 0;
}

bool
resource_names_match(struct informer *inf, const char *one, const char *other)
{
	const char *names[] = {one, other};
	uint32_t positions[2] = {0, 1};
	struct informer_snapshot snapshot;
	struct informer_resource *resource;
	int r;

	if (strcasecmp(one, other) == 0)
		return true;
	if (informer_begin(inf, &snapshot) < 0)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		r = informer_resource_open(inf, names[i], &resource);
		if (r == 0)
			r = informer_resource_position(&snapshot, resource, &positions[i]);
		if (r < 0)
			break;
	}
	informer_end(&snapshot);
	return r == 0 && positions[0] == positions[1];
}
