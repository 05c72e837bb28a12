/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as NO_PROXY, a server and a proxy, a line each. */
#include "tests/fuzz/fuzz.h"
#include "writer/kube/proxy.h"

static char no_proxy[4096], proxy[4096];

static const uint8_t *
take_line(const uint8_t *at, const uint8_t *end, char *to, size_t max)
{
	size_t n = 0;

	for (; at < end && *at != '\n'; at++)
		if (n + 1 < max)
			to[n++] = (char)*at;
	to[n] = '\0';
	return at < end ? at + 1 : at;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char server[4096], *found;
	const uint8_t *at = data, *end = data + size;

	at = take_line(at, end, no_proxy, sizeof(no_proxy));
	at = take_line(at, end, server, sizeof(server));
	take_line(at, end, proxy, sizeof(proxy));
	(void)proxy_url_is_usable(proxy);
	setenv("NO_PROXY", no_proxy, 1);
	setenv("HTTPS_PROXY", proxy, 1);
	if (proxy_for_server(server, NULL, &found) == 0)
		free(found);
	(void)proxy_is_excluded(no_proxy, server, "443");
	return 0;
}
