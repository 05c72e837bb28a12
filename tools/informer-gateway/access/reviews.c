/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the API server; see reviews.h. */
#include "tools/informer-gateway/access/reviews.h"

#include <errno.h>
#include <stdlib.h>

#include "tools/serving/buf.h"

#define GRACE_MS 1000 /* in which the way should have ended it by itself */

struct gw_review {
	struct gw_review *next, **link;
	struct gw_reviews *reviews;
	gw_review_answer *answer;
	void *ctx;
	void *call;
	struct clock_timer timer;
};

void
gw_reviews_init(struct gw_reviews *reviews, const struct gw_review_way *way, struct clock *clock,
		uint64_t timeout_ms, unsigned most)
{
	*reviews = (struct gw_reviews){.way = *way, .clock = clock, .timeout_ms = timeout_ms, .most = most};
}

static void
review_free(struct gw_review *review)
{
	*review->link = review->next;
	if (review->next)
		review->next->link = review->link;
	clock_clear(review->reviews->clock, &review->timer);
	review->reviews->count--;
	free(review);
}

static void
answered(void *ctx, int code, const char *body, size_t length, const char *error)
{
	struct gw_review *review = ctx;
	gw_review_answer *answer = review->answer;
	void *answer_ctx = review->ctx;

	review_free(review); /* whoever is told may ask anew */
	answer(answer_ctx, code, body, length, error);
}

void
gw_reviews_done(struct gw_reviews *reviews)
{
	while (reviews->all) {
		reviews->way.cancel(reviews->all->call);
		answered(reviews->all, -ECANCELED, "", 0, "the gateway ends");
	}
}

static void
too_late(void *ctx)
{
	struct gw_review *review = ctx;

	review->reviews->way.cancel(review->call);
	answered(review, -ETIMEDOUT, "", 0, "there was no answer in time");
}

int
gw_review_ask(struct gw_reviews *reviews, const char *path, const char *document, gw_review_answer *answer,
	      void *ctx)
{
	struct gw_review *review;

	if (reviews->count >= reviews->most)
		return -EAGAIN;
	review = api_alloc(sizeof(*review));
	*review = (struct gw_review){.reviews = reviews, .answer = answer, .ctx = ctx};
	review->next = reviews->all;
	review->link = &reviews->all;
	if (review->next)
		review->next->link = &review->next;
	reviews->all = review;
	reviews->count++;
	clock_set(reviews->clock, &review->timer, reviews->timeout_ms + GRACE_MS, too_late, review);
	review->call = reviews->way.post(reviews->way.ctx, path, document, reviews->timeout_ms, answered,
					 review);
	return 0;
}
