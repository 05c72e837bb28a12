/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The world of a transport's test: a loop, a server (http_fixture.h), a transport, and records of its
 * requests. The clocks stand still (test_clock.h).
 */
#ifndef TESTS_SUPPORT_TRANSPORT_WORLD_H
#define TESTS_SUPPORT_TRANSPORT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "tests/support/http_fixture.h"
#include "tests/support/test_clock.h"
#include "writer/kube/transport.h"

/* One test's world: a loop, a server, a transport. */
struct world {
	char *dir;
	uv_loop_t loop;
	struct http_fixture *server;
	struct kube_client_config config;
	struct transport *transport;
};

/* What a request's callbacks recorded. */
struct seen {
	struct world *world;
	struct transport_request *request;
	int status, result, n_responses, n_done;
	long retry_after;
	char content_type[64], message[512], text[256];
	size_t bytes;
	int answer;	       /* the result of on_data */
	bool cancel, pause, free_transport, cancel_at_response;
	struct seen *start;    /* started by on_done */
	const char *start_path;
};

/* cmocka set-up and tear-down: *state is a world without server and transport. */
int transport_world_setup(void **state);
int transport_world_teardown(void **state);

/* Make the transport for this URL, with w->config. */
void connect_to(struct world *w, const char *url);
/* Start a server with these routes, and the transport to it. */
void serve(struct world *w, const struct http_route *routes);

extern const struct transport_callbacks seen_callbacks;

/* Start a request. */
void get(struct world *w, const char *path, unsigned flags, struct seen *seen);

/* Start a request and wait for its end. */
struct seen fetch(struct world *w, const char *path, unsigned flags);

#define run_until(w, condition) test_loop_until(&(w)->loop, condition)

#define EXEC_V1 "client.authentication.k8s.io/v1"
/* A line of shell that prints a credential with these fields of the status. */
#define EXEC_ANSWER(status)                                                                                  \
	"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" EXEC_V1 "\",\"status\":{" status "}}'\n"

/* The config's plugin is a shell script with this body; $D is w->dir. */
void use_plugin(struct world *w, const char *body);

/* The text of a file in w->dir, "" if absent; valid until the next call. */
const char *read_file(const struct world *w, const char *name);

struct transport_stats stats_of(const struct world *w);

/*
 * Make files in w->dir: a CA (ca.crt), and by it a server's s.key and s.crt for "api.test" and 127.0.0.1, and
 * a client's c.key and c.crt. Skips the test where that is impossible.
 */
void make_certificates(struct world *w);

/*
 * Start a TLS server with a certificate for "api.test" and 127.0.0.1 by the CA in w->dir/ca.crt. Skips the
 * test where that is impossible.
 */
void start_tls(struct world *w, const struct http_route *routes);

#endif
