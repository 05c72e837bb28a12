/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an exchange is made of; what libmicrohttpd calls of it (request_intake.c), and what listeners and
 * drains do to it (exchange.c).
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_EXCHANGE_PRIVATE_H
#define TOOLS_INFORMER_GATEWAY_HTTP_EXCHANGE_PRIVATE_H

#include "tools/informer-gateway/http/exchange.h"
#include "tools/informer-gateway/http/front_private.h"

enum gw_exchange_stage {
	GW_BEGUN,  /* its first line is there */
	GW_SEEN,   /* its headers are, too */
	GW_HANDED, /* the handler has it */
	GW_BODY,   /* and its body comes, or has come */
};

/* Who asks, how far it is, and what it will be answered. */
struct gw_exchange_state {
	struct gw_exchange x;
	struct gw_client *client;
	uintptr_t target_end;
	enum gw_exchange_stage stage;
	bool suspended;
	bool cut;	/* no answer any more */
	bool queued;	/* the answer is libmicrohttpd's */
	uint64_t body_bytes;     /* as its headers tell */
	uint64_t reserved;       /* of front->bodies */
	gw_body_done *body_done; /* who asked for the body; NULL: nobody has, or was given it */
	void *body_ctx;
	bool older;	/* HTTP/1.0: no chunks */
	bool close;	/* behind the answer */
	void (*gone)(void *ctx);
	void *gone_ctx;
	struct MHD_Response *response;
	struct api_buf headers; /* of the answer: names and values in turn, each with its zero byte */

	const struct gw_stream_ops *ops; /* NULL: no stream */
	void *stream;
	bool waiting;
	bool end_asked;
	uint64_t read_ms; /* when it gave something last; 0: it had nothing */
};

/* MHD_OPTION_URI_LOG_CALLBACK: a request's first line is there. */
void *gw_exchange_begin(void *listener, const char *uri, struct MHD_Connection *connection);
/* MHD_AccessHandlerCallback */
enum MHD_Result gw_exchange_handle(void *listener, struct MHD_Connection *connection, const char *url,
				   const char *method, const char *version, const char *upload,
				   size_t *upload_size, void **request);
/* MHD_OPTION_NOTIFY_COMPLETED */
void gw_exchange_over(void *listener, struct MHD_Connection *connection, void **request,
		      enum MHD_RequestTerminationCode why);

/* Resume its connection, if that is suspended: libmicrohttpd calls gw_exchange_handle() again. */
void gw_exchange_go_on(struct gw_exchange *x);
/* End it without another byte; its connection is closed with libmicrohttpd's next run. */
void gw_exchange_cut(struct gw_exchange *x);
/* Ask a stream to end; once. Whether it was asked now: what is no stream goes on. */
bool gw_exchange_end_soon(struct gw_exchange *x);

#endif
