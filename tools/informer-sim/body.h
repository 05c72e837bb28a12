/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request body: what create, update and patch share: parsing the body as an object of the request's resource,
 * and checking it. A function that returns -EINVAL has set request->api.status.
 */
#ifndef TOOLS_INFORMER_SIM_BODY_H
#define TOOLS_INFORMER_SIM_BODY_H

#include "tools/informer-sim/request.h"

/* The object that the request names, with a reference; NULL with the status NotFound. */
struct api_object *
sim_request_object(struct sim_request *request);
/* The object's key. Free it. */
char *
sim_request_key(const struct sim_request *request, const char *name);

/*
 * Parse the body: JSON (or protobuf: protobuf.h) of the resource's kind. Texts are borrowed from the request.
 */
int
sim_body_parse(struct sim_request *request, struct api_doc *doc);
/* The document's metadata; created if missing. */
struct api_node *
sim_body_metadata(struct api_doc *doc);
/* Check a name by the server's rules. */
int
sim_body_check_name(struct sim_request *request, const char *name);
/* The namespace in the body, if any, must be the URL's. */
int
sim_body_check_namespace(struct sim_request *request, const struct api_node *meta);
/* Make an object from the document. */
int sim_body_object(struct sim_request *request, struct api_doc *doc, const char *name,
		    struct api_object **ret_object);
/* Refuse dryRun: it is not implemented. delete_options may be NULL. */
int
sim_body_dry_run(struct sim_request *request, const struct api_node *delete_options);

#endif
