/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API lists: parsing the documents of discovery, APIGroupDiscoveryList (/apis with all that is in it),
 * APIGroupList (/apis of older servers) and APIResourceList (/api/v1, /apis/GROUP/VERSION). Names in them go
 * into request paths, so one that cannot be a DNS name is left out.
 */
#ifndef WRITER_KUBE_API_LISTS_H
#define WRITER_KUBE_API_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#include "writer/kube/resource_name.h"

/* One group's version as /apis lists it. */
struct api_group_version {
	char *group, *version;
	bool preferred;
};

#define API_LISTS_MAX 100000 /* entries that are taken of one document */

/*
 * Parse /apis.
 *
 * ret_list  an array, for api_group_versions_free(); in the server's order
 * Returns   0, -EPROTO when the body is no APIGroupList, -ENOMEM
 */
int api_group_list_parse(const void *body, size_t len, struct api_group_version **ret_list, size_t *ret_n);
void api_group_versions_free(struct api_group_version *list, size_t n);

/* One group's version with its resources. */
struct api_group_discovery {
	char *group, *version;
	bool preferred;
	/* false: the server behind it was not heard lately, and what is said of it may be old or nothing */
	bool current;
	struct kube_resource *resources;
	size_t n_resources;
};

/*
 * Parse an aggregated /apis (apidiscovery.k8s.io/v2 and v2beta1).
 *
 * ret_list  an array, for api_group_discoveries_free(); in the server's order, the preferred version of each
 *           group first
 * Returns   0, -EPROTO when the body is no APIGroupDiscoveryList, -ENOMEM
 */
int api_group_discovery_parse(const void *body, size_t len, struct api_group_discovery **ret_list,
			      size_t *ret_n);
void api_group_discoveries_free(struct api_group_discovery *list, size_t n);

/*
 * Parse /api/v1 or /apis/GROUP/VERSION; subresources are left out.
 *
 * ret_list  an array; kube_resource_done() for each, then free()
 * Returns   0, -EPROTO when the body is no APIResourceList, -ENOMEM
 */
int api_resource_list_parse(const void *body, size_t len, const char *group, const char *version,
			    struct kube_resource **ret_list, size_t *ret_n);

#endif
