/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the built-in indexes to a resource's definition. descriptor.c puts them before the configured ones.
 */
#include "writer/resource/builtin_indexes.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct rule {
	const char *index;
	bool pods_only;
	const char *as;
	const char *path; /* NULL: none */
};

/* Rules of one index stand together. */
static const struct rule rules[] = {
	{ "namespace", false, "namespace", NULL },
	{ "uid", false, "string", "metadata.uid" },
	{ "uid", true, "string", "metadata.annotations[\"kubernetes.io/config.mirror\"]" },
	{ "owner", false, "string", "metadata.ownerReferences[*].uid" },
	{ "labels", false, "keyvalue", "metadata.labels" },
	{ "nodeName", true, "string", "spec.nodeName" },
	{ "podIP", true, "string", "status.podIPs[*].ip" },
	{ "containerID", true, "scheme", "status.containerStatuses[*].containerID" },
	{ "containerID", true, "scheme", "status.initContainerStatuses[*].containerID" },
	{ "containerID", true, "scheme", "status.ephemeralContainerStatuses[*].containerID" },
};

static cJSON *
add_index(cJSON *indexes, const char *name)
{
	cJSON *index = cJSON_CreateObject();

	if (!index || !cJSON_AddItemToArray(indexes, index)) {
		cJSON_Delete(index);
		return NULL;
	}
	return cJSON_AddStringToObject(index, "name", name) ? cJSON_AddArrayToObject(index, "rules") : NULL;
}

int
builtin_indexes_append(const struct kube_resource *resource, cJSON *indexes)
{
	bool pods = resource->group[0] == '\0' && strcmp(resource->resource, "pods") == 0;
	cJSON *of_index = NULL, *rule;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].pods_only && !pods)
			continue;
		if (i == 0 || strcmp(rules[i].index, rules[i - 1].index) != 0)
			of_index = add_index(indexes, rules[i].index);
		rule = cJSON_CreateObject();
		if (!of_index || !rule || !cJSON_AddItemToArray(of_index, rule)) {
			cJSON_Delete(rule);
			return -ENOMEM;
		}
		if ((rules[i].path && !cJSON_AddStringToObject(rule, "path", rules[i].path)) ||
		    !cJSON_AddStringToObject(rule, "as", rules[i].as))
			return -ENOMEM;
	}
	return 0;
}
