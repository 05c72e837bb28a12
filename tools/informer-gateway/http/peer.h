/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peer: the other end of a connection, as the kernel and the TLS handshake report it. Nothing here is taken
 * from what the client sends.
 *
 * Owned by its connection; constant from the first request on.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_PEER_H
#define TOOLS_INFORMER_GATEWAY_HTTP_PEER_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum gw_transport { GW_UNIX, GW_TCP, GW_TLS };

/* What a verified client certificate says. Lists end with NULL. */
struct gw_certificate {
	char *common_name;	/* of its subject; "" if it has none */
	char **organizations;   /* each O of its subject */
	/* subject alternative names: "dns:web-1", "uri:spiffe://...", "ip:10.0.0.1", "email:..." */
	char **names;
	int64_t expires_s;	/* UNIX time */
};

struct gw_peer {
	enum gw_transport transport;
	char address[64];		/* "10.0.0.7:41234", "[fe80::1]:80", "unix" */
	bool has_credentials;		/* GW_UNIX: the next four are known */
	uid_t uid;
	gid_t gid;
	pid_t pid;                      /* for messages only: it may be reused by now */
	gid_t *groups;			/* supplementary ones */
	unsigned group_count;
	struct gw_certificate *certificate; /* GW_TLS: verified in the handshake; NULL: none was shown */
};

/*
 * Fill a peer from a connected socket. Credentials that the kernel does not report stay unknown
 * (has_credentials false).
 *
 * address  the peer's, from accept()
 */
void gw_peer_of_socket(struct gw_peer *ret, int fd, const struct sockaddr *address, socklen_t length,
		       bool tls);
/*
 * Add the certificate that a completed handshake verified. Returns 0 (also if there is none), -EBADMSG: it
 * cannot be parsed.
 */
int gw_peer_add_certificate(struct gw_peer *peer, gnutls_session_t session);
void gw_peer_done(struct gw_peer *peer);

/* Key of a client for connection limits: a uid, or an address without its port. */
uint64_t gw_peer_key(const struct gw_peer *peer);

#endif
