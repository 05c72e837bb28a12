/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Router: sends each request to the function that answers it.
 *
 *   /version /healthz /livez /readyz /metrics, discovery   pages (hooks->page first)
 *   /api/v1/..., /apis/GROUP/VERSION/...                   cached resources: get, list, watch
 *   /pods, /runningpods                                    the kubelet's paths (kubelet_paths.h)
 *   everything else                                        hooks->elsewhere
 *
 * Access is checked before anything but the request's form is looked at: parse -> check -> serve.
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_ROUTER_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_ROUTER_H

#include "tools/informer-gateway/answer/hooks.h"

struct gw_front;
struct gw_router;

struct gw_router *gw_router_new(struct gw_front *front, const struct gw_router_options *options);
/* Call after all listeners are closed. NULL is fine; the memory is freed in the loop's next run. */
void gw_router_free(struct gw_router *router);

/* Answer a GET by name with this object, in the requested shape; for hooks.missing. */
void gw_reply_object(struct gw_exchange *x, struct api_object *object);

/* A listener's handler; ctx is the router. */
void gw_router_handle(struct gw_exchange *x, void *router);
/*
 * A resource has reached this RV: continue the requests that wait for it. Not from within a function of the
 * store.
 */
void gw_router_told(struct gw_router *router, const struct api_resource *resource, uint64_t rv);

const struct gw_router_counters *gw_router_counters(const struct gw_router *router);

#endif
