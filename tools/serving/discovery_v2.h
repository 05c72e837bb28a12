/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregated discovery: everything in two documents, of the core group and of the others.
 *
 * Source: KEP-3352, apidiscovery.k8s.io/v2
 */
#ifndef TOOLS_SERVING_DISCOVERY_V2_H
#define TOOLS_SERVING_DISCOVERY_V2_H

#include <cjson/cJSON.h>

#include "tools/serving/served_resource.h"

/* A new APIGroupDiscoveryList: /api (core) or /apis. */
cJSON *api_discovery_v2(const struct api_registry *registry, bool core);

#endif
