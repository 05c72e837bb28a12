/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listen: the simulator's own listening socket, which can be closed for a time. A client then gets
 * "connection refused", as from a stopped server. A thread accepts and passes connections to libmicrohttpd.
 */
#ifndef TOOLS_INFORMER_SIM_LISTEN_H
#define TOOLS_INFORMER_SIM_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct MHD_Daemon;
struct sim_listen;

/*
 * Bind and listen; nothing is accepted yet.
 *
 * Returns  0 with *ret_listen and the port it got, or negative errno
 */
int sim_listen_new(const struct sockaddr *address, socklen_t len, struct sim_listen **ret_listen,
		   uint16_t *ret_port);
/* Start accepting for this daemon. */
void
sim_listen_start(struct sim_listen *listen_, struct MHD_Daemon *daemon);
/* Stop accepting and close the socket. Call before the daemon is stopped. */
void
sim_listen_stop(struct sim_listen *listen_);
/* Call after the daemon is stopped. NULL is fine. */
void
sim_listen_free(struct sim_listen *listen_);

/* Refuse new connections for `ms`. Any thread. */
void
sim_listen_refuse(struct sim_listen *listen_, unsigned ms);
/* Whether it is refusing now. */
bool
sim_listen_refusing(struct sim_listen *listen_);

#endif
