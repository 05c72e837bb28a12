/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/tools/informer-gateway/upstream_world.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "tests/support/temp_dir.h"
#include "writer/base/message.h"

int
upstream_world_setup(void **state)
{
	static struct upstream_world world;
	struct upstream_world *u = &world;

	test_clock_stop();
	if (transport_world_setup((void **)&u->w) < 0)
		return -1;
	*state = u;
	return 0;
}

int
upstream_world_teardown(void **state)
{
	struct upstream_world *u = *state;
	int r;

	gw_upstream_free(u->upstream);
	uv_run(&u->w->loop, UV_RUN_NOWAIT);
	r = transport_world_teardown((void **)&u->w);
	raw_server_free(u->server);
	return r;
}

static void
connect_ways(struct upstream_world *u, const char *scheme, unsigned port)
{
	_cleanup_(message_freep) char *error = NULL;
	struct kube_client_config *config = &u->w->config;
	char url[64];

	snprintf(url, sizeof(url), "%s://127.0.0.1:%u", scheme, port);
	config->server = strdup(url);
	config->token = strdup(OWN_TOKEN);
	if (gw_upstream_new(&u->w->loop, config, &u->upstream, &error) < 0)
		fail_msg("%s", error);
}

void
upstream_world_start(struct upstream_world *u, bool tls, raw_answer *answer, void *ctx)
{
	struct kube_client_config *config = &u->w->config;
	char *key = NULL, *cert = NULL;

	if (tls) {
		make_certificates(u->w);
		config->ca.file = strdup(temp_path(u->w->dir, "ca.crt"));
		config->client_cert.file = strdup(temp_path(u->w->dir, "c.crt"));
		config->client_key.file = strdup(temp_path(u->w->dir, "c.key"));
		key = strdup(temp_path(u->w->dir, "s.key"));
		cert = strdup(temp_path(u->w->dir, "s.crt"));
	}
	u->server = raw_server_new(key, cert, answer, ctx);
	free(key);
	free(cert);
	connect_ways(u, tls ? "https" : "http", raw_server_port(u->server));
}

void
upstream_world_start_nowhere(struct upstream_world *u)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); /* bound, and not listening */

	assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	connect_ways(u, "http", ntohs(address.sin_port));
	close(fd);
}
