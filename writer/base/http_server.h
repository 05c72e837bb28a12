/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP server: answers GET and HEAD with short texts, on the writer's loop and in its thread (libmicrohttpd's
 * external event loop), so that what answers may look at everything.
 *
 * Bounded: HTTP_SERVER_CONNECTIONS at one time (others wait in the kernel's queue), each for one request and
 * until it is silent for HTTP_SERVER_SECONDS, with 32 KiB of memory beside its answer.
 *
 * Threads: the loop's thread only.
 */
#ifndef WRITER_BASE_HTTP_SERVER_H
#define WRITER_BASE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "writer/base/listen_address.h"

#define HTTP_SERVER_CONNECTIONS 32u
#define HTTP_SERVER_SECONDS 10u

struct http_server;

/* text: malloc'ed, the server frees it; NULL: no memory, which is answered with 500. */
struct http_answer {
	unsigned status;
	const char *content_type;
	char *text;
	size_t length;
};

/*
 * What is there. path: decoded, without its query. verbose: the query has the name `verbose`.
 * Called within the loop; ret is zeroed before. A status that stays 0: there is nothing at this path.
 */
typedef void http_server_fn(void *context, const char *path, bool verbose, struct http_answer *ret);

/* Takes the listener, on failure too. Returns 0 or negative errno. */
int http_server_new(uv_loop_t *loop, struct listener *listener, http_server_fn *answer, void *context,
		    struct http_server **ret_server);

/* Connections are closed; handles by the loop's next run, then the memory goes. NULL is fine. */
void http_server_free(struct http_server *server);

#endif
