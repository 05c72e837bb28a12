/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport set-up: the libcurl options of one request, from a struct kube_client_config, and what
 * libcurl's results mean in our codes. Used by transport.c and transport_request.c alone.
 */
#ifndef WRITER_KUBE_TRANSPORT_SETUP_H
#define WRITER_KUBE_TRANSPORT_SETUP_H

#include <stdbool.h>

#include <curl/curl.h>

#include "writer/kube/client_config.h"
#include "writer/kube/credentials.h"

#define TRANSPORT_SETUP_CA_CACHE_S 60L /* so long a CA's file is not read again, unless ca_doubted */

/* What is the same for all requests to one server, worked out once. */
struct transport_setup {
	const struct kube_client_config *config; /* borrowed */
	/* URL before the path; its host is tls-server-name where that is set */
	char *base;
	char *host_header;		/* "Host: real:port", or NULL */
	struct curl_slist *connect_to;	/* where `base` really is, or NULL */
	char *proxy;			/* "" for none */
	bool tls, loopback;
	/* a certificate was not accepted: the CA's file may be another one by now */
	bool ca_doubted;
	bool no_http2;			/* http1_only; DISABLE_HTTP2, as in client-go */
	bool may_authenticate;		/* as kubectl: no secret goes over a network without TLS */
};

/* Returns 0, -EINVAL with message, -ENOMEM. */
int transport_setup_init(struct transport_setup *setup, const struct kube_client_config *config,
			 char **ret_error);
void transport_setup_done(struct transport_setup *setup);

/* Whether gzip is asked for; libcurl unpacks it. */
bool transport_setup_asks_gzip(const struct transport_setup *setup, unsigned flags);

/*
 * Set everything on `easy` but callbacks and what credentials say. flags: enum transport_flags, here and
 * below.
 * Returns 0, or -ENOMEM (the only reason for which libcurl 7.88 refuses these).
 */
int transport_setup_request(const struct transport_setup *setup, CURL *easy, const char *path_and_query,
			    unsigned flags);

/*
 * Say who we are: headers and client certificate. May be repeated for the same `easy` while it is at rest.
 *
 * etag      that of a document that is known: 304 is enough; or NULL
 * more      headers to be sent as well, or NULL; with TRANSPORT_PLAIN no other but who we are
 * headers   what the last call gave, or NULL; for transport_setup_headers_free() when `easy` is gone
 * Returns   0 or -ENOMEM
 */
int transport_setup_identity(const struct transport_setup *setup, CURL *easy, unsigned flags,
			     const struct credentials_now *now, const char *etag,
			     const struct curl_slist *more, struct curl_slist **headers);
void transport_setup_headers_free(struct curl_slist *headers);

/*
 * Turn a failed transfer into a negative code of transport.h and a sentence.
 *
 * detail       libcurl's error buffer, of CURL_ERROR_SIZE bytes; rid of secrets here
 * ret_message  allocated, may be NULL without memory
 */
int transport_setup_explain(const struct transport_setup *setup, CURL *easy, CURLcode code, char *detail,
			    char **ret_message);

#endif
