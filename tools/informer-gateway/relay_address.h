/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relay addresses: where the other relays are. Each peer's name is resolved each 30 s, in libuv's threads; an
 * address that a name has no more is forgotten, but a name that does not resolve keeps what it had: a
 * resolver's trouble is no relay's.
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_RELAY_ADDRESS_H
#define TOOLS_INFORMER_GATEWAY_RELAY_ADDRESS_H

#include <uv.h>

#include "tools/informer-gateway/gateway_config.h"
#include "tools/informer-gateway/peer_name.h"
#include "tools/informer-gateway/rebalance.h"

struct gw_relay_addresses;

struct gw_relay_address_events {
	/* An address has this place (below GW_RELAYS_MAX) from now on. */
	void (*found)(void *ctx, unsigned place, const struct gw_peer_name *name, const char *url);
	void (*gone)(void *ctx, unsigned place);
};

/* config is borrowed; events are called from the loop, never from in here. */
struct gw_relay_addresses *gw_relay_addresses_new(uv_loop_t *loop, const struct gw_relays_config *config,
						  const struct gw_relay_address_events *events, void *ctx);
/* Look again now, where nothing is being looked for. */
void gw_relay_addresses_resolve(struct gw_relay_addresses *addresses);
/* Nothing is called any more; memory goes when what is being resolved has come to its end. NULL is fine. */
void gw_relay_addresses_free(struct gw_relay_addresses *addresses);

#endif
