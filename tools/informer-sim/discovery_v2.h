/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregated discovery: everything in two documents, of the core group and of the others.
 *
 * Source: KEP-3352, apidiscovery.k8s.io/v2
 */
#ifndef TOOLS_INFORMER_SIM_DISCOVERY_V2_H
#define TOOLS_INFORMER_SIM_DISCOVERY_V2_H

#include <cjson/cJSON.h>

#include "tools/informer-sim/served_resource.h"

/* A new APIGroupDiscoveryList: /api (core) or /apis. */
cJSON *
sim_discovery_v2(const struct sim_registry *registry, bool core);

#endif
