/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upstream: the gateway's two ways to the API server. They share nothing, not even a connection:
 *
 *	own    with our credentials: reviews
 *	bare   to the same server by the same CA and proxy, made from a configuration that has no
 *	       credentials at all. What callers send goes this way, with the bearer that they brought.
 *	       HTTP/1.1, a connection for each request that is under way: a caller who reads slowly holds up
 *	       nobody else
 *
 * So that a caller's request carries our name, somebody would have to put it there: it is in no structure
 * that the bare way knows.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_UPSTREAM_UPSTREAM_H
#define TOOLS_INFORMER_GATEWAY_UPSTREAM_UPSTREAM_H

#include <stddef.h>
#include <uv.h>

#include "writer/kube/transport.h"

#define GW_UPSTREAM_BODY_MAX (4u << 20) /* of an answer to a review */

struct gw_upstream;

/*
 * config   copied; the own way has all of it, the bare one where the server is
 * Returns  0, or a negative errno with message
 */
int gw_upstream_new(uv_loop_t *loop, const struct kube_client_config *config,
		    struct gw_upstream **ret_upstream, char **ret_error);
/* All that was asked must be over or cancelled. The loop must run once more. NULL is fine. */
void gw_upstream_free(struct gw_upstream *upstream);

struct transport *gw_upstream_bare(const struct gw_upstream *upstream);
/* The server's URL, for messages. */
const char *gw_upstream_server(const struct gw_upstream *upstream);

/* ---- reviews -------------------------------------------------------------------------------- */

/*
 * The answer, once, from the loop; all of it is lent for the call.
 *
 * code    the HTTP status; or negative, as on_done of writer/kube/transport.h (-EMSGSIZE: longer than
 *         GW_UPSTREAM_BODY_MAX)
 * body    terminated; "" if there is none
 * error   a sentence where code is negative, else ""
 */
typedef void gw_review_answer(void *ctx, int code, const char *body, size_t length, const char *error);

/* How reviews are asked. */
struct gw_review_way {
	void *ctx;
	/*
	 * POST a JSON document, which is lent for the call. Returns what cancel() takes, and does not answer
	 * in here; NULL: it cannot be asked, and is not answered.
	 */
	void *(*post)(void *ctx, const char *path, const char *document, gw_review_answer *answer,
		      void *answer_ctx);
	/* `answer` is not called any more. */
	void (*cancel)(void *call);
};

/* With our own credentials. The upstream is borrowed for as long as reviews are asked. */
struct gw_review_way gw_upstream_reviews(struct gw_upstream *upstream);

#endif
