/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/config/preset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "writer/base/message.h"
#include "writer/config/config_entry.h"

#define NODE_AGENT "node-agent"

/* An entry as for --resource, and the names by which people mean its resource. */
static const struct {
	const char *entry, *names[3];
} node_agent[] = {
	{"pods", {"pods", "pod", "po"}},
	{"namespaces", {"namespaces", "namespace", "ns"}},
	{"nodes", {"nodes", "node", "no"}},
	{"services", {"services", "service", "svc"}},
	{"endpointslices.discovery.k8s.io", {"endpointslices", "endpointslice", NULL}},
	{"replicasets.apps?metadataOnly=true", {"replicasets", "replicaset", "rs"}},
	{"jobs.batch?metadataOnly=true", {"jobs", "job", NULL}},
};

int
preset_take(void *at, const char *value, char **ret_error)
{
	char *copy;

	if (strcmp(value, NODE_AGENT) != 0)
		return message_set(ret_error, -EINVAL, "there is no preset '%s'; there is %s", value,
				   NODE_AGENT);
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	free(*(char **)at);
	*(char **)at = copy;
	return 0;
}

/* Whether the configuration has the resource: "pods", "Pod" and "pods.v1" are one. */
static bool
has(const struct config *config, const char *const names[3])
{
	for (size_t i = 0; i < config->n_resources; i++) {
		const char *said = config->resources[i].resource;
		size_t length = strcspn(said, ".");

		for (size_t k = 0; k < 3 && names[k]; k++)
			if (strlen(names[k]) == length && strncasecmp(said, names[k], length) == 0)
				return true;
	}
	return false;
}

int
preset_apply(struct config *config, char **ret_error)
{
	bool add[sizeof(node_agent) / sizeof(node_agent[0])];
	int r = 0;

	if (!config->preset)
		return 0;
	for (size_t i = 0; i < sizeof(add); i++)
		add[i] = !has(config, node_agent[i].names);
	for (size_t i = 0; i < sizeof(add) && r == 0; i++)
		if (add[i])
			r = config_add_resource(config, node_agent[i].entry, ret_error);
	return r;
}
