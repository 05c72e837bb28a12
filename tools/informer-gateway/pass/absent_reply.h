/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Absent reply: the answer where the API server would have to be asked and is not to be had.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_PASS_ABSENT_REPLY_H
#define TOOLS_INFORMER_GATEWAY_PASS_ABSENT_REPLY_H

#include "tools/informer-gateway/http/exchange.h"

/* 503 with `why` in its Status, and when to come again. */
void gw_reply_absent(struct gw_exchange *x, const char *why);

#endif
