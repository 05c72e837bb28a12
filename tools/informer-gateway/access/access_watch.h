/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access of a watch: what was allowed at its beginning is asked again for as long as it goes on, before the
 * decision is out of date, each watch at a time of its own (a random one in the last quarter), and with all
 * others that ask the same. It comes to an end when the decision turns, when the identity's proof runs out,
 * or when for GW_KEEP_MOST_MS nobody could say.
 *
 *   made            asked again       out of date              end, if nobody could say
 *    |------------------|====jitter====|- - - - retries - - - -|
 *    0                3/4 keep        keep                    max(keep, GW_KEEP_MOST_MS)
 *
 * So what was revoked is told no longer than that. A listener with a scope asks nothing again.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_ACCESS_WATCH_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_ACCESS_WATCH_H

#include "tools/informer-gateway/access/access.h"

struct gw_access_watch;

/*
 * question  as it was asked; all that it points to stays until gw_access_watch_end()
 * identity  who it was; made_ms: when that was decided
 * turned    called once, not from in here, when it must end; why: for the audit line. The watch is still to
 *           be given to gw_access_watch_end()
 */
struct gw_access_watch *gw_access_watch_begin(struct gw_access *access, const struct gw_question *question,
					      struct gw_identity *identity, uint64_t made_ms,
					      void (*turned)(void *ctx, const char *why), void *ctx);
/* NULL is fine. */
void gw_access_watch_end(struct gw_access_watch *watch);

#endif
