/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept documents: the API server's discovery (/api, /apis and below, /version, /openapi), handed on with
 * the caller's own bearer, and kept, so that kubectl goes on while the API server is away.
 *
 *	asked upstream each time, with the ETag of what is kept ─┬─▶ 200: kept, answered
 *	                                                        ├─▶ 304: what is kept is the answer
 *	                                                        ├─▶ refused: so here
 *	                                                        └─▶ not there: what is kept, with a Warning,
 *	                                                            for whom upstream has shown it before
 *
 * A document is kept by its path, query and Accept. Of who was shown it a keyed hash is kept, of the bearer
 * and of whom it impersonates: whom upstream never showed a document, or last refused it, is not shown it
 * here, either.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_KEPT_DOCUMENTS_H
#define TOOLS_INFORMER_GATEWAY_KEPT_DOCUMENTS_H

#include <stdbool.h>

#include "tools/informer-gateway/exchange.h"
#include "tools/informer-gateway/upstream.h"

#define GW_KEPT_DOCUMENT_MAX (8u << 20)
#define GW_KEPT_BYTES_MAX (64u << 20) /* all of them; who was not asked for longest goes first */
#define GW_KEPT_PEERS 128u	      /* of one document, that were shown it last */
#define GW_KEPT_WAIT_MS 2000u	      /* for upstream, where something is kept */
#define GW_KEPT_ANSWER_MS 30000u      /* where nothing is */

struct gw_kept_documents;

/* Bearers may be shown on the way upstream: see transport_may_authenticate(). */
struct gw_kept_documents *gw_kept_documents_new(struct gw_upstream *upstream);
/* When no exchange is left. NULL is fine. */
void gw_kept_documents_free(struct gw_kept_documents *kept);

/*
 * Answer a request for discovery. False: it is none, or brings no bearer, and nothing was done.
 */
bool gw_kept_documents_answer(struct gw_kept_documents *kept, struct gw_exchange *x);

/* Whether a path, with or without query, is discovery's. */
bool gw_is_discovery(const char *target);

struct gw_kept_counters {
	uint64_t asked, unchanged, from_memory;
	size_t bytes;
	unsigned documents;
};
const struct gw_kept_counters *gw_kept_documents_counters(const struct gw_kept_documents *kept);

#endif
