/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forward headers: chooses which headers of a request go to the API server, and which of its answer go to the
 * client.
 *
 * Request: all, except
 * - those of its connection (Connection and the headers it names, Upgrade, Transfer-Encoding and their like);
 * - those that the next request sets itself (Host, Content-Length);
 * - those by which proxies state an identity or address (X-Remote-*, Forwarded, X-Forwarded-*, X-Real-Ip).
 *
 * A request must carry exactly one bearer token, the caller's. Other credentials are refused. So is a
 * Connection header that names Authorization or an impersonation header, which would remove them.
 *
 * Answer: all, except those of its connection, and those that our own server sets (Date, Content-Length,
 * type).
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

/* A header as received; borrowed. */
struct gw_header {
	const char *name, *value;
};

/* "Name: value" lines, ended by NULL. They hold a token: gw_header_lines_done() wipes them. */
struct gw_header_lines {
	char *lines[GW_FORWARD_MAX + 1];
	unsigned count;
};

/*
 * Make the lines to send.
 *
 * Returns  0, with *ret for gw_header_lines_done(); -EINVAL with the status 400, 401 or 431
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
