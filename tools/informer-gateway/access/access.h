/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access decides whether a client may make a request on a listener. The listener's profile says how. Anything
 * that is not explicitly allowed is refused, also when no decision can be had.
 *
 *   unix, certificates, insecure   the connection gives the identity; the listener's scope decides
 *   tokens       TokenReview gives the identity. The scope is an upper bound (no scope: all but core
 *                secrets); SubjectAccessReview decides
 *
 * The API server's decisions are cached (decision_memo.h). The key for a token is a keyed hash of the token
 * and the listener's audiences. The key for a decision covers the whole identity and the whole request. A
 * question with more than GW_QUESTION_MAX bytes of text is reviewed each time.
 *
 * A question may have alternatives: reviews ask for these, and the attributes are for the scope alone.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_ACCESS_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_ACCESS_H

#include "tools/informer-gateway/access/asker.h"
#include "tools/informer-gateway/http/peer.h"

struct gw_access;

struct gw_access *gw_access_new(const struct gw_access_options *options);
/* Every check must be finished or cancelled before. NULL is fine. */
void gw_access_free(struct gw_access *access);

/* One question to access. Borrowed until it is answered or cancelled. */
struct gw_question {
	const struct gw_listener_config *listener;
	const struct gw_attributes *attributes;
	/* reviewed instead of the attributes, in this order, until one is allowed; count 0: none */
	const struct gw_attributes *alternatives;
	unsigned alternative_count;
	const char *authorization; /* the header; NULL: there was none */
	struct gw_identity *peer;  /* the identity from the connection; NULL: none */
	uint64_t client;           /* gw_peer_key() of the client */
	uint64_t since_ms;         /* ignore decisions made before this time; 0 for a new request */
	bool past_scope;           /* skip the scope: it only bounds what is served from the arena */
};

struct gw_check;

/*
 * Decide. `done` is called once, possibly before this function returns.
 *
 * Returns  the check, for gw_check_cancel(); NULL: already done
 */
struct gw_check *gw_access_ask(struct gw_access *access, const struct gw_question *question,
			       void (*done)(void *ctx, const struct gw_decision *decision), void *ctx);
/* After this `done` is not called. NULL is fine. */
void gw_check_cancel(struct gw_check *check);

/* Whether reviews decide on this listener, so that a decision can change. */
bool gw_access_is_reviewed(const struct gw_listener_config *listener);
/*
 * Computes the key under which a passed-through bearer token is counted; the token is not reviewed.
 * authorization must hold a bearer token.
 */
void gw_access_bearer_key(const struct gw_access *access, const char *authorization, uint8_t key[GW_DIGEST]);
/*
 * The identity that the connection proves: a uid or gid of a Unix listener's list, or a client name of a
 * certificate listener. Returns a reference; NULL: none, or not in the list.
 */
struct gw_identity *gw_access_identity(const struct gw_access *access,
				       const struct gw_listener_config *listener, const struct gw_peer *peer);

struct clock *gw_access_clock(const struct gw_access *access);
uint64_t gw_access_keep_ms(const struct gw_access *access);

/* For metrics. */
struct gw_access_figures {
	unsigned tokens, decisions; /* in the cache */
	unsigned reviews;           /* under way */
	uint64_t asked, failed;     /* reviews so far; those that got no answer */
	uint64_t outcomes[GW_ACCESS_UNAVAILABLE + 1];
};
struct gw_access_figures gw_access_figures(const struct gw_access *access);

#endif
