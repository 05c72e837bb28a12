/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listener: a place where clients connect, with libmicrohttpd behind it on the loop (its epoll descriptor
 * and a timer). A listener has one profile: what is allowed there is of whoever made it, and known by
 * `profile`.
 *
 *   accept -> quota -> [handshake, certificate] -> request whole -> handler -> answer -> next request
 *
 * A connection beyond the quota is told so (429) and closed. A request that is not whole in time is answered
 * with 408 where nothing was answered yet, and closed.
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_LISTENER_H
#define TOOLS_INFORMER_GATEWAY_HTTP_LISTENER_H

#include "tools/informer-gateway/http/front.h"

struct gw_listener;

/*
 * Listen. The options' texts are copied.
 *
 * Returns  0, or negative errno with a sentence in *ret_error (free it)
 */
int gw_listener_open(struct gw_front *front, const struct gw_listener_options *options, gw_handler *handler,
		     void *ctx, struct gw_listener **ret_listener, char **ret_error);
/* Accept no more; connections go on. The socket is closed, unless it was inherited. */
void gw_listener_stop_accepting(struct gw_listener *listener);
/*
 * Closes all connections (exchanges end as if their clients had gone); memory goes with the loop's next
 * run. NULL is fine.
 */
void gw_listener_close(struct gw_listener *listener);

/*
 * Read certificates and keys again; new connections get the new ones. Called on SIGHUP, and by itself when
 * a file has changed (looked at every 10 s).
 *
 * Returns  0 (nothing to do, too), or negative errno with a sentence in *ret_error: the old ones stay
 */
int gw_listener_reload(struct gw_listener *listener, char **ret_error);

const char *gw_listener_name(const struct gw_listener *listener);
/* "http://127.0.0.1:43211", "https://...", "unix:/path" with the port that was got. */
const char *gw_listener_url(const struct gw_listener *listener);
void *gw_listener_profile(const struct gw_listener *listener);

#endif
