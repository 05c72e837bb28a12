/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upgrade reply: the answer to a request for another protocol (exec, attach, port-forward, proxy by SPDY or
 * WebSocket). The gateway carries no such connection.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_PASS_UPGRADE_REPLY_H
#define TOOLS_INFORMER_GATEWAY_PASS_UPGRADE_REPLY_H

#include <stdbool.h>

#include "tools/informer-gateway/http/exchange.h"

/*
 * Answer 501 with a Status that names the API server to ask.
 *
 * server  its URL; NULL: there is none, or the caller may not learn it
 */
void gw_reply_upgrade(struct gw_exchange *x, const char *server);

#endif
