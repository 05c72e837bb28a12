/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass-through: forwards a request that the gateway does not serve to the API server, with the caller's
 * bearer token and none of our credentials (upstream.h, the bare way; forward_headers.h). Both bodies are
 * forwarded as they arrive. A watch or `logs -f` lasts as long as both ends want. A client that does not read
 * slows the API server down, and an answer that breaks off upstream breaks off here.
 *
 *	no bearer token                      401 with a message
 *	PUT, PATCH of a cached object without some of its fields (informerd's drop:)    405 with the reason
 *	API server not reachable             503 and Retry-After
 *
 * A POST or PATCH is never sent twice, even if its connection breaks.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_PASS_PASS_THROUGH_H
#define TOOLS_INFORMER_GATEWAY_PASS_PASS_THROUGH_H

#include "tools/informer-gateway/http/exchange.h"
#include "tools/informer-gateway/upstream/upstream.h"

struct gw_pass_through_options {
	unsigned requests; /* most in progress; 0: 1024. More: 429 */
	/*
	 * Append the fields that the cached objects of a resource lack; false: none, or only
	 * metadata.managedFields. NULL: none lack any
	 */
	bool (*lacks)(void *ctx, const struct api_resource *resource, struct api_buf *ret);
	void *ctx;
};

struct gw_pass_through;

/* Options are copied. NULL with a sentence in *ret_error: bearer tokens would cross a network unencrypted. */
struct gw_pass_through *gw_pass_through_new(struct gw_upstream *upstream,
					    const struct gw_pass_through_options *options, char **ret_error);
/* No exchange may be left. NULL is fine. */
void gw_pass_through_free(struct gw_pass_through *pass_through);

/*
 * Forward the exchange and answer it; takes it over.
 *
 * instead  called, now or later, if the API server is not reachable: takes the exchange back, whose answer
 *          then has a Warning header about that; NULL: 503
 */
void gw_pass_through(struct gw_pass_through *pass_through, struct gw_exchange *x,
		     void (*instead)(struct gw_exchange *x));
/*
 * Answer a request for another protocol (exec, attach, port-forward, proxy by SPDY or WebSocket) with 501,
 * which names the API server to ask.
 *
 * server  its URL; NULL: none, or the caller may not know it
 */
void gw_reply_upgrade(struct gw_exchange *x, const char *server);

struct gw_pass_through_counters {
	uint64_t requests, refused, absent, broken;
	unsigned active;
};
const struct gw_pass_through_counters *gw_pass_through_counters(const struct gw_pass_through *pass_through);

#endif
