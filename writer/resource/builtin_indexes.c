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
	const char *group, *resource; /* NULL: every resource has the rule */
	const char *as;
	const char *path; /* NULL: none */
};

/* Container IDs are searched by prefix, too. docker and crictl show 12 digits. */
#define CONTAINER_INDEX "containerID"
#define CONTAINER_PREFIX 12

#define EVERY NULL, NULL
#define PODS "", "pods"
#define SERVICES "", "services"
#define NODES "", "nodes"
#define SLICES "discovery.k8s.io", "endpointslices"

/* Rules of one index stand together. */
static const struct rule rules[] = {
	{ "namespace", EVERY, "namespace", NULL },
	{ "uid", EVERY, "string", "metadata.uid" },
	{ "uid", PODS, "string", "metadata.annotations[\"kubernetes.io/config.mirror\"]" },
	{ "owner", EVERY, "string", "metadata.ownerReferences[*].uid" },
	{ "labels", EVERY, "keyvalue", "metadata.labels" },
	{ "nodeName", PODS, "string", "spec.nodeName" },
	{ "podIP", PODS, "string", "status.podIPs[*].ip" },
	{ CONTAINER_INDEX, PODS, "scheme", "status.containerStatuses[*].containerID" },
	{ CONTAINER_INDEX, PODS, "scheme", "status.initContainerStatuses[*].containerID" },
	{ CONTAINER_INDEX, PODS, "scheme", "status.ephemeralContainerStatuses[*].containerID" },
	{ "address", SERVICES, "string", "spec.clusterIP" },
	{ "address", SERVICES, "string", "spec.clusterIPs[*]" },
	{ "address", SERVICES, "string", "spec.externalIPs[*]" },
	{ "address", SERVICES, "string", "status.loadBalancer.ingress[*].ip" },
	{ "address", NODES, "string", "status.addresses[*].address" },
	{ "targetUID", SLICES, "string", "endpoints[*].targetRef.uid" },
	{ "address", SLICES, "string", "endpoints[*].addresses[*]" },
};

static cJSON *
add_index(cJSON *indexes, const char *name)
{
	cJSON *index = cJSON_CreateObject();

	if (!index || !cJSON_AddItemToArray(indexes, index)) {
		cJSON_Delete(index);
		return NULL;
	}
	if (!cJSON_AddStringToObject(index, "name", name) ||
	    (strcmp(name, CONTAINER_INDEX) == 0 &&
	     !cJSON_AddNumberToObject(index, "prefix", CONTAINER_PREFIX)))
		return NULL;
	return cJSON_AddArrayToObject(index, "rules");
}

static bool
applies(const struct rule *rule, const struct kube_resource *resource)
{
	return !rule->resource || (strcmp(rule->group, resource->group) == 0 &&
				   strcmp(rule->resource, resource->resource) == 0);
}

int
builtin_indexes_append(const struct kube_resource *resource, cJSON *indexes)
{
	const char *index = "";
	cJSON *of_index = NULL, *rule;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!applies(&rules[i], resource))
			continue;
		if (strcmp(rules[i].index, index) != 0)
			of_index = add_index(indexes, rules[i].index);
		index = rules[i].index;
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
