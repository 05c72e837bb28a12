/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server answers GET and HEAD with short texts, on the writer's loop and in its thread
 * (libmicrohttpd's external event loop). So answers may read all of the writer's state.
 *
 * Limits: HTTP_SERVER_CONNECTIONS at a time; others wait in the kernel's queue. A connection serves one
 * request, is closed after HTTP_SERVER_SECONDS, and takes 32 KiB of memory beside its answer.
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

/* text: malloc'ed, freed by the server; NULL: no memory, answered with 500. */
struct http_answer {
	unsigned status;
	const char *content_type;
	char *text;
	size_t length;
};

/*
 * Fill the answer for a path. path: decoded, without its query. verbose: the query has the name `verbose`.
 * Called within the loop; ret is zeroed before. If status stays 0, the path does not exist.
 */
typedef void http_server_fn(void *context, const char *path, bool verbose, struct http_answer *ret);

/* Takes the listener, also on failure. Returns 0 or negative errno. */
int http_server_new(uv_loop_t *loop, struct listener *listener, http_server_fn *answer, void *context,
		    struct http_server **ret_server);

/* Close all connections. The loop's next run closes the handles and frees the memory. NULL is fine. */
void http_server_free(struct http_server *server);

#endif
