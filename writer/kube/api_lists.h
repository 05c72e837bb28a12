/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the documents of discovery: APIGroupDiscoveryList (/apis with all resources), APIGroupList (/apis of
 * older servers) and APIResourceList (/api/v1, /apis/GROUP/VERSION). Names in them go into request paths, so
 * a name that is no DNS name is left out.
 */
#ifndef WRITER_KUBE_API_LISTS_H
#define WRITER_KUBE_API_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "writer/kube/resource_name.h"

/* One version of a group. */
struct api_version {
	char *group, *version;
	bool preferred;
	/* Its resources are known. False: /apis lacks them, or calls them stale (old or incomplete). */
	bool is_read;
	struct kube_resource *resources;
	size_t n_resources;
};

/* Free what it owns; a zeroed one is fine. */
void api_version_done(struct api_version *version);

/*
 * Read /apis, aggregated (apidiscovery.k8s.io/v2 and v2beta1) or not.
 *
 * ret_list  an array in the server's order; free with api_versions_free(), on failure too
 * Returns   0; -EPROTO: the document is neither list; -ENOMEM
 */
int api_groups_read(const cJSON *document, struct api_version **ret_list, size_t *ret_n);
void api_versions_free(struct api_version *list, size_t n);

/*
 * Read /api/v1 or /apis/GROUP/VERSION into the version's resources, without subresources.
 *
 * version  has group and version, and no resources; owns what was read, on failure too
 * Returns  0; -EPROTO: the document is no APIResourceList; -ENOMEM
 */
int api_resources_read(const cJSON *document, struct api_version *version);

#endif
