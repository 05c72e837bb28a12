/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What upstream.h is made of: the server and our credentials as the configuration chooses them; and what it
 * may not be given back.
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_OWN_UPSTREAM_H
#define TOOLS_INFORMER_GATEWAY_OWN_UPSTREAM_H

#include "tools/informer-gateway/upstream.h"
#include "tools/serving/buf.h"
#include "tools/serving/served_resource.h"
#include "writer/kube/server_choice.h"

/* As gw_upstream_new(), of the kubeconfig or service account that is chosen. */
int gw_own_upstream(uv_loop_t *loop, struct clock *clock, const struct server_choice *choice,
		    struct gw_upstream **ret_upstream, char **ret_error);

/* gw_pass_through_options.lacks; ctx is the arena. */
bool gw_arena_lacks(void *arena, const struct api_resource *resource, struct api_buf *ret);

#endif
