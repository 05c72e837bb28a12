/* SPDX-License-Identifier: Apache-2.0 */
/* exec, attach and port-forward are refused with the API server's address to use instead. */
#include "gateway_fixture.h"

#include "tools/informer-gateway/http/request_form.h"
#include "tools/informer-gateway/pass/pass_through.h"

static void
reply(struct gw_exchange *x, void *ctx)
{
	if (gw_request_upgrades(x->api.connection))
		gw_reply_upgrade(x, ctx);
	else
		gw_reply_text(x, 200, "text/plain", "plain\n");
}

#define UPGRADE(rest) "GET /x HTTP/1.1\r\nHost: g\r\n" rest "\r\n"
#define SENTENCE                                                                                             \
	"\"message\":\"this gateway does not carry upgraded connections (exec, attach, port-forward, "       \
	"proxy): ask the API server itself"

static char server[] = "https://10.0.0.1:6443";

/* The refusal is a JSON Status unless another form is asked for. The connection goes on. */
GATEWAY_TEST(an_upgrade_is_refused_with_the_servers_address)
{
	struct caller *c;

	gateway_listen(g, (struct gw_listener_options){0}, reply, server);
	c = asks(g, UPGRADE("Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"));
	hear(c, SENTENCE " at https://10.0.0.1:6443\",\"reason\":\"NotImplemented\",\"code\":501}");
	assert_heard(c, "HTTP/1.1 501 ");
	say(c, UPGRADE("Connection: keep-alive, upgrade\r\nUpgrade: websocket\r\n") GET("/x"));
	hear(c, "plain\n");
	gateway_until(g, g->over == 3);
}

GATEWAY_TEST(without_a_server_the_refusal_names_none)
{
	gateway_listen(g, (struct gw_listener_options){0}, reply, NULL);
	hears(g, UPGRADE("Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"),
	      SENTENCE "; this listener has none to name\"");
}

/* An Upgrade header without Connection is ignored, and so is a request for HTTP/2. */
GATEWAY_TEST(other_upgrades_are_ignored)
{
	gateway_listen(g, (struct gw_listener_options){0}, reply, server);
	hears(g, UPGRADE("Upgrade: websocket\r\n"), "plain\n");
	hears(g, UPGRADE("Connection: Upgrade\r\n"), "plain\n");
	hears(g, UPGRADE("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"), "plain\n");
}
