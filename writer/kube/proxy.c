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

struct address {
	unsigned char bytes[16]; /* IPv4 as ::ffff:a.b.c.d, so that both compare */
};

static bool
parse_address(const char *text, struct address *ret)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	memcpy(ret->bytes, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, ret->bytes + sizeof(mapped)) == 1 ||
	       inet_pton(AF_INET6, text, ret->bytes) == 1;
}

static bool
is_v4(const struct address *address)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(address->bytes, mapped, sizeof(mapped)) == 0;
}

static bool
is_loopback(const struct address *address)
{
	static const unsigned char v6[16] = {[15] = 1};

	return is_v4(address) ? address->bytes[12] == 127 : memcmp(address->bytes, v6, sizeof(v6)) == 0;
}

/* "10.0.0.0/8", "fd00::/8" */
static bool
parse_network(const char *text, struct address *ret_address, unsigned *ret_bits)
{
	const char *slash = strchr(text, '/');
	char host[INET6_ADDRSTRLEN], *end;
	unsigned long bits;

	if (!slash || (size_t)(slash - text) >= sizeof(host) || slash[1] < '0' || slash[1] > '9')
		return false;
	memcpy(host, text, (size_t)(slash - text));
	host[slash - text] = '\0';
	bits = strtoul(slash + 1, &end, 10);
	if (*end || !parse_address(host, ret_address))
		return false;
	if (!strchr(host, ':')) {
		if (bits > 32)
			return false;
		bits += 96;
	}
	*ret_bits = (unsigned)bits;
	return bits <= 128;
}

static bool
is_in_network(const struct address *address, const struct address *network, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	/* a network of IPv6 that spans the mapped range means no IPv4 address */
	if (is_v4(address) != is_v4(network))
		return false;
	return memcmp(address->bytes, network->bytes, whole) == 0 &&
	       (rest == 0 || (address->bytes[whole] ^ network->bytes[whole]) >> (8 - rest) == 0);
}

/* Split "host:port", "[v6]:port"; a port that is not there is "". Cuts `entry`. */
static char *
split_port(char *entry, const char **ret_port)
{
	char *colon = strrchr(entry, ':'), *close = strchr(entry, ']');

	*ret_port = "";
	if (*entry == '[' && close) {
		if (close[1] && close[1] != ':')
			return entry;
		if (close[1] == ':')
			*ret_port = close + 2;
		else
			return entry; /* as Go: brackets without a port are no address */
		*close = '\0';
		return entry + 1;
	}
	if (colon && strchr(entry, ':') == colon) { /* one colon: not an IPv6 address */
		*colon = '\0';
		*ret_port = colon + 1;
	}
	return entry;
}

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcasecmp(text + n - m, end) == 0;
}

static bool
entry_matches(char *entry, const char *host, const char *port, const struct address *address)
{
	struct address other;
	const char *entry_port;
	unsigned bits;

	if (strcmp(entry, "*") == 0)
		return true;
	if (parse_network(entry, &other, &bits))
		return address && is_in_network(address, &other, bits);
	entry = split_port(entry, &entry_port);
	if (!*entry || (*entry_port && strcmp(entry_port, port) != 0))
		return false;
	if (parse_address(entry, &other))
		return address && memcmp(&other, address, sizeof(other)) == 0;
	if (address)
		return false;
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
	struct address address;
	bool is_address = parse_address(host, &address);

	if (strcmp(host, "localhost") == 0 || (is_address && is_loopback(&address)))
		return true;
	while (*no_proxy) {
		size_t len = strcspn(no_proxy, ",");
		char entry[512];

		if (len < sizeof(entry)) {
			const char *start = no_proxy + strspn(no_proxy, " \t");
			size_t n = start < no_proxy + len ? (size_t)(no_proxy + len - start) : 0;

			while (n > 0 && (start[n - 1] == ' ' || start[n - 1] == '\t'))
				n--;
			memcpy(entry, start, n);
			entry[n] = '\0';
			if (entry_matches(entry, host, port, is_address ? &address : NULL))
				return true;
		}
		no_proxy += len + (no_proxy[len] == ',');
	}
	return false;
}

/* One part of a URL, for curl_free(); NULL when it has none. Schemes that libcurl cannot do are read, too. */
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
env_any(const char *(*getenv_)(const char *name), const char *large, const char *small)
{
	const char *value = getenv_ ? getenv_(large) : getenv(large);

	if (!value || !*value)
		value = getenv_ ? getenv_(small) : getenv(small);
	return value && *value ? value : NULL;
}

/* libcurl's socks5:// would look names up here; a proxy without scheme is an http one */
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
proxy_for_server(const char *server, const char *explicit_url, const char *(*getenv_)(const char *name),
		 char **ret_proxy)
{
	bool tls = strncasecmp(server, "https://", 8) == 0;
	const char *url = explicit_url;
	char *host, *port, *bare;

	*ret_proxy = NULL;
	if (!url) {
		const char *no_proxy = env_any(getenv_, "NO_PROXY", "no_proxy");

		url = tls ? env_any(getenv_, "HTTPS_PROXY", "https_proxy")
			  : env_any(getenv_, "HTTP_PROXY", "http_proxy");
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
