/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery: what a registry serves, as clients ask for it. The old way has APIVersions, APIGroupList and an
 * APIResourceList for each group and version; who asks by Accept is given all in two documents, of the core
 * group and of the others.
 */
#ifndef TOOLS_SERVING_DISCOVERY_DOCUMENTS_H
#define TOOLS_SERVING_DISCOVERY_DOCUMENTS_H

#include "tools/serving/api_request.h"
#include "tools/serving/served_resource.h"

#define API_ETAG_SIZE 24

struct api_discovery {
	unsigned code; /* 200; 304: the client has it already; 0: there is no such page */
	const char *type;
	char etag[API_ETAG_SIZE]; /* in quotes; "": it has none */
};

/*
 * Append the page that a request's path is: /api, /apis, /api/VERSION, /apis/GROUP, /apis/GROUP/VERSION.
 *
 * aggregated  the aggregated documents are offered
 */
struct api_discovery api_discovery_answer(const struct api_request *request,
					  const struct api_registry *registry, bool aggregated,
					  struct api_buf *body);

/* Append /version: of the release as which objects are printed. program: "informer-sim" */
void api_version_document(const char *program, struct api_buf *body);

#endif
