/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decision memo: what the API server said about a question, for a while. A question is a digest (keyed, so
 * that nobody who sees the memory finds a token by trying); who asks one that is being asked already waits
 * for the same answer.
 *
 * Memory is bounded: the least used decisions are forgotten. Refusals have a quarter of the places, so that
 * tokens that are tried by the thousand push out nobody's who may.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_DECISION_MEMO_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_DECISION_MEMO_H

#include <sys/queue.h>

#include "tools/informer-gateway/access/identity.h"

enum gw_outcome {
	GW_ACCESS_ALLOWED,         /* and so is a token that is somebody's */
	GW_ACCESS_UNAUTHENTICATED, /* 401 */
	GW_ACCESS_FORBIDDEN,       /* 403 */
	GW_ACCESS_BUSY,            /* 429: not asked, too much is being asked */
	GW_ACCESS_UNAVAILABLE,     /* 503: it could not be found out */
};

/* A decision. What a memo keeps is counted, and immutable. */
struct gw_decision {
	unsigned refs;
	enum gw_outcome outcome;
	struct gw_identity *identity; /* who; NULL while that is not known */
	const char *reason;           /* behind upstream's sentence; "" without */
	uint64_t made_ms;             /* when the oldest part of it was made: a scope's is made now */
};

/* The identity's reference is taken, the reason copied. */
struct gw_decision *gw_decision_new(enum gw_outcome outcome, struct gw_identity *identity, const char *reason,
				    uint64_t now_ms);
struct gw_decision *gw_decision_ref(struct gw_decision *decision);
void gw_decision_unref(struct gw_decision *decision);

struct gw_memo;

/* Who waits for an answer. Embedded by its owner, zeroed at first. */
struct gw_waiter {
	LIST_ENTRY(gw_waiter) others;
	void (*told)(void *ctx, const struct gw_decision *decision); /* lent for the call */
	void *ctx;
};

/* entries  decisions at most */
struct gw_memo *gw_memo_new(unsigned entries);
/* Nobody may wait any more. */
void gw_memo_free(struct gw_memo *memo);

/*
 * What is known: made at `since_ms` or later, and not out of date; lent until the next call. NULL: nothing.
 */
struct gw_decision *gw_memo_find(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], uint64_t now_ms,
				 uint64_t since_ms);

/*
 * Wait for the answer. Returns whether it is being asked already; if not, it is the caller's to ask, and to
 * say the answer by gw_memo_answer(), whoever waits by then.
 */
bool gw_memo_wait(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], struct gw_waiter *waiter);
/* Wait no more. The question goes on. One that does not wait is fine. */
void gw_waiter_leave(struct gw_waiter *waiter);

/*
 * The answer to what was asked. It is kept until then, in place of an older one (until 0: neither stays); one
 * that is no decision (busy, unavailable) leaves alone what is known. Then all who wait are told. The
 * decision's reference is taken.
 */
void gw_memo_answer(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], struct gw_decision *decision,
		    uint64_t until_ms, uint64_t now_ms);

/* How many are kept. */
unsigned gw_memo_count(const struct gw_memo *memo);

#endif
