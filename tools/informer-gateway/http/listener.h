/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listener: accepts connections on one address and hands them to libmicrohttpd, which runs on the loop (its
 * epoll descriptor and a timer). A listener has one profile: its creator's data, which says what is allowed
 * there.
 *
 *   accept -> quota -> [handshake, certificate] -> request whole -> handler -> answer -> next request
 *
 * A connection over the quota gets a 429 and is closed. A request that does not arrive in time gets a 408, if
 * nothing was answered on the connection before, and is closed.
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
/* Stop accepting; connections continue. The socket is closed unless it was inherited. */
void gw_listener_stop_accepting(struct gw_listener *listener);
/*
 * Close all connections (exchanges end as if their clients had left). The memory is freed in the loop's next
 * run. NULL is fine.
 */
void gw_listener_close(struct gw_listener *listener);

/*
 * Reload certificates and keys for new connections. Called on SIGHUP, and by the listener itself when a file
 * has changed (checked every 10 s).
 *
 * Returns  0 (also if there is nothing to do), or a negative errno with a sentence in *ret_error: the old
 *          ones stay
 */
int gw_listener_reload(struct gw_listener *listener, char **ret_error);

const char *gw_listener_name(const struct gw_listener *listener);
/* "http://127.0.0.1:43211", "https://...", "unix:/path", with the actual port. */
const char *gw_listener_url(const struct gw_listener *listener);
void *gw_listener_profile(const struct gw_listener *listener);

#endif
