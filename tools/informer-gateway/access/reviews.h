/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reviews: questions to the API server that are under way, each with an end. How they get there is a function
 * of whoever made us.
 *
 *	│◀──────────────────── most ────────────────────▶│
 *	│◀──── for requests: three quarters ───▶│◀ kept ▶│   for watches that are looked at again: all of it
 *	│◀ of one client: a third of these ▶│
 *
 * So who floods us with tokens that nobody knows takes no other client's room, and ends no watch.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_REVIEWS_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_REVIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/base/clock.h"

/*
 * The answer, once; all of it is lent for the call.
 *
 * code   the HTTP status; negative: there was none
 * body   terminated
 * error  a sentence where code is negative
 */
typedef void gw_review_answer(void *ctx, int code, const char *body, size_t length, const char *error);

/* How to ask: with the gateway's own credentials. */
struct gw_review_way {
	void *ctx;
	/* POST a JSON document, which is lent for the call. Returns what cancel() takes; does not answer in
	 * here. */
	void *(*post)(void *ctx, const char *path, const char *document, uint64_t timeout_ms,
		      gw_review_answer *answer, void *answer_ctx);
	/* `answer` is not called any more. */
	void (*cancel)(void *call);
};

struct gw_reviews {
	struct gw_review_way way;
	struct clock *clock;
	uint64_t timeout_ms;
	unsigned most, count; /* under way */
	unsigned requests;    /* of these: for requests */
	struct gw_review *all;
};

/* A zeroed one is empty. */
void gw_reviews_init(struct gw_reviews *reviews, const struct gw_review_way *way, struct clock *clock,
		     uint64_t timeout_ms, unsigned most);
/* Cancel all; each is answered with -ECANCELED. */
void gw_reviews_done(struct gw_reviews *reviews);

/* What a review is for. */
struct gw_review_for {
	uint64_t client; /* gw_peer_key() of whose request it is */
	bool again;      /* no request, but a watch that was let in before */
};

/*
 * Ask. Whatever the way does, the answer comes once, within the timeout and a second: code -ETIMEDOUT then.
 *
 * Returns  0, -EAGAIN: too many are under way, in all or for this client; then there is no answer
 */
int gw_review_ask(struct gw_reviews *reviews, struct gw_review_for what, const char *path,
		  const char *document, gw_review_answer *answer, void *ctx);

#endif
