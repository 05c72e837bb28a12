/* SPDX-License-Identifier: Apache-2.0 */
/* Which proxy leads to a server; see proxy.h. */
#include "writer/kube/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

#include "writer/base/message.h"
#include "writer/base/number.h"

/*
 * Parse "10.0.0.0/8", "fd00::/8" or "10.0.0.1" into an IPv6 address (an IPv4 address as ::ffff:10.0.0.1) and
 * the number of its bits that count.
 */
static bool
parse_network(const char *text, unsigned char address[16], unsigned *ret_bits)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	size_t length = strcspn(text, "/");
	char host[INET6_ADDRSTRLEN];
	uint64_t bits;
	bool v4;

	if (length >= sizeof(host))
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	memcpy(address, mapped, sizeof(mapped));
	v4 = inet_pton(AF_INET, host, address + sizeof(mapped)) == 1;
	bits = v4 ? 32 : 128;
	if ((!v4 && inet_pton(AF_INET6, host, address) != 1) ||
	    (text[length] && number_parse(text + length + 1, bits, &bits, NULL) < 0))
		return false;
	*ret_bits = (unsigned)bits + (v4 ? 96 : 0);
	return true;
}

static bool
is_in_network(const unsigned char *address, const unsigned char *network, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	return memcmp(address, network, whole) == 0 &&
	       (rest == 0 || (address[whole] ^ network[whole]) >> (8 - rest) == 0);
}

/* Split "host:port" or "[v6]:port"; a missing port is "". Cuts `entry`. */
static char *
split_port(char *entry, const char **ret_port)
{
	char *colon = strrchr(entry, ':');
	bool brackets = *entry == '[' && colon && colon[-1] == ']'; /* as Go: "[v6]" alone is no address */

	*ret_port = "";
	if (!colon || (strchr(entry, ':') != colon && !brackets)) /* several colons: an IPv6 address */
		return entry;
	*ret_port = colon + 1;
	colon[brackets ? -1 : 0] = '\0';
	return entry + brackets;
}

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcasecmp(text + n - m, end) == 0;
}

/* address: the host's if the host is an address, else NULL. */
static bool
entry_matches(char *entry, const char *host, const char *port, const unsigned char *address)
{
	unsigned char network[16];
	const char *entry_port;
	unsigned bits;

	if (strcmp(entry, "*") == 0)
		return true;
	if (parse_network(entry, network, &bits))
		return address && is_in_network(address, network, bits);
	entry = split_port(entry, &entry_port);
	if (!*entry || (*entry_port && strcmp(entry_port, port) != 0))
		return false;
	if (address || parse_network(entry, network, &bits))
		return address && parse_network(entry, network, &bits) &&
		       is_in_network(address, network, bits);
	if (strncmp(entry, "*.", 2) == 0)
		entry++;
	if (*entry == '.')
		return ends_with(host, entry);
	return strcasecmp(host, entry) == 0 || (strlen(host) > strlen(entry) && ends_with(host, entry) &&
						host[strlen(host) - strlen(entry) - 1] == '.');
}

bool
proxy_is_excluded(const char *no_proxy, const char *host, const char *port)
{
	static const unsigned char v6_loopback[16] = {[15] = 1};
	unsigned char address[16];
	unsigned bits;
	bool is_address = parse_network(host, address, &bits), excluded;
	char *list, *rest, *entry;

	excluded = strcmp(host, "localhost") == 0 ||
		   (is_address && ((bits == 128 && memcmp(address, v6_loopback, sizeof(address)) == 0) ||
				   (memcmp(address, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f", 13) == 0)));
	list = rest = strdup(no_proxy);
	while (!excluded && (entry = strsep(&rest, ", \t")))
		excluded = entry_matches(entry, host, port, is_address ? address : NULL);
	free(list);
	return excluded;
}

/* A part of a URL, for curl_free(); NULL: there is none. libcurl need not support the URL's scheme. */
static char *
url_part(const char *url, CURLUPart what, unsigned flags)
{
	CURLU *parsed = curl_url();
	char *part = NULL;

	if (parsed && curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
	    curl_url_get(parsed, what, &part, flags) != CURLUE_OK)
		part = NULL;
	curl_url_cleanup(parsed);
	return part;
}

bool
proxy_url_is_usable(const char *url)
{
	char *host = url_part(url, CURLUPART_HOST, 0);
	bool ok = host && *host &&
		  (strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0 ||
		   strncasecmp(url, "socks5://", 9) == 0);

	curl_free(host);
	return ok;
}

static const char *
env_any(const char *large, const char *small)
{
	const char *value = getenv(large);

	if (!value || !*value)
		value = getenv(small);
	return value && *value ? value : NULL;
}

/* For libcurl: its socks5:// would resolve names here, and a proxy without a scheme is an http one. */
static char *
in_words_of_curl(const char *url)
{
	char *text;

	if (strncasecmp(url, "socks5://", 9) == 0)
		return asprintf(&text, "socks5h://%s", url + 9) < 0 ? NULL : text;
	if (!strstr(url, "://"))
		return asprintf(&text, "http://%s", url) < 0 ? NULL : text;
	return strdup(url);
}

int
proxy_for_server(const char *server, const char *explicit_url, char **ret_proxy)
{
	bool tls = strncasecmp(server, "https://", 8) == 0;
	const char *url = explicit_url;
	char *host, *port, *bare;

	*ret_proxy = NULL;
	if (!url) {
		const char *no_proxy = env_any("NO_PROXY", "no_proxy");

		url = tls ? env_any("HTTPS_PROXY", "https_proxy") : env_any("HTTP_PROXY", "http_proxy");
		if (!url)
			return 0;
		host = url_part(server, CURLUPART_HOST, 0);
		port = url_part(server, CURLUPART_PORT, CURLU_DEFAULT_PORT);
		bare = host && *host == '[' ? strndup(host + 1, strcspn(host + 1, "]"))
		       : host               ? strdup(host)
					    : NULL;
		if (bare && proxy_is_excluded(no_proxy ? no_proxy : "", bare, port ? port : ""))
			url = NULL;
		curl_free(host);
		curl_free(port);
		if (!bare)
			return -ENOMEM;
		free(bare);
		if (!url)
			return 0;
	}
	*ret_proxy = in_words_of_curl(url);
	return *ret_proxy ? 0 : -ENOMEM;
}
