/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the proxy for a server, by the rules of Go's net/http, which kubectl uses. libcurl's own rules
 * differ: it knows ALL_PROXY, does not read HTTP_PROXY, and takes other forms in NO_PROXY. So we do not let
 * it read the environment.
 *
 * The kubeconfig's proxy-url always counts. Otherwise it is HTTPS_PROXY (for https://) or HTTP_PROXY, or the
 * same in lower case, unless the server is on this machine or NO_PROXY lists it. NO_PROXY is a list with
 * commas of: * (everything), an address, a network (10.0.0.0/8), a name (and its subdomains), .name or *.name
 * (subdomains alone). Except after networks a :port may follow.
 *
 * Source: golang.org/x/net/http/httpproxy; client-go clientcmd parseProxyURL()
 */
#ifndef WRITER_KUBE_PROXY_H
#define WRITER_KUBE_PROXY_H

#include <stdbool.h>

/* Whether a proxy-url is usable: http, https or socks5, with a host. */
bool proxy_url_is_usable(const char *url);

/*
 * The proxy for a server, in libcurl's form. A socks5 proxy looks names up itself, as in Go.
 *
 * explicit_url  the kubeconfig's, or NULL
 * ret_proxy     allocated, may hold a password (wipe it); NULL: connect directly
 * Returns       0 or -ENOMEM
 */
int proxy_for_server(const char *server, const char *explicit_url, char **ret_proxy);

/* Whether NO_PROXY's value excludes host:port. IPv6 hosts are without brackets. */
bool proxy_is_excluded(const char *no_proxy, const char *host, const char *port);

#endif
