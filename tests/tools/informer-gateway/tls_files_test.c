/* SPDX-License-Identifier: Apache-2.0 */
/* TLS: who is let in by a certificate, what is told of it, and certificates that are replaced. */
#include "gateway_fixture.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tools/informer-sim/certs.h"

struct tls_caller {
	struct caller plain;
	gnutls_session_t session;
	gnutls_certificate_credentials_t credentials;
};

/* Answers with the certificate's name. */
static void
who(struct gw_exchange *x, void *ctx)
{
	const struct gw_certificate *c = x->peer->certificate;
	struct api_buf body = {0};

	(void)ctx;
	api_buf_printf(&body, "transport %d name %s\n", x->peer->transport, c ? c->common_name : "(none)");
	gw_reply(x, 200, "text/plain", &body);
}

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

struct files {
	struct sim_certs certs;
	char cert[256], key[256], ca[256];
};

static void
make_files(struct files *f, const char *dir)
{
	char *error = NULL;

	assert_int_equal(sim_certs_make("127.0.0.1", NULL, &f->certs, &error), 0);
	snprintf(f->cert, sizeof(f->cert), "%s/server.crt", dir);
	snprintf(f->key, sizeof(f->key), "%s/server.key", dir);
	snprintf(f->ca, sizeof(f->ca), "%s/ca.crt", dir);
	write_file(f->cert, f->certs.cert);
	write_file(f->key, f->certs.key);
	write_file(f->ca, f->certs.ca);
}

/*
 * Connect and shake hands, turning the loop; what gnutls says in the end. certs NULL: without a certificate.
 */
static int
call_tls(struct gateway *g, struct tls_caller *c, const struct sim_certs *certs)
{
	int r;

	call_tcp(g, &c->plain);
	gnutls_certificate_allocate_credentials(&c->credentials);
	if (certs) {
		gnutls_datum_t cert = {(unsigned char *)certs->client, (unsigned)strlen(certs->client)};
		gnutls_datum_t key = {(unsigned char *)certs->client_key,
				      (unsigned)strlen(certs->client_key)};

		assert_int_equal(gnutls_certificate_set_x509_key_mem(c->credentials, &cert, &key,
								     GNUTLS_X509_FMT_PEM), 0);
	}
	gnutls_init(&c->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_FORCE_CLIENT_CERT);
	gnutls_set_default_priority(c->session);
	gnutls_credentials_set(c->session, GNUTLS_CRD_CERTIFICATE, c->credentials);
	gnutls_transport_set_int(c->session, c->plain.fd);
	while ((r = gnutls_handshake(c->session)) == GNUTLS_E_AGAIN)
		test_loop_turn(&g->loop);
	return r;
}

/* Ask, and take what is answered, up to the text; false: the connection ended before. */
static bool
ask(struct gateway *g, struct tls_caller *c, const char *text)
{
	char block[4096];
	ssize_t n;

	forget_heard(&c->plain);
	if (gnutls_record_send(c->session, GET("/"), strlen(GET("/"))) < 0)
		return false;
	for (;;) {
		n = gnutls_record_recv(c->session, block, sizeof(block));
		if (n > 0)
			api_buf_put(&c->plain.heard, block, (size_t)n);
		if (c->plain.heard.data && strstr(c->plain.heard.data, text))
			return true;
		if (n != GNUTLS_E_AGAIN && n <= 0)
			return false;
		test_loop_turn(&g->loop);
	}
}

static void
hang_up_tls(struct tls_caller *c)
{
	gnutls_deinit(c->session);
	gnutls_certificate_free_credentials(c->credentials);
	hang_up(&c->plain);
}

static void
listen_tls(struct gateway *g, const struct files *f, const char *ca, bool required)
{
	gateway_front(g, (struct gw_front_options){0});
	gateway_listen(g,
		       (struct gw_listener_options){.tls_cert = f->cert,
						    .tls_key = f->key,
						    .client_ca = ca,
						    .client_required = required},
		       who, NULL);
	assert_int_equal(strncmp(gw_listener_url(g->listener), "https://127.0.0.1:", 18), 0);
}

/* Where a certificate is required: one of the authority gets in and is named, none and another's do not. */
static void
a_required_certificate_is_verified(void **state)
{
	struct sim_certs other;
	struct tls_caller c;
	struct gateway g;
	struct files f;
	char *error = NULL;

	make_files(&f, *state);
	assert_int_equal(sim_certs_make("127.0.0.1", NULL, &other, &error), 0);
	listen_tls(&g, &f, f.ca, true);
	assert_int_equal(call_tls(&g, &c, &f.certs), 0);
	assert_true(ask(&g, &c, "transport 2 name "));
	assert_null(strstr(c.plain.heard.data, "(none)"));
	hang_up_tls(&c);
	if (call_tls(&g, &c, NULL) == 0)
		assert_false(ask(&g, &c, "transport"));
	hang_up_tls(&c);
	if (call_tls(&g, &c, &other) == 0)
		assert_false(ask(&g, &c, "transport"));
	hang_up_tls(&c);
	assert_int_equal(gw_front_counters(g.front)->requests, 1);
	gateway_until(&g, gw_front_counters(g.front)->connections == 0);
	sim_certs_done(&other);
	sim_certs_done(&f.certs);
	gateway_close(&g);
}

