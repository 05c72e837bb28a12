/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asker: puts questions that nobody can answer yet to the API server, and notes the answers in a memo: whose
 *is a token, may somebody do this. What is no clear yes is a no, and what is no answer neither: it is not
 *kept.
 *
 *	│◀──────────────────── most ────────────────────▶│
 *	│◀──── for requests: three quarters ───▶│◀ kept ▶│   for watches that are looked at again: all of it
 *	│◀ of one client: a third of these ▶│
 *
 * So who floods us with tokens that nobody knows takes no other client's room, and ends no watch.
 *
 * A token is held while it is asked about, and wiped.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_ASKER_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_ASKER_H

#include "tools/informer-gateway/access/decision_memo.h"
#include "tools/informer-gateway/config/gateway_config.h"
#include "tools/informer-gateway/upstream/upstream.h"
#include "writer/base/clock.h"

#define GW_QUESTION_MAX 10000 /* bytes of texts in a question; longer ones are asked each time */

struct gw_access_options {
	const struct gw_access_config *config; /* borrowed for the call */
	struct gw_review_way way;
	struct clock *clock;      /* borrowed for good */
	uint64_t (*wall_s)(void); /* seconds since 1970; NULL: time() */
};

struct gw_asker {
	struct gw_review_way way;
	struct clock *clock;
	uint64_t (*wall_s)(void);
	struct gw_access_config config;
	const uint8_t *secret; /* under which identities are sealed */
	LIST_HEAD(, asking) under_way;
	unsigned count, requests; /* of these; of these for requests */
	uint64_t asked, failed;
	uint64_t warned_ms; /* of reviews that fail; 0: never */
};

void gw_asker_init(struct gw_asker *asker, const struct gw_access_options *options, const uint8_t *secret);
/* What is under way is answered as unavailable. */
void gw_asker_done(struct gw_asker *asker);

/* What a review is for. */
struct gw_review_for {
	uint64_t client; /* gw_peer_key() of whose request it is */
	bool again;      /* no request, but a watch that was let in before */
};

/*
 * Ask, and answer the question of this digest in the memo: now (too much is being asked), or later, within
 * the time that the configuration has for it.
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
