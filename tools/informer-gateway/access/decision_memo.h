/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decision memo: a cache of the API server's decisions. Its keys are keyed digests, so that a dump of the
 * memory gives no token away. Callers that ask a question whose review is in flight share its answer.
 *
 * Memory is bounded: the least recently used decisions are dropped. Refusals have a quarter of the entries,
 * so that a flood of bad tokens drops no allowed client.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_DECISION_MEMO_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_DECISION_MEMO_H

#include <sys/queue.h>

#include "tools/informer-gateway/access/identity.h"

enum gw_outcome {
	GW_ACCESS_ALLOWED,         /* for a token: it is valid */
	GW_ACCESS_UNAUTHENTICATED, /* 401 */
	GW_ACCESS_FORBIDDEN,       /* 403 */
	GW_ACCESS_BUSY,            /* 429: too many reviews are in flight */
	GW_ACCESS_UNAVAILABLE,     /* 503: no decision could be had */
};

/* A decision. One that a memo keeps is reference counted and immutable. */
struct gw_decision {
	unsigned refs;
	enum gw_outcome outcome;
	struct gw_identity *identity; /* NULL: not known */
	const char *reason;           /* appended to upstream's sentence; "": none */
	uint64_t made_ms;             /* when its oldest review was answered; of a scope: now */
};

/* Takes over the identity's reference; copies the reason. */
struct gw_decision *gw_decision_new(enum gw_outcome outcome, struct gw_identity *identity, const char *reason,
				    uint64_t now_ms);
struct gw_decision *gw_decision_ref(struct gw_decision *decision);
void gw_decision_unref(struct gw_decision *decision);

struct gw_memo;

/* A caller that waits for an answer. Embedded by its owner, zeroed at first. */
struct gw_waiter {
	LIST_ENTRY(gw_waiter) others;
	void (*told)(void *ctx, const struct gw_decision *decision); /* lent for the call */
	void *ctx;
};

/* entries  most decisions kept */
struct gw_memo *gw_memo_new(unsigned entries);
/* No waiter may be left. */
void gw_memo_free(struct gw_memo *memo);

/*
 * Returns the decision made at `since_ms` or later that has not expired, borrowed until the next call; else
 * NULL.
 */
struct gw_decision *gw_memo_find(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], uint64_t now_ms,
				 uint64_t since_ms);

/*
 * Wait for the answer. Returns true if a review is in flight. On false the caller must make the review and
 * call gw_memo_answer(), even if its waiter leaves before.
 */
bool gw_memo_wait(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], struct gw_waiter *waiter);
/* Stop waiting; the review goes on. A waiter that does not wait is fine. */
void gw_waiter_leave(struct gw_waiter *waiter);

/*
 * Answer the question and call all its waiters. The answer replaces the stored one and is kept until
 * `until_ms`; 0: neither is kept. Busy and unavailable leave the stored decision unchanged. Takes over the
 * decision's reference.
 */
void gw_memo_answer(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], struct gw_decision *decision,
		    uint64_t until_ms, uint64_t now_ms);

/* How many decisions are stored. */
unsigned gw_memo_count(const struct gw_memo *memo);

#endif
