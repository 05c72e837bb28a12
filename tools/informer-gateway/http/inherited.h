/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inherited sockets: those that whoever started us left open, so that clients find a listener while the
 * program is replaced: systemd's LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES, and descriptors that
 * the field inheritFd names.
 *
 * Source: sd_listen_fds(3)
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_INHERITED_H
#define TOOLS_INFORMER_GATEWAY_HTTP_INHERITED_H

#define GW_INHERITED_MAX 32u

/*
 * The descriptor that systemd passed by this name (LISTEN_FDNAMES). What the environment says stays as it is.
 *
 * Returns  a listening stream socket, close-on-exec and non-blocking from now on; or
 *          -ENOENT    none of this name was passed to this process; name is NULL
 *          -ENOTSOCK  it does not listen
 */
int gw_inherited_systemd(const char *name);

/* The same of a descriptor by number, as the field inheritFd has it. -EBADF: it is not open. */
int gw_inherited_number(int fd);

#endif
