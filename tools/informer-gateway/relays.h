/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relays: the other gateways of this tier, what they say of themselves, and who moves to them.
 *
 *	peers (URLs) ──each 30 s──▶ addresses ──GET /relay──▶ rebalance.h ──▶ one client moves
 *
 * Each address is asked each five seconds, each second while there are too many clients here; an answer
 * that is not there within 2 s, or is not one, is none. A peer's name may stand for all relays (a headless
 * Service): who has our id is ourselves.
 *
 * A client is a connection with a watch on it. The one that has been here longest is asked: its watch ends
 * with a bookmark, where it takes these, and its connection is closed behind it, so that it comes anew, by
 * its Service. Whoever has not been here for the grace, or has not taken all of the state that it began with,
 * is not asked.
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_RELAYS_H
#define TOOLS_INFORMER_GATEWAY_RELAYS_H

#include "tools/informer-gateway/exchange.h"
#include "tools/informer-gateway/front.h"
#include "tools/informer-gateway/gateway_config.h"
#include "tools/informer-gateway/rebalance.h"
#include "writer/base/clock.h"

#define GW_RELAY_ASK_MS 2000u
#define GW_RELAY_EACH_MS 5000u
#define GW_RELAY_RESOLVE_MS 30000u

struct gw_relays;

struct gw_relays_figures {
	unsigned clients; /* that we have */
	struct gw_share share;
	uint64_t asked, moved, came_to_nothing;
};

/* config, clock and front are borrowed. */
struct gw_relays *gw_relays_new(struct gw_front *front, const struct gw_relays_config *config,
				struct clock *clock);
/* The loop must run once more. NULL is fine. */
void gw_relays_free(struct gw_relays *relays);

/* Answer /relay: id, whether we are ready, clients. */
void gw_relays_page(const struct gw_relays *relays, struct gw_exchange *x, bool ready);

struct gw_relays_figures gw_relays_figures(const struct gw_relays *relays);

/* What a relay says: 0, or -EINVAL. For tests, too. */
int gw_relay_word_parse(const char *text, size_t length, struct gw_relay_word *ret);

#endif
