/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upgrade tunnel: exec, attach and port-forward. The request goes upstream over a connection of its own
 * (upstream_wire.h) with the caller's own bearer; when the API server switches protocols (SPDY/3.1,
 * WebSocket), so do we, and from then on bytes are handed on both ways, unread.
 *
 *	client ──▶ [64 KiB] ──▶ upstream        an end that does not take bytes is not sent more
 *	client ◀── [64 KiB] ◀── upstream
 *
 * An answer other than 101 is the client's answer. When one side ends, what it had sent is still delivered
 * and the other side told; that one has 10 s from its last byte. A tunnel in which nothing moves for four
 * hours ends, as a kubelet's.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_UPGRADE_TUNNEL_H
#define TOOLS_INFORMER_GATEWAY_UPGRADE_TUNNEL_H

#include <stdbool.h>

#include "tools/informer-gateway/exchange.h"
#include "tools/informer-gateway/forward_headers.h"
#include "tools/informer-gateway/upstream.h"

#define GW_TUNNELS_MAX 256u
#define GW_TUNNEL_ANSWER_MS 30000u /* for upstream to answer the request */
#define GW_TUNNEL_LINGER_MS 10000u
#define GW_TUNNEL_IDLE_MS (4u * 3600 * 1000)

struct gw_tunnels;

struct gw_tunnels *gw_tunnels_new(struct gw_upstream *upstream);
/* When no exchange is left. NULL is fine. */
void gw_tunnels_free(struct gw_tunnels *tunnels);
unsigned gw_tunnels_open(const struct gw_tunnels *tunnels);

/* Whether it asks for another protocol. */
bool gw_wants_upgrade(const struct gw_exchange *x);

/*
 * Answer it by a tunnel; takes the exchange over.
 *
 * lines  its headers as they go on, without those of its connection; borrowed for the call
 */
void gw_tunnel(struct gw_tunnels *tunnels, struct gw_exchange *x, const struct gw_header_lines *lines);

#endif
