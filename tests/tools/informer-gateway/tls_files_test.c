/* SPDX-License-Identifier: Apache-2.0 */
/* TLS: which client certificates are accepted, and how files are replaced. */
#include "gateway_fixture.h"

#include <gnutls/x509.h>

#include "tools/informer-gateway/http/listener.h"
#include "tools/informer-sim/certs.h"

/* The handler: answers with the certificate's name. */
static void
who(struct gw_exchange *x, void *ctx)
{
	const struct gw_certificate *c = x->peer->certificate;
	struct api_buf body = {0};

	(void)ctx;
	api_buf_printf(&body, "transport %d name %s\n", x->peer->transport, c ? c->common_name : "(none)");
	gw_reply(x, 200, "text/plain", &body);
}

struct files {
	struct sim_certs certs;
	const char *cert, *key, *ca;
};

static void
make_files(struct files *f, const char *dir)
{
	char *error = NULL;

	assert_int_equal(sim_certs_make("127.0.0.1", NULL, &f->certs, &error), 0);
	f->cert = temp_file(dir, "server.crt", f->certs.cert);
	f->key = temp_file(dir, "server.key", f->certs.key);
	f->ca = temp_file(dir, "ca.crt", f->certs.ca);
}

/* A client with this certificate and key, or without any. Returns gnutls's result of the handshake. */
static int
call_with(struct gateway *g, struct caller **c, const struct sim_certs *certs)
{
	return call_tls(g, certs ? certs->client : NULL, certs ? certs->client_key : NULL, c);
}

/* Ask and hear this. Returns false if the connection ends before. */
static bool
answers(struct caller *c, const char *text)
{
	forget_heard(c);
	say(c, GET("/"));
	gateway_until(c->g, has_heard(c, text) || c->eof);
	return has_heard(c, text);
}

static void
listen_tls(struct gateway *g, const struct files *f, const char *ca, bool required)
{
	gateway_listen(g,
		       (struct gw_listener_options){.tls_cert = f->cert,
						    .tls_key = f->key,
						    .client_ca = ca,
						    .client_required = required},
		       who, NULL);
	assert_int_equal(strncmp(gw_listener_url(g->listener), "https://127.0.0.1:", 18), 0);
}

/*
 * A certificate of the client CA is accepted and named; one of another CA is refused. A client without one is
 * anonymous if certificates are optional, and refused if they are required.
 */
GATEWAY_TEST(certificates_are_verified)
{
	struct sim_certs other;
	struct caller *c;
	struct files f;
	char *error = NULL;

	make_files(&f, g->dir);
	assert_int_equal(sim_certs_make("127.0.0.1", NULL, &other, &error), 0);
	for (int required = 0; required < 2; required++) {
		listen_tls(g, &f, f.ca, required);
		assert_int_equal(call_with(g, &c, &f.certs), 0);
		assert_true(answers(c, "transport 2 name "));
		assert_null(strstr(c->heard.data, "(none)"));
		hang_up(c);
		assert_int_equal(call_with(g, &c, NULL) == 0 && answers(c, "transport 2 name (none)"),
				 !required);
		hang_up(c);
		assert_true(call_with(g, &c, &other) != 0 || !answers(c, "transport"));
		assert_int_equal(gw_front_counters(g->front)->requests, required ? 1 : 2);
		gateway_until(g, gw_front_counters(g->front)->connections == 0);
		gateway_shut(g);
	}
	sim_certs_done(&other);
	sim_certs_done(&f.certs);
}

/* The certificate that the server showed. */
static void
shown(const struct caller *c, struct api_buf *buf)
{
	unsigned count = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(c->tls, &count);

	assert_true(count > 0);
	api_buf_reset(buf);
	api_buf_put(buf, chain[0].data, chain[0].size);
}

/* New connections see a replaced certificate. Existing ones go on. A bad file changes nothing. */
GATEWAY_TEST(a_certificate_is_replaced_while_serving)
{
	struct api_buf first = {0}, second = {0};
	struct caller *old, *new;
	struct files f, g2;
	char *error = NULL;

	make_files(&f, g->dir);
	listen_tls(g, &f, NULL, false);
	assert_int_equal(call_with(g, &old, NULL), 0);
	shown(old, &first);
	temp_file(g->dir, "server.key", "no key");
	assert_true(gw_listener_reload(g->listener, &error) < 0);
	assert_non_null(strstr(error, "server.crt"));
	free(error);
	assert_int_equal(call_with(g, &new, NULL), 0);
	shown(new, &second);
	assert_memory_equal(first.data, second.data, first.len);
	hang_up(new);
	make_files(&g2, g->dir);
	assert_int_equal(gw_listener_reload(g->listener, &error), 0);
	assert_int_equal(call_with(g, &new, NULL), 0);
	shown(new, &second);
	assert_true(first.len != second.len || memcmp(first.data, second.data, first.len) != 0);
	assert_true(answers(old, "transport 2"));
	assert_true(answers(new, "transport 2"));
	hang_up(old);
	hang_up(new);
	api_buf_done(&first);
	api_buf_done(&second);
	sim_certs_done(&f.certs);
	sim_certs_done(&g2.certs);
}

/* A waiting handshake costs no turns of the loop and is cut at its deadline. */
GATEWAY_TEST(a_waiting_handshake_is_idle)
{
	struct caller *c[3];
	struct files f;

	make_files(&f, g->dir);
	gateway_listen(
		g, (struct gw_listener_options){.tls_cert = f.cert, .tls_key = f.key, .header_seconds = 1},
		who, NULL);
	for (int i = 0; i < 3; i++)
		c[i] = call_tcp(g);
	/* only the beginning of a record */
	say_bytes(c[1], "\x16\x03\x01\x02", 4);
	gateway_until(g, gw_front_counters(g->front)->connections == 3);
	test_loop_drain(g->loop);
	for (int i = 0; i < 20; i++)
		assert_false(test_loop_turn(g->loop));
	gateway_pass(g, 2000);
	gateway_until(g, has_ended(c[0]) && has_ended(c[1]) && has_ended(c[2]));
	assert_int_equal(c[0]->heard.len, 0);
	gateway_until(g, gw_front_counters(g->front)->connections == 0);
	sim_certs_done(&f.certs);
}

/* A listener with a wrong file does not open, and its message names the file. */
GATEWAY_TEST(wrong_files_are_named)
{
	struct gw_listener_options options = {.name = "tls", .address = "127.0.0.1:0"};
	struct gw_listener *listener;
	struct files f;
	char *error = NULL;

	make_files(&f, g->dir);
	gateway_front(g, (struct gw_front_options){0});
	options.tls_cert = f.cert;
	options.tls_key = "/nowhere/key.pem";
	assert_int_equal(gw_listener_open(g->front, &options, who, NULL, &listener, &error), -ENOENT);
	assert_non_null(strstr(error, "/nowhere/key.pem"));
	options.tls_key = f.key;
	temp_file(g->dir, "ca.crt", "");
	options.client_ca = f.ca;
	assert_int_equal(gw_listener_open(g->front, &options, who, NULL, &listener, &error), -EINVAL);
	assert_non_null(strstr(error, "ca.crt"));
	free(error);
	sim_certs_done(&f.certs);
}
