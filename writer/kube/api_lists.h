/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API lists: reading the documents of discovery, APIGroupDiscoveryList (/apis with all that is in it),
 * APIGroupList (/apis of older servers) and APIResourceList (/api/v1, /apis/GROUP/VERSION). Names in them go
 * into request paths, so one that cannot be a DNS name is left out.
 */
#ifndef WRITER_KUBE_API_LISTS_H
#define WRITER_KUBE_API_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "writer/kube/resource_name.h"

/* One group's version. */
struct api_version {
	char *group, *version;
	bool preferred;
	/* Its resources are known. False: /apis does not have them, or calls them stale: old, or not all */
	bool is_read;
	struct kube_resource *resources;
	size_t n_resources;
};

/* Free what it owns; a zeroed one is fine. */
void api_version_done(struct api_version *version);

/*
 * Read /apis, aggregated (apidiscovery.k8s.io/v2 and v2beta1) or not.
 *
 * ret_list  an array in the server's order; for api_versions_free(), on failure too
 * Returns   0, -EPROTO when the document is none of the two lists, -ENOMEM
 */
int api_groups_read(const cJSON *document, struct api_version **ret_list, size_t *ret_n);
void api_versions_free(struct api_version *list, size_t n);

/*
 * Read /api/v1 or /apis/GROUP/VERSION into the version's resources; subresources are left out.
 *
 * version   has group and version, and no resources; owns what was read, on failure too
 * Returns   0, -EPROTO when the document is no APIResourceList, -ENOMEM
 */
int api_resources_read(const cJSON *document, struct api_version *version);

#endif
