/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an answer to discovery: refused, or lists that can be read and freed. */
#include "tests/fuzz/fuzz.h"
#include "writer/kube/api_lists.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct api_group_discovery *all;
	struct api_group_version *groups;
	struct kube_resource *resources;
	size_t n;

	if (api_group_list_parse(data, size, &groups, &n) == 0) {
		for (size_t i = 0; i < n; i++)
			if (!groups[i].group || !groups[i].version)
				abort();
		api_group_versions_free(groups, n);
	}
	if (api_group_discovery_parse(data, size, &all, &n) == 0) {
		for (size_t i = 0; i < n; i++) {
			if (!all[i].group || !all[i].version)
				abort();
			for (size_t j = 0; j < all[i].n_resources; j++)
				if (!all[i].resources[j].resource || !all[i].resources[j].singular)
					abort();
		}
		api_group_discoveries_free(all, n);
	}
	if (api_resource_list_parse(data, size, "apps", "v1", &resources, &n) == 0) {
		for (size_t i = 0; i < n; i++) {
			if (!resources[i].resource || !resources[i].group || !resources[i].version)
				abort();
			kube_resource_done(&resources[i]);
		}
		free(resources);
	}
	return 0;
}
