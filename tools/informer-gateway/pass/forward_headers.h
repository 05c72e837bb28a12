/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forward headers: which headers of a request go on to the API server, and which of an answer to the client.
 *
 * Of a request: all, but those that belong to the connection it came over (Connection and what it names,
 * Upgrade, Transfer-Encoding and their like), those that the next request makes anew (Host,
 * Content-Length), and those by which front proxies say who somebody is, and where (X-Remote-*, Forwarded,
 * X-Forwarded-*, X-Real-Ip), which is nobody's to say here. Who asks is said by one bearer token, the
 * caller's; what is no such is refused, and so is a Connection header that would take it, or an
 * impersonation, out on the way.
 *
 * Of an answer: all, but those of its connection, and what our own server says (Date, Content-Length, type).
 *
 * Source    RFC 9110, 7.6.1 (Connection); net/http/httputil's ReverseProxy
 * Threads   any; no state
 */
#ifndef TOOLS_INFORMER_GATEWAY_PASS_FORWARD_HEADERS_H
#define TOOLS_INFORMER_GATEWAY_PASS_FORWARD_HEADERS_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/serving/status_document.h"

#define GW_FORWARD_MAX 96u /* headers of a request */

/* Headers as they came; borrowed. */
struct gw_header {
	const char *name, *value;
};

/* "Name: value" lines, ended by NULL. They hold a secret: they are wiped when they go. */
struct gw_header_lines {
	char *lines[GW_FORWARD_MAX + 1];
	unsigned count;
};

/*
 * The lines to be sent on.
 *
 * Returns  0, with *ret for gw_header_lines_done(); -EINVAL, and the status is set: 400, 401, 431
 */
int gw_forward_request(const struct gw_header *headers, size_t count, struct gw_header_lines *ret,
		       struct api_status *status);
/* The same of a connection's request. */
int gw_forward_request_of(struct MHD_Connection *connection, struct gw_header_lines *ret,
			  struct api_status *status);
/* Zeroed is fine. */
void gw_header_lines_done(struct gw_header_lines *lines);

/*
 * Whether a header of an answer goes on to the client.
 *
 * connection  the answer's Connection header, or NULL
 */
bool gw_forward_answer(const char *name, const char *connection);

#endif
