/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery, the old way (discovery.c) and aggregated (discovery_v2.c).
 */
#ifndef TOOLS_INFORMER_SIM_SERVE_DISCOVERY_H
#define TOOLS_INFORMER_SIM_SERVE_DISCOVERY_H

#include <cjson/cJSON.h>

#include "tools/informer-sim/sim_server.h"

/* Answer with a document, which is given up. */
enum MHD_Result
sim_discovery_reply(struct sim_request *request, cJSON *json, const char *content_type);
/* A new array of the verbs that resources, or their subresources, have. */
cJSON *
sim_discovery_verbs(bool subresource);

bool
sim_discovery_wants_aggregated(const struct sim_request *request);
/* /api (core) or /apis. */
enum MHD_Result
sim_discovery_aggregated(struct sim_request *request, bool core);

#endif
