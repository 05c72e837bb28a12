/* SPDX-License-Identifier: Apache-2.0 */
/* What libmicrohttpd calls of an exchange, and what a listener and a drain do to it; see exchange.h. */
#ifndef TOOLS_INFORMER_GATEWAY_EXCHANGE_PRIVATE_H
#define TOOLS_INFORMER_GATEWAY_EXCHANGE_PRIVATE_H

#include "tools/informer-gateway/client.h"
#include "tools/informer-gateway/exchange.h"

/* MHD_OPTION_URI_LOG_CALLBACK: a request's first line is there. */
void *gw_exchange_begin(void *listener, const char *uri, struct MHD_Connection *connection);
/* MHD_AccessHandlerCallback */
enum MHD_Result gw_exchange_handle(void *listener, struct MHD_Connection *connection, const char *url,
				   const char *method, const char *version, const char *upload,
				   size_t *upload_size, void **request);
/* MHD_OPTION_NOTIFY_COMPLETED */
void gw_exchange_over(void *listener, struct MHD_Connection *connection, void **request,
		      enum MHD_RequestTerminationCode why);

/* End it without another byte; its connection is closed with libmicrohttpd's next run. */
void gw_exchange_cut(struct gw_exchange *x);
/* Ask a stream or a tunnel to end; once. Whether it was asked now: what is neither goes on. */
bool gw_exchange_end_soon(struct gw_exchange *x);

#endif
