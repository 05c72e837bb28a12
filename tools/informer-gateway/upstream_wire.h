/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upstream wire: one connection to the API server, bytes both ways, with no request of libcurl's on it.
 * libcurl only makes it (name, proxy, TLS 1.2 at least, the server's certificate; no credentials: it is
 * made from the bare way's configuration), by a multi handle of its own, so that no other request can come
 * upon it.
 *
 *	gw_wire_open ──▶ opened(0) ──▶ ready() whenever bytes came, or go again ──▶ gw_wire_close
 *	             └─▶ opened(negative)
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_UPSTREAM_WIRE_H
#define TOOLS_INFORMER_GATEWAY_UPSTREAM_WIRE_H

#include <stdbool.h>
#include <sys/types.h>

#include "tools/informer-gateway/upstream.h"

struct gw_wire;

/* Both from the loop; either may close the wire. */
struct gw_wire_callbacks {
	/* result  0, or as of writer/kube/transport.h's on_done, with a sentence */
	void (*opened)(void *ctx, int result, const char *message);
	/* Read and write again: something of what gw_wire_want() asked for may go. */
	void (*ready)(void *ctx);
};

/* Returns 0, or a negative errno with message: `opened` is not called. Callbacks are borrowed. */
int gw_wire_open(struct gw_upstream *upstream, const struct gw_wire_callbacks *callbacks, void *ctx,
		 struct gw_wire **ret_wire, char **ret_error);
/* Nothing is called any more. Memory goes with the loop's next run. NULL is fine. */
void gw_wire_close(struct gw_wire *wire);

/* For which of both ready() is to be called; of an open one. */
void gw_wire_want(struct gw_wire *wire, bool to_read, bool to_write);

/*
 * At most so many bytes; none is waited for. Read until it says -EAGAIN: what TLS has already taken from the
 * socket makes nothing ready.
 *
 * Returns  their count; of reading 0 for the end; -EAGAIN; another negative errno: it is broken
 */
ssize_t gw_wire_read(struct gw_wire *wire, void *to, size_t max);
ssize_t gw_wire_write(struct gw_wire *wire, const void *data, size_t length);
/* No more will be written; what comes can still be read. */
void gw_wire_end_writing(struct gw_wire *wire);

#endif
