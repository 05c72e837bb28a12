/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private parts of an exchange: its state, libmicrohttpd's callbacks (request_intake.c), and the functions
 * for listeners and drains (exchange.c).
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_EXCHANGE_PRIVATE_H
#define TOOLS_INFORMER_GATEWAY_HTTP_EXCHANGE_PRIVATE_H

#include "tools/informer-gateway/http/exchange.h"
#include "tools/informer-gateway/http/front_private.h"

enum gw_exchange_stage {
	GW_BEGUN,  /* its first line has arrived */
	GW_SEEN,   /* its headers have arrived */
	GW_HANDED, /* the handler has it */
	GW_BODY,   /* its body is arriving or complete */
};

/* The state of one exchange. */
struct gw_exchange_state {
	struct gw_exchange x;
	struct gw_client *client;
	uintptr_t target_end;
	enum gw_exchange_stage stage;
	bool suspended;
	bool cut;                /* no answer will be sent */
	bool queued;             /* libmicrohttpd has the answer */
	uint64_t body_bytes;     /* from Content-Length */
	uint64_t reserved;       /* of front->bodies */
	gw_body_done *body_done; /* NULL: nobody waits for the body */
	void *body_ctx;
	bool older;	/* HTTP/1.0: no chunks */
	bool close;     /* after the answer */
	void (*gone)(void *ctx);
	void *gone_ctx;
	struct MHD_Response *response;
	struct api_buf headers; /* of the answer: names and values in turn, each NUL terminated */

	const struct gw_stream_ops *ops; /* NULL: no stream */
	void *stream;
	bool waiting;
	bool end_asked;
	uint64_t read_ms; /* when read() last returned bytes; 0: it had none */
};

/* MHD_OPTION_URI_LOG_CALLBACK: a request's first line has arrived. */
void *gw_exchange_begin(void *listener, const char *uri, struct MHD_Connection *connection);
/* MHD_AccessHandlerCallback */
enum MHD_Result gw_exchange_handle(void *listener, struct MHD_Connection *connection, const char *url,
				   const char *method, const char *version, const char *upload,
				   size_t *upload_size, void **request);
/* MHD_OPTION_NOTIFY_COMPLETED */
void gw_exchange_over(void *listener, struct MHD_Connection *connection, void **request,
		      enum MHD_RequestTerminationCode why);

/* Resume the connection if it is suspended: libmicrohttpd calls gw_exchange_handle() again. */
void gw_exchange_go_on(struct gw_exchange *x);
/* Cut the exchange: no more bytes; the connection closes in libmicrohttpd's next run. */
void gw_exchange_cut(struct gw_exchange *x);
/*
 * Ask a stream to end, at most once. Returns true if it was asked now. An exchange without a stream
 * continues.
 */
bool gw_exchange_end_soon(struct gw_exchange *x);

#endif
