/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upstream: the gateway's two ways to the API server. They share nothing, not even a connection:
 *
 *	own    with our credentials: for reviews
 *	bare   to the same server, with the same CA and proxy, from a configuration without any credentials.
 *	       For callers' requests, with the callers' bearer tokens. HTTP/1.1, one connection for each
 *	       request in progress: a slow caller delays no other
 *
 * No structure that the bare way uses holds our credentials, so a caller's request cannot carry them.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_UPSTREAM_UPSTREAM_H
#define TOOLS_INFORMER_GATEWAY_UPSTREAM_UPSTREAM_H

#include <stddef.h>
#include <uv.h>

#include "writer/kube/transport.h"

#define GW_UPSTREAM_BODY_MAX (4u << 20) /* limit of an answer to a review */

struct gw_upstream;

/*
 * config   copied; the own way uses all of it, the bare way only the server's address
 * Returns  0, or a negative errno with message
 */
int gw_upstream_new(uv_loop_t *loop, const struct kube_client_config *config,
		    struct gw_upstream **ret_upstream, char **ret_error);
/* All requests must be finished or cancelled, and the loop must run once more. NULL is fine. */
void gw_upstream_free(struct gw_upstream *upstream);

struct transport *gw_upstream_bare(const struct gw_upstream *upstream);
/* The server's URL, for messages. */
const char *gw_upstream_server(const struct gw_upstream *upstream);

/* ---- reviews -------------------------------------------------------------------------------- */

/*
 * The answer to a review. Called once, from the loop; all of it is lent for the call.
 *
 * code    the HTTP status; or negative, as on_done of writer/kube/transport.h (-EMSGSIZE: longer than
 *         GW_UPSTREAM_BODY_MAX)
 * body    NUL terminated; "" if there is none
 * error   a sentence if code is negative, else ""
 */
typedef void gw_review_answer(void *ctx, int code, const char *body, size_t length, const char *error);

/* How to send reviews. */
struct gw_review_way {
	void *ctx;
	/*
	 * POST a JSON document, lent for the call. Returns a call for cancel(); `answer` is never called from
	 * within. NULL: it cannot be sent; `answer` is not called.
	 */
	void *(*post)(void *ctx, const char *path, const char *document, gw_review_answer *answer,
		      void *answer_ctx);
	/* After this `answer` is not called. */
	void (*cancel)(void *call);
};

/* The own way. The upstream must live as long as reviews are sent. */
struct gw_review_way gw_upstream_reviews(struct gw_upstream *upstream);

#endif
