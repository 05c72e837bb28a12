/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request path: which resource a path speaks of, whether there is one of that name or not, as upstream's
 * RequestInfo reads it. What a request may is decided by this, before it is looked at what exists.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_REQUEST_PATH_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_REQUEST_PATH_H

#include "tools/informer-gateway/config/attributes.h"

/*
 * path     a copy of it, which is cut into pieces
 * ret      its texts point into the path; selectors and watch are left alone
 * Returns  whether it is a resource's: /api/VERSION/..., /apis/GROUP/VERSION/...
 */
bool gw_request_path_parse(char *path, struct gw_asked *ret);

/* Upstream's verb of a method: "create"; of a read "get", which the rest of the request makes list or watch.
 */
const char *gw_request_verb(const char *method, bool named);

#endif
