/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peer name: the URL of other relays, https://HOST[:PORT], taken apart; and put together again for one of its
 * addresses.
 */
#ifndef TOOLS_INFORMER_GATEWAY_PEER_NAME_H
#define TOOLS_INFORMER_GATEWAY_PEER_NAME_H

#include <netdb.h>
#include <stdbool.h>

struct gw_peer_name {
	char *scheme, *host, *port; /* an IPv6 address without brackets */
	bool numeric;		    /* the host is an address */
};

/* Returns 0 (done with gw_peer_name_done()), or -EINVAL with a message that begins with what was wrong. */
int gw_peer_name_parse(const char *url, struct gw_peer_name *ret, char **ret_error);
void gw_peer_name_done(struct gw_peer_name *name);

#define GW_PEER_URL_MAX 96
/* "https://10.0.0.7:8443": false: no address of IP. */
bool gw_peer_url(const struct gw_peer_name *name, const struct addrinfo *address, char ret[GW_PEER_URL_MAX]);

#endif
