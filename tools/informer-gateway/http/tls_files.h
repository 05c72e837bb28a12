/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS files: a listener's certificate, key and authority for client certificates, as files that may be
 * replaced. What was read together is one set; a connection keeps the set that it began with.
 *
 * A client certificate is verified within the handshake, against the authority and for TLS clients
 * (extended key usage): a client whose certificate is not good, or who has none where one is required, gets
 * no further.
 *
 * Threads: one.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_TLS_FILES_H
#define TOOLS_INFORMER_GATEWAY_HTTP_TLS_FILES_H

#include <gnutls/gnutls.h>
#include <stdbool.h>

#include "tools/serving/buf.h"

struct gw_tls;
struct gw_tls_set;

/*
 * Read the files. client_ca NULL: no client certificate is asked for.
 *
 * Returns  0, or negative errno with a sentence in *ret_error (free it)
 */
int gw_tls_open(const char *cert, const char *key, const char *client_ca, bool client_required,
		struct gw_tls **ret_tls, char **ret_error);
/* NULL is fine. Sets that connections keep stay. */
void gw_tls_free(struct gw_tls *tls);

/* Whether a file is another one than was read (by device, inode, size and time). */
bool gw_tls_changed(const struct gw_tls *tls);
/* Read them again. On failure what was read before stays: negative errno with a sentence. */
int gw_tls_reload(struct gw_tls *tls, char **ret_error);

/* Give a session that has not begun the newest set: it is the caller's until gw_tls_set_unref(). */
struct gw_tls_set *gw_tls_install(struct gw_tls *tls, gnutls_session_t session);
/* After the session is over. NULL is fine. */
void gw_tls_set_unref(struct gw_tls_set *set);

#endif
