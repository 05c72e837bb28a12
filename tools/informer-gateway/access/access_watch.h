/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access watch: checks again, for as long as a watch is open, that its client may still have it. Each watch
 * is checked at a random time in the last quarter of its decision's life. Equal questions share one review.
 * The watch must end when the answer is no, or when the identity's proof expires. It must also end when
 * GW_KEEP_MOST_MS have passed since the last decision.
 *
 *   decided         checked again   decision expires         end, if no decision could be had
 *    |------------------|====jitter====|- - - - retries - - - -|
 *    0                3/4 keep        keep                    max(keep, GW_KEEP_MOST_MS)
 *
 * A watch on a listener that decides by scope alone is not checked again; it ends when the identity's proof
 * expires.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_ACCESS_WATCH_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_ACCESS_WATCH_H

#include "tools/informer-gateway/access/access.h"

struct gw_access_watch;

/*
 * question  the original one; everything it points to must live until gw_access_watch_end()
 * identity  the client's; made_ms: when the decision was made
 * turned    called once, never from within this function, when the watch must end. why: for the audit line.
 *           The caller must still call gw_access_watch_end()
 */
struct gw_access_watch *gw_access_watch_begin(struct gw_access *access, const struct gw_question *question,
					      struct gw_identity *identity, uint64_t made_ms,
					      void (*turned)(void *ctx, const char *why), void *ctx);
/* NULL is fine. */
void gw_access_watch_end(struct gw_access_watch *watch);

#endif
