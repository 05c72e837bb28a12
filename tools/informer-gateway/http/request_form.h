/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request form: what a request must look like beyond what libmicrohttpd sees to, so that nobody between the
 * client and us, nor the API server behind us, can have read it as another one: one length, one host,
 * well-formed names, a path that is one. Where readers of chunks differ (ends of lines, extensions) nobody
 * can see any more behind libmicrohttpd, and no client of the API needs them: a body has a Content-Length.
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
 * What is wrong with a request, as a sentence for the client that stays; NULL: nothing.
 *
 * target_end  where the target's text ended as it came: the version must begin behind it
 */
const char *gw_request_fault(const struct api_request *request, const char *target, uintptr_t target_end,
			     const char *version);

/* Whether the client takes gzip, read as the API server reads Accept-Encoding. */
bool gw_request_takes_gzip(struct MHD_Connection *connection);

/* Whether a list of names, as Connection's, has this one. */
bool gw_names_have(const char *list, const char *name);
/* Whether it asks for another protocol than HTTP. HTTP/2 (h2c) is none: HTTP/1.1 answers that as well. */
bool gw_request_upgrades(struct MHD_Connection *connection);
/* Whether a connection's request asks in somebody else's name (Impersonate-User and its like). */
bool gw_request_impersonates(struct MHD_Connection *connection);

#define GW_TOKEN_MAX 16384 /* bytes of a token; longer ones are nobody's */

/*
 * The bearer token of an Authorization header, borrowed from it; its length. NULL: there is none that could
 * be somebody's.
 */
const char *gw_bearer_token(const char *authorization, size_t *ret_length);

#endif
