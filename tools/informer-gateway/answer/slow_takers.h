/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow takers: whose list nobody waits for. What a client does not take of a body is held for it, within the
 * budget of all lists (list_body.h), and while that is used up others are refused. So a client is dropped
 * - that has taken nothing for router_options.stall_ms, though there is something;
 * - that takes less than 16 KB a second, while the budget is used up and after that time.
 * Its connection is cut, so that it does not take the part for the whole.
 *
 * Cost      a look at each reader of the body
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_SLOW_TAKERS_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_SLOW_TAKERS_H

#include "tools/informer-gateway/answer/list_body_private.h"

/* Those of one body; they leave in the loop's next turns, not in here. */
void gw_slow_takers_drop(struct gw_body *body);

#endif
