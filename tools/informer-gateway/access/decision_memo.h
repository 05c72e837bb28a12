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

#include "tools/informer-gateway/access/identity.h"

enum gw_verdict_kind {
	GW_VERDICT_YES,
	GW_VERDICT_NO,
	GW_VERDICT_BUSY,    /* not asked: too much is being asked */
	GW_VERDICT_UNKNOWN, /* asked, and no answer to be had */
};

/* An answer; counted, and immutable. */
struct gw_verdict {
	unsigned refs;
	enum gw_verdict_kind kind;
	struct gw_identity *identity; /* of a token that is somebody's; else NULL */
	char *reason;                 /* why not; "" without */
	uint64_t made_ms;
};

/* The identity's reference is taken, the reason copied (NULL: ""). */
struct gw_verdict *gw_verdict_new(enum gw_verdict_kind kind, struct gw_identity *identity, const char *reason,
				  uint64_t now_ms);
struct gw_verdict *gw_verdict_ref(struct gw_verdict *verdict);
void gw_verdict_unref(struct gw_verdict *verdict);

struct gw_memo;

/* Who waits for an answer. Embedded by its owner, zeroed at first. */
struct gw_waiter {
	struct gw_waiter *next, **link;                      /* link NULL: it does not wait */
	void (*told)(void *ctx, struct gw_verdict *verdict); /* lent for the call */
	void *ctx;
};

/* entries  decisions at most */
struct gw_memo *gw_memo_new(unsigned entries);
/* Nobody may wait any more. */
void gw_memo_free(struct gw_memo *memo);

/*
 * What is known: made at `since_ms` or later, and not out of date; lent until the next call. NULL: nothing.
 */
struct gw_verdict *gw_memo_find(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], uint64_t now_ms,
				uint64_t since_ms);

/*
 * Wait for the answer. Returns whether it is being asked already; if not, it is the caller's to ask, and to
 * say the answer by gw_memo_settle(), whoever waits by then.
 */
bool gw_memo_wait(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], struct gw_waiter *waiter);
/* Wait no more. The question goes on. One that does not wait is fine. */
void gw_waiter_leave(struct gw_waiter *waiter);

/*
 * The answer to what was asked. A decision (yes or no) is kept until then, in place of an older one (until 0:
 * neither stays); the others leave alone what is known. Then all who wait are told. The verdict's reference
 * is taken.
 */
void gw_memo_settle(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], struct gw_verdict *verdict,
		    uint64_t until_ms, uint64_t now_ms);

/* How many are kept. */
unsigned gw_memo_count(const struct gw_memo *memo);

#endif
