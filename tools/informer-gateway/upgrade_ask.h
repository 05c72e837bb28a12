/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upgrade ask: the request for another protocol over an open wire, and upstream's answer to it: the switch,
 * with what came right behind it, or an ordinary answer with its body.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_UPGRADE_ASK_H
#define TOOLS_INFORMER_GATEWAY_UPGRADE_ASK_H

#include "tools/informer-gateway/exchange.h"
#include "tools/informer-gateway/forward_headers.h"
#include "tools/informer-gateway/http_answer.h"
#include "tools/informer-gateway/upstream_wire.h"

#define GW_UPGRADE_BODY_MAX (64u << 10)

/* Zeroed at first. */
struct gw_upgrade_ask {
	struct api_buf request;
	size_t sent;
	bool broken; /* sending is */
	struct api_buf bytes;	    /* of the head */
	struct gw_answer_head head; /* in `bytes`, once it is whole */
	bool whole;
	struct api_buf body; /* what came behind it */
};

/*
 * Write the request down.
 *
 * server   its URL
 * lines    headers that go on, without those of the connection
 * Returns  0, -EINVAL: no URL
 */
int gw_upgrade_ask_write(struct gw_upgrade_ask *ask, const struct gw_exchange *x, const char *server,
			 const struct gw_header_lines *lines);

enum gw_upgrade_answer { GW_UPGRADE_WAITS, GW_UPGRADE_SWITCHED, GW_UPGRADE_ANSWERED, GW_UPGRADE_BROKEN };

/* Send and receive what goes now; when it waits, the wire's ready() is asked for. */
enum gw_upgrade_answer gw_upgrade_ask_turn(struct gw_upgrade_ask *ask, struct gw_wire *wire);

/* Give the memory back; the request, which holds a bearer, is wiped. */
void gw_upgrade_ask_done(struct gw_upgrade_ask *ask);

#endif
