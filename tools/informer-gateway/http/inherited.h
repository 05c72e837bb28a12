/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inherited sockets: listening sockets passed by the parent process, so that clients can connect while the
 * program is replaced. They come from systemd's LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES, or from the field
 * inheritFd.
 *
 * Source: sd_listen_fds(3)
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_INHERITED_H
#define TOOLS_INFORMER_GATEWAY_HTTP_INHERITED_H

#define GW_INHERITED_MAX 32u

/*
 * Find the descriptor that systemd passed under this name (LISTEN_FDNAMES). The environment is not changed.
 *
 * Returns  a listening stream socket, now close-on-exec and non-blocking; or
 *          -ENOENT    none with this name was passed to this process, or name is NULL
 *          -ENOTSOCK  it does not listen
 */
int gw_inherited_systemd(const char *name);

/* The same for a descriptor number (inheritFd). -EBADF: it is not open. */
int gw_inherited_number(int fd);

#endif
