/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery documents: describe the resources of a registry. The old form is APIVersions, APIGroupList, and
 * an APIResourceList for each group and version. A client that asks by Accept gets two aggregated documents:
 * one for the core group, one for the others.
 */
#ifndef TOOLS_SERVING_DISCOVERY_DOCUMENTS_H
#define TOOLS_SERVING_DISCOVERY_DOCUMENTS_H

#include "tools/serving/api_request.h"
#include "tools/serving/served_resource.h"

#define API_ETAG_SIZE 24

struct api_discovery {
	unsigned code; /* 200; 304: the client has the current one; 0: no such page */
	const char *type;
	char etag[API_ETAG_SIZE]; /* in quotes; "": it has none */
};

/*
 * Append the page of a request's path: /api, /apis, /api/VERSION, /apis/GROUP, /apis/GROUP/VERSION.
 *
 * aggregated  the aggregated documents are offered
 */
struct api_discovery api_discovery_answer(const struct api_request *request,
					  const struct api_registry *registry, bool aggregated,
					  struct api_buf *body);

/*
 * Append /version, with the release of proto_schema.h by which objects are printed. program: "informer-sim"
 */
void api_version_document(const char *program, struct api_buf *body);

#endif
