/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass-through: what the gateway does not serve is asked of the API server as the caller asked it, with the
 * caller's own bearer token and nothing of ours (upstream.h, the bare way; forward_headers.h). Both bodies
 * are handed on as they come: a watch or `logs -f` lasts as long as both ends want, a client that does not
 * read holds the API server back, and an answer that breaks off upstream breaks off here.
 *
 *	no bearer                            401, in words
 *	PUT, PATCH of what is cached without some of its fields (informerd's drop:)     405, with the reason
 *	upstream is not there                503 and Retry-After
 *
 * A POST or PATCH is never sent twice, whatever becomes of its connection.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_PASS_PASS_THROUGH_H
#define TOOLS_INFORMER_GATEWAY_PASS_PASS_THROUGH_H

#include "tools/informer-gateway/http/exchange.h"
#include "tools/informer-gateway/upstream/upstream.h"

struct gw_pass_through_options {
	unsigned requests; /* under way at once; 0: 1024. More: 429 */
	/*
	 * Append to `ret` which fields the cached objects of a resource lack; false: none, or only
	 * metadata.managedFields. NULL: none lack any
	 */
	bool (*lacks)(void *ctx, const struct api_resource *resource, struct api_buf *ret);
	void *ctx;
};

struct gw_pass_through;

/* NULL with a sentence in *ret_error: bearers would go over a network unencrypted. Options are copied. */
struct gw_pass_through *gw_pass_through_new(struct gw_upstream *upstream,
					    const struct gw_pass_through_options *options, char **ret_error);
/* When no exchange is left. NULL is fine. */
void gw_pass_through_free(struct gw_pass_through *pass_through);

/*
 * Answer it by asking upstream; takes the exchange over.
 *
 * instead  where the answer would be that upstream is not there, it has the exchange back, now or later, and
 *          its answer a Warning header that says so; NULL: 503
 */
void gw_pass_through(struct gw_pass_through *pass_through, struct gw_exchange *x,
		     void (*instead)(struct gw_exchange *x));
/*
 * What is passed through by nobody: a request for another protocol (exec, attach, port-forward, proxy by SPDY
 * or WebSocket) is answered 501, with the API server to ask.
 *
 * server  its URL; NULL: there is none, or the caller may not learn it
 */
void gw_reply_upgrade(struct gw_exchange *x, const char *server);

struct gw_pass_through_counters {
	uint64_t requests, refused, absent, broken;
	unsigned active;
};
const struct gw_pass_through_counters *gw_pass_through_counters(const struct gw_pass_through *pass_through);

#endif
