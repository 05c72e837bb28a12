/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The world of a test of what is handed on: upstream_world.h, and on its loop a gateway whose requests all
 * are handed on. Included by each test, which it is compiled into.
 */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_FORWARD_WORLD_H
#define TESTS_TOOLS_INFORMER_GATEWAY_FORWARD_WORLD_H

#include "gateway_fixture.h"

#include "tests/tools/informer-gateway/upstream_world.h"
#include "tools/informer-gateway/pass/pass_through.h"

struct forward_world {
	struct upstream_world *u;
	struct gateway g;
	struct gw_pass_through *pass_through;
	void (*instead)(struct gw_exchange *x); /* of an absent server's answer, or NULL */
	/* what the router would say of a request, or NULL */
	const struct api_resource *resource;
	const char *subresource;
};

static UNUSED int
forward_world_setup(void **state)
{
	static struct forward_world f;

	if (upstream_world_setup((void **)&f.u) < 0)
		return -1;
	f.g.loop = &f.u->w->loop;
	gateway_begin(&f.g);
	*state = &f;
	return 0;
}

static UNUSED int
forward_world_teardown(void **state)
{
	struct forward_world *f = *state;

	gateway_close_listener(&f->g);
	uv_run(f->g.loop, UV_RUN_NOWAIT);
	gw_pass_through_free(f->pass_through);
	gateway_close(&f->g);
	return upstream_world_teardown((void **)&f->u);
}

#define FORWARD_TEST(name)                                                                                   \
	TEST_CASE_OF(struct forward_world *f, forward_world_setup, forward_world_teardown, name)

static void
hand_on(struct gw_exchange *x, void *ctx)
{
	struct forward_world *f = ctx;

	x->api.resource = f->resource;
	x->api.subresource = f->subresource;
	gw_pass_through(f->pass_through, x, f->instead);
}

/* After upstream_world_start(). options NULL: none. tls: of the listener. */
static UNUSED void
forward_world_start(struct forward_world *f, const struct gw_pass_through_options *options, bool tls)
{
	struct gw_listener_options listen = {0};
	char *error = NULL;

	if (tls) {
		listen.tls_cert = temp_path(f->u->w->dir, "s.crt");
		listen.tls_key = temp_path(f->u->w->dir, "s.key");
	}
	f->pass_through = gw_pass_through_new(
		f->u->upstream, options ? options : &(struct gw_pass_through_options){0}, &error);
	if (!f->pass_through)
		fail_msg("%s", error);
	gateway_listen(&f->g, listen, hand_on, f);
}

/* Until the connection ends. */
static UNUSED const char *
hear_all(struct caller *c)
{
	gateway_until(c->g, has_ended(c));
	return c->heard.data;
}

/* Send this text, and hear until the connection ends. */
static UNUSED const char *
talk(struct forward_world *f, const char *request)
{
	return hear_all(asks(&f->g, request));
}

/* The same, and hear this among it. */
static UNUSED struct caller *
expect(struct forward_world *f, const char *request, const char *text)
{
	struct caller *c = asks(&f->g, request);

	hear_all(c);
	assert_heard(c, text);
	return c;
}

#endif
