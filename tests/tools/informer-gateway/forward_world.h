/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The world of a test of what is handed on: upstream_world.h, a listener whose requests all are handed on,
 * and clients that are threads of their own, so that they may block.
 */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_FORWARD_WORLD_H
#define TESTS_TOOLS_INFORMER_GATEWAY_FORWARD_WORLD_H

#include "tests/tools/informer-gateway/upstream_world.h"
#include "tools/informer-gateway/front.h"
#include "tools/informer-gateway/kept_documents.h"
#include "tools/informer-gateway/pass_through.h"

struct forward_world {
	struct upstream_world *u;
	struct gw_front *front;
	struct gw_listener *listener;
	struct gw_pass_through *pass_through;
	struct gw_kept_documents *kept; /* asked first, or NULL */
	unsigned port;
	bool tls;
	gnutls_certificate_credentials_t trust; /* of clients, by TLS */
	/* what the router would say of a request, or NULL */
	const struct api_resource *resource;
	const char *subresource;
};

int forward_world_setup(void **state);
int forward_world_teardown(void **state);

/* After upstream_world_start(). options NULL: none. tls: of the listener. */
void forward_world_start(struct forward_world *f, const struct gw_pass_through_options *options, bool tls);

/* A client's thread: d is connected to the listener. It asserts nothing. */
typedef void client_script(struct duplex *d, void *ctx);
/* Run it, and the loop, until it returns. */
void run_client(struct forward_world *f, client_script *script, void *ctx);

struct bytes_seen {
	char *data; /* terminated */
	size_t length;
};
/* Send this text, and read until the connection ends. */
void talk(struct forward_world *f, const char *request, struct bytes_seen *ret);
void talk_bytes(struct forward_world *f, const char *request, size_t length, struct bytes_seen *ret);
void bytes_seen_done(struct bytes_seen *seen);

#endif
