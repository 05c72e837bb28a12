/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages beside the API: /livez and /healthz (the loop turns), /readyz (informerd is there, and each list that
 * it keeps is in) and /metrics.
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_PAGES_H
#define TOOLS_INFORMER_GATEWAY_PAGES_H

#include "tools/informer-gateway/gateway.h"

/* As gw_hooks.page. */
bool gw_page(const struct gateway *gateway, struct gw_exchange *x);

#endif
