/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relay client: clients as relays count and move them.
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_RELAY_CLIENT_H
#define TOOLS_INFORMER_GATEWAY_RELAY_CLIENT_H

#include "tools/informer-gateway/front.h"

/* Connections with a stream that can move, and has not been asked to end. */
unsigned gw_relay_clients(const struct gw_front *front);
/*
 * Ask one to move: of those that have been here for the grace and have taken what they began with, the one
 * that has been here longest. Whether there is one.
 */
bool gw_relay_client_move(const struct gw_front *front, uint64_t grace_ms);

#endif
