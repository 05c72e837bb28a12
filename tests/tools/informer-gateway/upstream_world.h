/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_world.h's loop and folder, a server that sees every byte (raw_server.h), and the two connections
 * to it. Our own credentials are the token OWN_TOKEN and, by TLS, a client certificate.
 */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_UPSTREAM_WORLD_H
#define TESTS_TOOLS_INFORMER_GATEWAY_UPSTREAM_WORLD_H

#include "tests/room.h"
#include "tests/support/raw_server.h"
#include "tests/support/transport_world.h"
#include "tests/support/test_clock.h"
#include "tools/informer-gateway/upstream/upstream.h"

#define OWN_TOKEN "our-own-token"

struct upstream_world {
	struct world *w;
	struct raw_server *server;
	struct gw_upstream *upstream;
};

/* cmocka's; *state is a struct upstream_world without a server. */
int upstream_world_setup(void **state);
int upstream_world_teardown(void **state);

/* Start a server and connect to it. With TLS: skips where no certificates can be made. */
void upstream_world_start(struct upstream_world *u, bool tls, raw_answer *answer, void *ctx);
/* Connect to an address without a server. */
void upstream_world_start_nowhere(struct upstream_world *u);

#endif
