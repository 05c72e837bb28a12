/* SPDX-License-Identifier: Apache-2.0 */
/* 501 for other protocols; see upgrade_reply.h. */
#include "tools/informer-gateway/upgrade_reply.h"

#include <strings.h>

#include "tools/informer-gateway/forward_headers.h"

bool
gw_wants_upgrade(const struct gw_exchange *x)
{
	const char *upgrade = api_request_header(&x->api, "Upgrade");

	return upgrade && *upgrade && strcasecmp(upgrade, "h2c") != 0 &&
	       gw_names_have(api_request_header(&x->api, "Connection"), "Upgrade");
}

void
gw_reply_upgrade(struct gw_exchange *x, const char *server)
{
	api_status_set(&x->api.status, 501, "NotImplemented",
		       "this gateway does not carry upgraded connections (exec, attach, port-forward, "
		       "proxy): ask the API server itself%s%s",
		       server ? " at " : "; this listener has none to name", server ? server : "");
	gw_reply_status(x);
}
