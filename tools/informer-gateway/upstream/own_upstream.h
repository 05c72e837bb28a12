/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What upstream.h is made of: the server and our credentials as the configuration chooses them.
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_UPSTREAM_OWN_UPSTREAM_H
#define TOOLS_INFORMER_GATEWAY_UPSTREAM_OWN_UPSTREAM_H

#include "tools/informer-gateway/upstream/upstream.h"
#include "writer/kube/server_choice.h"

/* As gw_upstream_new(), of the kubeconfig or service account that is chosen. */
int gw_own_upstream(uv_loop_t *loop, struct clock *clock, const struct server_choice *choice,
		    struct gw_upstream **ret_upstream, char **ret_error);

#endif
