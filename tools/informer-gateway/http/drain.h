/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drain: the end of a front, so that its clients move elsewhere one after the other and not all at once.
 * Listeners accept no more, each answer says Connection: close, connections between requests are closed,
 * and streams are asked to end (gw_stream_ops.end) spread evenly over the time; a stream that has not ended
 * a second later is cut.
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_DRAIN_H
#define TOOLS_INFORMER_GATEWAY_HTTP_DRAIN_H

#include "tools/informer-gateway/http/front.h"

/* Begin. done is called when no connection is left, or at the latest a second after the time; once. */
void gw_drain_begin(struct gw_front *front, unsigned seconds, void (*done)(void *ctx), void *ctx);

#endif
