/* SPDX-License-Identifier: Apache-2.0 */
/* URLs of peers, by libcurl's parser; see peer_name.h. */
#include "tools/informer-gateway/peer_name.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"
#include "writer/base/message.h"

static char *
part(CURLU *u, CURLUPart which, unsigned flags)
{
	char *text = NULL, *copy = NULL;

	if (curl_url_get(u, which, &text, flags) == CURLUE_OK)
		copy = api_strndup(text, strlen(text));
	curl_free(text);
	return copy;
}

/* Nothing but scheme, host and port. */
static bool
is_bare(CURLU *u)
{
	static const CURLUPart others[] = {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY,
					   CURLUPART_FRAGMENT};
	char *path = part(u, CURLUPART_PATH, 0);
	bool bare = !path || !*path || !strcmp(path, "/");

	free(path);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		char *text = part(u, others[i], 0);

		bare &= !text;
		free(text);
	}
	return bare;
}

static bool
is_numeric(char *host)
{
	unsigned char bytes[sizeof(struct in6_addr)];
	size_t length = strlen(host);

	if (host[0] == '[' && host[length - 1] == ']') {
		memmove(host, host + 1, length - 2);
		host[length - 2] = '\0';
	}
	return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

int
gw_peer_name_parse(const char *url, struct gw_peer_name *ret, char **ret_error)
{
	CURLU *u = curl_url();
	struct gw_peer_name name = {0};
	bool good = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK && is_bare(u);

	if (good) {
		name.scheme = part(u, CURLUPART_SCHEME, 0);
		name.host = part(u, CURLUPART_HOST, 0);
		name.port = part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT);
		good = name.scheme && name.host && *name.host && name.port &&
		       (!strcmp(name.scheme, "https") || !strcmp(name.scheme, "http"));
	}
	curl_url_cleanup(u);
	if (!good) {
		gw_peer_name_done(&name);
		return message_set(ret_error, -EINVAL,
				   "'%s' is no URL of a peer, as https://relays.informer:8443", url);
	}
	name.numeric = is_numeric(name.host);
	*ret = name;
	return 0;
}

void
gw_peer_name_done(struct gw_peer_name *name)
{
	free(name->scheme);
	free(name->host);
	free(name->port);
	*name = (struct gw_peer_name){0};
}

bool
gw_peer_url(const struct gw_peer_name *name, const struct addrinfo *address, char ret[GW_PEER_URL_MAX])
{
	char host[INET6_ADDRSTRLEN], port[8];
	bool v6 = address->ai_family == AF_INET6;

	if (getnameinfo(address->ai_addr, address->ai_addrlen, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return false;
	return snprintf(ret, GW_PEER_URL_MAX, v6 ? "%s://[%s]:%s" : "%s://%s:%s", name->scheme, host, port) <
	       GW_PEER_URL_MAX;
}
