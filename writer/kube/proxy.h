/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proxy: which one leads to a server, as Go's net/http decides it for kubectl. libcurl's own rules
 * differ (it knows ALL_PROXY, does not read HTTP_PROXY, and asks for other forms in NO_PROXY),
 * so that its environment is not used.
 *
 * The kubeconfig's proxy-url always counts. Else HTTPS_PROXY (for https://) or HTTP_PROXY, or the
 * same in small letters, unless the server is on this machine or NO_PROXY has it. NO_PROXY
 * is a list with commas of: * (everything), an address, a network (10.0.0.0/8), a name (its
 * subdomains, too), .name or *.name (subdomains alone); but for networks a :port may follow.
 *
 * Source    golang.org/x/net/http/httpproxy; client-go clientcmd parseProxyURL()
 */
#ifndef WRITER_KUBE_PROXY_H
#define WRITER_KUBE_PROXY_H

#include <stdbool.h>

/* Whether a proxy-url is one: http, https or socks5, with a host. */
bool proxy_url_is_usable(const char *url);

/*
 * The proxy for a server, in libcurl's words: names are looked up by a socks5 proxy itself, as Go does.
 *
 * explicit_url  the kubeconfig's, or NULL
 * ret_proxy     allocated, may hold a password (wipe it); NULL: none, connect directly
 * Returns       0 or -ENOMEM
 */
int proxy_for_server(const char *server, const char *explicit_url, char **ret_proxy);

/* Whether NO_PROXY's value keeps host:port from the proxy. IPv6 hosts without brackets. */
bool proxy_is_excluded(const char *no_proxy, const char *host, const char *port);

#endif
