/* SPDX-License-Identifier: Apache-2.0 */
/* 503; see absent_reply.h. */
#include "tools/informer-gateway/pass/absent_reply.h"

void
gw_reply_absent(struct gw_exchange *x, const char *why)
{
	api_status_set(&x->api.status, 503, "ServiceUnavailable",
		       "this is not served from the cache, and the API server cannot be asked: %s", why);
	x->api.status.retry_after = 1;
	gw_reply_status(x);
}
