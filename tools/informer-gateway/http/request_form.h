/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request form: checks a request more strictly than libmicrohttpd does. No proxy before us and no API server
 * behind us can then read the same bytes as a different request. A request has one length, one host,
 * well-formed names and a plain path. Chunked bodies are refused: their differences (line ends, extensions)
 * are not visible behind libmicrohttpd, and no client of the API needs them. A body needs a Content-Length.
 *
 * Source: RFC 9112 (framing), RFC 9110 (names and values), RFC 3986 (percent-encoding)
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_REQUEST_FORM_H
#define TOOLS_INFORMER_GATEWAY_HTTP_REQUEST_FORM_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/serving/api_request.h"

/*
 * Returns what is wrong with a request, as a constant sentence for the client; NULL: nothing.
 *
 * target_end  end of the target in the receive buffer: the version must begin there
 */
const char *gw_request_fault(const struct api_request *request, const char *target, uintptr_t target_end,
			     const char *version);

/* Whether the client accepts gzip, by the API server's reading of Accept-Encoding. */
bool gw_request_takes_gzip(struct MHD_Connection *connection);

/* Whether a comma-separated list, such as Connection's, contains this name. */
bool gw_names_have(const char *list, const char *name);
/*
 * Whether it asks for another protocol than HTTP. HTTP/2 (h2c) does not count: an HTTP/1.1 answer is valid
 * there.
 */
bool gw_request_upgrades(struct MHD_Connection *connection);
/* Whether the request has an impersonation header (Impersonate-User and its like). */
bool gw_request_impersonates(struct MHD_Connection *connection);

#define GW_TOKEN_MAX 16384 /* bytes of a token; longer ones are invalid */

/*
 * Returns the bearer token of an Authorization header, borrowed from it, and its length. NULL: no well-formed
 * token.
 */
const char *gw_bearer_token(const char *authorization, size_t *ret_length);

#endif
