/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drain: ends a front gradually, so that its clients reconnect elsewhere one after the other. Listeners stop
 * accepting, each answer says Connection: close, and idle connections are closed. Streams are asked to end
 * (gw_stream_ops.end), spread evenly over the time. A stream that has not ended one second later is cut.
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_DRAIN_H
#define TOOLS_INFORMER_GATEWAY_HTTP_DRAIN_H

#include "tools/informer-gateway/http/front.h"

/* Begin. done is called once: when no connection is left, at the latest one second after the time. */
void gw_drain_begin(struct gw_front *front, unsigned seconds, void (*done)(void *ctx), void *ctx);

#endif
