/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an answer to discovery: refused, or lists that can be read and freed. */
#include "tests/fuzz/fuzz.h"
#include "writer/kube/api_lists.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct api_version *list, version = {.group = (char[]){"apps"}, .version = (char[]){"v1"}};
	cJSON *document = cJSON_ParseWithLength((const char *)data, size);
	size_t n;

	if (api_groups_read(document, &list, &n) == 0)
		for (size_t i = 0; i < n; i++) {
			if (!list[i].group || !list[i].version)
				abort();
			for (size_t j = 0; j < list[i].n_resources; j++)
				if (!list[i].resources[j].resource || !list[i].resources[j].singular)
					abort();
		}
	api_versions_free(list, n);
	if (api_resources_read(document, &version) == 0)
		for (size_t i = 0; i < version.n_resources; i++)
			if (!version.resources[i].resource || !version.resources[i].group)
				abort();
	version.group = version.version = NULL;
	api_version_done(&version);
	cJSON_Delete(document);
	return 0;
}
