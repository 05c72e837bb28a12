/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews by our own way to the API server; see upstream_reviews.h. */
#include "tools/informer-gateway/access/upstream_reviews.h"

static void *
post(void *ctx, const char *path, const char *document, uint64_t timeout_ms, gw_review_answer *answer,
     void *answer_ctx)
{
	return gw_upstream_post_json(ctx, path, document, timeout_ms, answer, answer_ctx);
}

static void
cancel(void *call)
{
	gw_ask_cancel(call);
}

struct gw_review_way
gw_upstream_reviews(struct gw_upstream *upstream)
{
	return (struct gw_review_way){upstream, post, cancel};
}
