/* SPDX-License-Identifier: Apache-2.0 */
/* 501 for other protocols; see upgrade_reply.h. */
#include "tools/informer-gateway/pass/upgrade_reply.h"

void
gw_reply_upgrade(struct gw_exchange *x, const char *server)
{
	api_status_set(&x->api.status, 501, "NotImplemented",
		       "this gateway does not carry upgraded connections (exec, attach, port-forward, "
		       "proxy): ask the API server itself%s%s",
		       server ? " at " : "; this listener has none to name", server ? server : "");
	gw_reply_status(x);
}
