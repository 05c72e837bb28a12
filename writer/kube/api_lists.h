/*
 * API lists: parsing the two documents of discovery, APIGroupList (/apis) and APIResourceList
 * (/api/v1, /apis/GROUP/VERSION). Names in them go into request paths, so one that cannot
 * be a DNS name is left out.
 */
#ifndef INFORMER_WRITER_KUBE_API_LISTS_H
#define INFORMER_WRITER_KUBE_API_LISTS_H

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

/*
 * Parse /api/v1 or /apis/GROUP/VERSION; subresources are left out.
 *
 * ret_list  an array; kube_resource_done() for each, then free()
 * Returns   0, -EPROTO when the body is no APIResourceList, -ENOMEM
 */
int api_resource_list_parse(const void *body, size_t len, const char *group, const char *version,
			    struct kube_resource **ret_list, size_t *ret_n);

#endif
