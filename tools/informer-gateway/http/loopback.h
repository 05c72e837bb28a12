/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loopback: checks for listeners without identity. Their socket must be on the loopback address, and so must
 * the client's Host. A web page's own host name that resolves to this machine (DNS rebinding) shows in Host
 * and is refused.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_LOOPBACK_H
#define TOOLS_INFORMER_GATEWAY_HTTP_LOOPBACK_H

#include <stdbool.h>
#include <sys/socket.h>

/* 127.0.0.1, ::1. */
bool gw_loopback_address(const struct sockaddr_storage *address);
/* Whether a socket is bound to such an address. */
bool gw_loopback_socket(int fd);
/*
 * Whether a Host header names this machine: a loopback address or localhost, with or without a port. NULL:
 * no.
 */
bool gw_loopback_host(const char *host);

#endif
