/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listening socket, the simulator's own, so that it can be closed for a while: a client then meets
 * "connection refused", as from a server that is down. A thread accepts and hands connections to
 * libmicrohttpd.
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
/* Accept from now on, for this daemon. */
void
sim_listen_start(struct sim_listen *listen_, struct MHD_Daemon *daemon);
/* Accept no more, and close the socket. Before the daemon is stopped. */
void
sim_listen_stop(struct sim_listen *listen_);
/* After the daemon was stopped. NULL is fine. */
void
sim_listen_free(struct sim_listen *listen_);

/* Refuse new connections for `ms` from now on. Any thread. */
void
sim_listen_refuse(struct sim_listen *listen_, unsigned ms);
/* Is it refusing now? */
bool
sim_listen_refusing(struct sim_listen *listen_);

#endif
