/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libcurl options of one request, made from a struct kube_client_config, and the translation of libcurl's
 * results into our codes. Only transport.c and transport_request.c use it.
 */
#ifndef WRITER_KUBE_TRANSPORT_SETUP_H
#define WRITER_KUBE_TRANSPORT_SETUP_H

#include <stdbool.h>

#include <curl/curl.h>

#include "writer/kube/client_config.h"
#include "writer/kube/credentials.h"

#define TRANSPORT_SETUP_CA_CACHE_S 60L /* a CA file is not read again for this time, unless ca_reread */

/* What all requests to one server share. */
struct transport_setup {
	const struct kube_client_config *config; /* borrowed */
	/* URL before the path; its host is tls-server-name where that is set */
	char *base;
	char *host_header;		/* "Host: real:port", or NULL */
	struct curl_slist *connect_to;  /* the real address behind `base`, or NULL */
	char *proxy;			/* "" for none */
	bool tls, loopback;
	/* a certificate was refused: the CA file may have changed */
	bool ca_reread;
	bool no_http2;			/* http1_only; DISABLE_HTTP2, as in client-go */
	bool may_authenticate;          /* as kubectl: secrets go over a network only with TLS */
};

/* Returns 0, -EINVAL with message, -ENOMEM. */
int transport_setup_init(struct transport_setup *setup, const struct kube_client_config *config,
			 char **ret_error);
void transport_setup_done(struct transport_setup *setup);

/* Whether gzip is requested; libcurl unpacks it. */
bool transport_setup_asks_gzip(const struct transport_setup *setup, unsigned flags);

/*
 * Set everything on `easy` except callbacks and credentials. flags: enum transport_flags, here and below.
 * Returns 0, or -ENOMEM (the only reason for which libcurl 7.88 refuses these options)
 */
int transport_setup_request(const struct transport_setup *setup, CURL *easy, const char *path_and_query,
			    unsigned flags);

/*
 * Set our identity: headers and client certificate. May be repeated for the same `easy` while it is idle.
 *
 * etag     of a known document, for which 304 suffices; or NULL
 * more     headers to send too, or NULL; with TRANSPORT_PLAIN only these and our identity are sent
 * headers  what the last call gave, or NULL; free with transport_setup_headers_free() when `easy` is gone
 * Returns  0 or -ENOMEM
 */
int transport_setup_identity(const struct transport_setup *setup, CURL *easy, unsigned flags,
			     const struct credentials_now *now, const char *etag,
			     const struct curl_slist *more, struct curl_slist **headers);
void transport_setup_headers_free(struct curl_slist *headers);

/*
 * Turn a failed transfer into a negative code of transport.h and a sentence.
 *
 * detail       libcurl's error buffer, of CURL_ERROR_SIZE bytes; secrets in it are redacted here
 * ret_message  allocated; may be NULL without memory
 */
int transport_setup_explain(const struct transport_setup *setup, CURL *easy, CURLcode code, char *detail,
			    char **ret_message);

#endif
