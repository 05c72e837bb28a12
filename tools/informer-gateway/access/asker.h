/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asker: sends reviews to the API server and stores the answers in a memo. A review asks whose a token is, or
 * whether an identity may make a request. Only an explicit yes allows. A failed review refuses the request
 * and is not stored.
 *
 * The limit on reviews in flight (`reviews` of the configuration) is divided, so that a client with unknown
 * tokens can neither block other clients nor end watches:
 *
 *	│◀────────────────── reviews ───────────────────▶│
 *	│◀────── requests: three quarters ──────▶│◀ rest ▶│   checks of open watches may use all of it
 *	│◀ one client: a third of these ▶│
 *
 * A token is kept only while its review is in flight, and then wiped.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_ASKER_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_ASKER_H

#include "tools/informer-gateway/access/decision_memo.h"
#include "tools/informer-gateway/config/gateway_config.h"
#include "tools/informer-gateway/upstream/upstream.h"
#include "writer/base/clock.h"

#define GW_QUESTION_MAX 10000 /* bytes of text in a question; answers to longer ones are not stored */

struct gw_access_options {
	const struct gw_access_config *config; /* borrowed for the call */
	struct gw_review_way way;
	struct clock *clock;      /* must outlive the access */
	uint64_t (*wall_s)(void); /* seconds since 1970; NULL: time() */
};

struct gw_asker {
	struct gw_review_way way;
	struct clock *clock;
	uint64_t (*wall_s)(void);
	struct gw_access_config config;
	const uint8_t *secret; /* key for gw_identity_seal() */
	LIST_HEAD(, asking) under_way;
	unsigned count, requests; /* reviews in flight; those for requests */
	uint64_t asked, failed;
	uint64_t warned_ms; /* when a failed review was last logged; 0: never */
};

void gw_asker_init(struct gw_asker *asker, const struct gw_access_options *options, const uint8_t *secret);
/* Answers the reviews in flight with GW_ACCESS_UNAVAILABLE. */
void gw_asker_done(struct gw_asker *asker);

/* Why a review is made. */
struct gw_review_for {
	uint64_t client; /* gw_peer_key() of the client */
	bool again;      /* check of an open watch, not of a request */
};

/*
 * Send a review and answer `digest` in the memo: at once when the limit is reached, otherwise within the
 * configured timeout.
 *
 * audiences  a token may be meant for these or for the API server itself; they must stay
 */
void gw_ask_identity(struct gw_asker *asker, struct gw_review_for what, struct gw_memo *memo,
		     const uint8_t digest[GW_DIGEST], const char *token, size_t length,
		     const struct gw_texts *audiences);
void gw_ask_decision(struct gw_asker *asker, struct gw_review_for what, struct gw_memo *memo,
		     const uint8_t digest[GW_DIGEST], const struct gw_identity *identity,
		     const struct gw_attributes *attributes);

/*
 * When a proof expires on the loop's clock, from its expiry in wall-clock seconds. A proof that was just
 * accepted holds for at least 10 seconds. UINT64_MAX: never.
 */
uint64_t gw_asker_expiry_ms(const struct gw_asker *asker, uint64_t expires_s);

#endif
