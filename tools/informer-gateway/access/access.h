/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access: may this be asked here, by whom? Each listener's profile decides in its own way; what it does not
 * say yes to is refused, and so is what could not be found out.
 *
 *   unix, certificates, insecure   who it is says the connection; what he may, the listener's scope
 *   tokens       TokenReview (whose is it?), the scope as an upper bound, SubjectAccessReview (may he?)
 *
 * What the API server decided is remembered for a while (decision_memo.h): whose a token is, by a keyed hash
 * of it and of the listener's audiences; what somebody may, by who he is in all that a review can see and by
 * all that he asks. Questions of more than GW_QUESTION_MAX bytes are asked each time.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_ACCESS_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_ACCESS_H

#include "tools/informer-gateway/access/asker.h"
#include "tools/informer-gateway/http/peer.h"

struct gw_access;

struct gw_access *gw_access_new(const struct gw_access_options *options);
/* All checks are over or cancelled. NULL is fine. */
void gw_access_free(struct gw_access *access);

/* What counts of one question. Borrowed until it is answered or cancelled. */
struct gw_question {
	const struct gw_listener_config *listener;
	const struct gw_attributes *attributes;
	const char *authorization; /* the header; NULL: there was none */
	struct gw_identity *peer;  /* who the connection says it is; NULL: it does not */
	uint64_t client;           /* gw_peer_key() of who asks */
	uint64_t since_ms; /* of what was let in before: decisions that were made before do not count */
	bool past_scope;           /* reviews alone decide: the scope bounds what is served from the arena */
};

struct gw_check;

/*
 * Decide. `done` is called once, perhaps before this returns.
 *
 * Returns  what gw_check_cancel() takes; NULL: it is done
 */
struct gw_check *gw_access_ask(struct gw_access *access, const struct gw_question *question,
			       void (*done)(void *ctx, const struct gw_decision *decision), void *ctx);
/* `done` is not called any more. NULL is fine. */
void gw_check_cancel(struct gw_check *check);

/* Does the decision rest on reviews, so that it turns? */
bool gw_access_is_reviewed(const struct gw_listener_config *listener);
/*
 * What stands for the identity of a token that is passed on: nobody has reviewed it here. authorization has a
 * bearer token.
 */
void gw_access_bearer_key(const struct gw_access *access, const char *authorization, uint8_t key[GW_DIGEST]);
/*
 * Who is at the other end, by the connection alone: a uid, or gid, of a Unix socket's list; a name of a
 * certificates' listener. A reference; NULL: it does not say, or nobody who may.
 */
struct gw_identity *gw_access_identity(const struct gw_access *access,
				       const struct gw_listener_config *listener, const struct gw_peer *peer);

struct clock *gw_access_clock(const struct gw_access *access);
uint64_t gw_access_keep_ms(const struct gw_access *access);

/* For metrics. */
struct gw_access_figures {
	unsigned tokens, decisions; /* remembered */
	unsigned reviews;           /* under way */
	uint64_t asked, failed;     /* reviews so far; without an answer */
	uint64_t outcomes[GW_ACCESS_UNAVAILABLE + 1];
};
struct gw_access_figures gw_access_figures(const struct gw_access *access);

#endif
