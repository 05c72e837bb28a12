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
	struct gw_review_for what;
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
	review->reviews->requests -= !review->what.again;
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

static unsigned
at_least_one(unsigned n)
{
	return n > 0 ? n : 1;
}

static bool
has_room(const struct gw_reviews *reviews, struct gw_review_for what)
{
	unsigned for_requests = at_least_one(reviews->most * 3 / 4), of_client = 0;

	if (reviews->count >= reviews->most)
		return false;
	if (what.again)
		return true;
	for (const struct gw_review *r = reviews->all; r; r = r->next)
		of_client += !r->what.again && r->what.client == what.client;
	return reviews->requests < for_requests && of_client < at_least_one(for_requests / 3);
}

int
gw_review_ask(struct gw_reviews *reviews, struct gw_review_for what, const char *path, const char *document,
	      gw_review_answer *answer, void *ctx)
{
	struct gw_review *review;

	if (!has_room(reviews, what))
		return -EAGAIN;
	review = api_alloc(sizeof(*review));
	*review = (struct gw_review){.reviews = reviews, .what = what, .answer = answer, .ctx = ctx};
	review->next = reviews->all;
	review->link = &reviews->all;
	if (review->next)
		review->next->link = &review->next;
	reviews->all = review;
	reviews->count++;
	reviews->requests += !what.again;
	clock_set(reviews->clock, &review->timer, reviews->timeout_ms + GRACE_MS, too_late, review);
	review->call = reviews->way.post(reviews->way.ctx, path, document, reviews->timeout_ms, answered,
					 review);
	return 0;
}
