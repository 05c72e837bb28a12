/* SPDX-License-Identifier: Apache-2.0 */
/* See loopback.h. */
#include "tools/informer-gateway/http/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

static bool
is_ipv4(struct in_addr address)
{
	return ntohl(address.s_addr) == INADDR_LOOPBACK;
}

bool
gw_loopback_address(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;

	return (address->ss_family == AF_INET && is_ipv4(v4->sin_addr)) ||
	       (address->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr));
}

bool
gw_loopback_socket(int fd)
{
	struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
	socklen_t length = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &length) == 0 && gw_loopback_address(&address);
}

bool
gw_loopback_host(const char *host)
{
	char name[INET6_ADDRSTRLEN];
	const char *port;
	struct in6_addr v6;
	struct in_addr v4;
	bool brackets;
	size_t length;

	if (!host)
		return false;
	brackets = host[0] == '[';
	host += brackets;
	length = strcspn(host, brackets ? "]" : ":");
	if (length >= sizeof(name) || (brackets && host[length] != ']'))
		return false;
	port = host + length + brackets;
	if (*port && (*port != ':' || port[1 + strspn(port + 1, "0123456789")] != '\0'))
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	return strcasecmp(name, "localhost") == 0 || (inet_pton(AF_INET, name, &v4) == 1 && is_ipv4(v4)) ||
	       (inet_pton(AF_INET6, name, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}
