/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asker: puts questions that nobody can answer yet to the API server, and settles them in a memo: whose is a
 * token, may somebody do this. What is no clear yes is a no, and what is no answer neither: it is not kept.
 *
 * A token is held while it is asked about, and wiped.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_ASKER_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_ASKER_H

#include "tools/informer-gateway/access/decision_memo.h"
#include "tools/informer-gateway/access/reviews.h"
#include "tools/informer-gateway/config/gateway_config.h"

#define GW_QUESTION_MAX 10000 /* bytes of texts in a question; longer ones are asked each time */

struct gw_asker {
	struct gw_reviews reviews;
	struct clock *clock;
	uint64_t (*wall_s)(void);
	const uint8_t *secret; /* under which identities are sealed */
	uint64_t keep_allowed_ms, keep_refused_ms;
	uint64_t asked, failed;
	uint64_t warned_ms; /* of reviews that fail; 0: never */
};

/* wall_s  NULL: the system's */
void gw_asker_init(struct gw_asker *asker, const struct gw_access_config *config,
		   const struct gw_review_way *way, struct clock *clock, uint64_t (*wall_s)(void),
		   const uint8_t *secret);
/* What is under way is settled as unknown. */
void gw_asker_done(struct gw_asker *asker);

/*
 * Ask, and settle the question of this digest in the memo: now (too much is being asked), or later.
 *
 * audiences  that a token may be meant for, beside the API server's own; they stay
 */
void gw_ask_identity(struct gw_asker *asker, struct gw_review_for what, struct gw_memo *memo,
		     const uint8_t digest[GW_DIGEST], const char *token, size_t length,
		     const struct gw_texts *audiences);
void gw_ask_decision(struct gw_asker *asker, struct gw_review_for what, struct gw_memo *memo,
		     const uint8_t digest[GW_DIGEST], const struct gw_identity *identity,
		     const struct gw_attributes *attributes);

/*
 * By the loop's clock, when a proof ends that says so by the world's; for a moment at least, as it has just
 * been accepted. UINT64_MAX: never.
 */
uint64_t gw_asker_expiry_ms(const struct gw_asker *asker, uint64_t expires_s);

#endif
