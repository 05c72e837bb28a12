/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS files: a listener's certificate, key and client CA, as files that may be replaced. The files read
 * together form a set. A connection keeps the set that it began with.
 *
 * The handshake verifies a client certificate against the CA and for TLS client use (extended key usage). It
 * fails if the certificate is invalid, or absent where one is required.
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
/* NULL is fine. Sets in use by connections stay. */
void gw_tls_free(struct gw_tls *tls);

/* Whether a file has changed (device, inode, size or time). */
bool gw_tls_changed(const struct gw_tls *tls);
/* Read the files again. On failure the old set stays: negative errno with a sentence. */
int gw_tls_reload(struct gw_tls *tls, char **ret_error);

/* Give a new session the newest set. Returns a reference: release it with gw_tls_set_unref(). */
struct gw_tls_set *gw_tls_install(struct gw_tls *tls, gnutls_session_t session);
/* After the session is over. NULL is fine. */
void gw_tls_set_unref(struct gw_tls_set *set);

#endif
