/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loopback: what a listener without identity is bound to. Its socket is on this machine, and so must be whom
 * its clients mean: a browser that a page's name led here says that name in Host.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_LOOPBACK_H
#define TOOLS_INFORMER_GATEWAY_HTTP_LOOPBACK_H

#include <stdbool.h>
#include <sys/socket.h>

/* 127.0.0.1, ::1. */
bool gw_loopback_address(const struct sockaddr_storage *address);
/* Whether a socket is bound to such an address. */
bool gw_loopback_socket(int fd);
/* Whether a Host header names this machine: such an address, or localhost; with a port or without. NULL: no.
 */
bool gw_loopback_host(const char *host);

#endif