/* Where one is only asked for: without one a client is nobody, but a bad one is refused. */
static void
an_optional_certificate_must_be_good(void **state)
{
	struct sim_certs other;
	struct tls_caller c;
	struct gateway g;
	struct files f;
	char *error = NULL;

	make_files(&f, *state);
	assert_int_equal(sim_certs_make("127.0.0.1", NULL, &other, &error), 0);
	listen_tls(&g, &f, f.ca, false);
	assert_int_equal(call_tls(&g, &c, NULL), 0);
	assert_true(ask(&g, &c, "transport 2 name (none)"));
	hang_up_tls(&c);
	if (call_tls(&g, &c, &other) == 0)
		assert_false(ask(&g, &c, "transport"));
	hang_up_tls(&c);
	sim_certs_done(&other);
	sim_certs_done(&f.certs);
	gateway_close(&g);
}

/* The serial number and the rest of it, as the server showed it. */
static void
shown(const struct tls_caller *c, struct api_buf *buf)
{
	unsigned count = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(c->session, &count);

	assert_true(count > 0);
	api_buf_reset(buf);
	api_buf_put(buf, chain[0].data, chain[0].size);
}

/*
 * A certificate that is replaced is shown to who comes then; who is there goes on; a bad file changes
 * nothing.
 */
static void
a_certificate_is_replaced_while_serving(void **state)
{
	struct api_buf first = {0}, second = {0};
	struct tls_caller old, new;
	struct gateway g;
	struct files f, g2;
	char *error = NULL;

	make_files(&f, *state);
	listen_tls(&g, &f, NULL, false);
	assert_int_equal(call_tls(&g, &old, NULL), 0);
	shown(&old, &first);
	write_file(f.key, "no key");
	assert_true(gw_listener_reload(g.listener, &error) < 0);
	assert_non_null(strstr(error, "server.crt"));
	free(error);
	assert_int_equal(call_tls(&g, &new, NULL), 0);
	shown(&new, &second);
	assert_memory_equal(first.data, second.data, first.len);
	hang_up_tls(&new);
	make_files(&g2, *state);
	assert_int_equal(gw_listener_reload(g.listener, &error), 0);
	assert_int_equal(call_tls(&g, &new, NULL), 0);
	shown(&new, &second);
	assert_true(first.len != second.len || memcmp(first.data, second.data, first.len) != 0);
	assert_true(ask(&g, &old, "transport 2"));
	assert_true(ask(&g, &new, "transport 2"));
	hang_up_tls(&old);
	hang_up_tls(&new);
	api_buf_done(&first);
	api_buf_done(&second);
	sim_certs_done(&f.certs);
	sim_certs_done(&g2.certs);
	gateway_close(&g);
}

/* A handshake that waits for its client costs no turns of the loop, and is cut when its time is over. */
static void
a_handshake_that_waits_rests(void **state)
{
	struct gateway g;
	struct caller c[3];
	struct files f;

	make_files(&f, *state);
	gateway_front(&g, (struct gw_front_options){0});
	gateway_listen(
		&g,
		(struct gw_listener_options){.tls_cert = f.cert, .tls_key = f.key, .header_seconds = 1}, who,
		NULL);
	for (int i = 0; i < 3; i++)
		call_tcp(&g, &c[i]);
	/* the beginning of a record, and no more */
	say_bytes(&g, &c[1], "\x16\x03\x01\x02", 4);
	gateway_until(&g, gw_front_counters(g.front)->connections == 3);
	test_loop_settle(&g.loop);
	for (int i = 0; i < 20; i++)
		assert_false(test_loop_turn(&g.loop));
	gateway_pass(&g, 2000);
	gateway_until(&g, has_ended(&c[0]) && has_ended(&c[1]) && has_ended(&c[2]));
	assert_int_equal(c[0].heard.len, 0);
	gateway_until(&g, gw_front_counters(g.front)->connections == 0);
	for (int i = 0; i < 3; i++)
		hang_up(&c[i]);
	sim_certs_done(&f.certs);
	gateway_close(&g);
}

/* A listener whose files are wrong does not open, and says which. */
static void
wrong_files_are_named(void **state)
{
	struct gw_listener_options options = {.name = "tls", .address = "127.0.0.1:0"};
	struct gw_listener *listener;
	struct gateway g;
	struct files f;
	char *error = NULL;

	make_files(&f, *state);
	gateway_front(&g, (struct gw_front_options){0});
	options.tls_cert = f.cert;
	options.tls_key = "/nowhere/key.pem";
	assert_int_equal(gw_listener_open(g.front, &options, who, NULL, &listener, &error), -ENOENT);
	assert_non_null(strstr(error, "/nowhere/key.pem"));
	free(error);
	options.tls_key = f.key;
	write_file(f.ca, "");
	options.client_ca = f.ca;
	assert_int_equal(gw_listener_open(g.front, &options, who, NULL, &listener, &error), -EINVAL);
	assert_non_null(strstr(error, "ca.crt"));
	free(error);
	sim_certs_done(&f.certs);
	gateway_close(&g);
}

#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, temp_dir_setup, temp_dir_teardown)

static const struct CMUnitTest tests[] = {
	WITH_DIR(a_required_certificate_is_verified),
	WITH_DIR(an_optional_certificate_must_be_good),
	WITH_DIR(a_certificate_is_replaced_while_serving),
	WITH_DIR(a_handshake_that_waits_rests),
	WITH_DIR(wrong_files_are_named),
};
TEST_GROUP(tests, NULL, NULL);
