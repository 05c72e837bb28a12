/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a loop with a transport and a small server, plain or with TLS. Records the callbacks. */
#include "tests/support/transport_world.h"

#include <microhttpd.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct seen *seen = ctx;

	seen->n_responses++;
	seen->status = response->status;
	seen->retry_after = response->retry_after_s;
	snprintf(seen->content_type, sizeof(seen->content_type), "%s", response->content_type);
	if (seen->cancel_at_response)
		transport_cancel(seen->request);
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	struct seen *seen = ctx;
	size_t at = strlen(seen->text),
	       n = len < sizeof(seen->text) - 1 - at ? len : sizeof(seen->text) - 1 - at;

	memcpy(seen->text + at, data, n);
	seen->bytes += len;
	if (seen->cancel)
		transport_cancel(seen->request);
	if (seen->pause)
		transport_pause(seen->request);
	if (seen->free_transport) {
		transport_free(seen->world->transport);
		seen->world->transport = NULL;
	}
	return seen->answer;
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct seen *seen = ctx;

	seen->n_done++;
	seen->result = result;
	seen->request = NULL;
	snprintf(seen->message, sizeof(seen->message), "%s", message);
	if (seen->start)
		get(seen->world, seen->start_path, 0, seen->start);
}

const struct transport_callbacks seen_callbacks = {on_response, on_data, on_done};

void
get(struct world *w, const char *path, unsigned flags, struct seen *seen)
{
	seen->world = w;
	assert_int_equal(transport_get(w->transport, path, flags, &seen_callbacks, seen, &seen->request), 0);
	assert_int_equal(seen->n_done, 0);
}

void
connect_to(struct world *w, const char *url)
{
	_cleanup_(message_freep) char *error = NULL;

	free(w->config.server);
	w->config.server = strdup(url);
	if (transport_new(&w->loop, &w->config, &w->transport, &error) < 0)
		fail_msg("%s", error);
}

void
serve(struct world *w, const struct http_route *routes)
{
	w->server = http_fixture_new(routes, NULL, NULL);
	assert_non_null(w->server);
	connect_to(w, http_fixture_url(w->server));
}

struct seen
fetch(struct world *w, const char *path, unsigned flags)
{
	struct seen seen = {0};

	get(w, path, flags, &seen);
	run_until(w, seen.n_done);
	return seen;
}

void
use_plugin(struct world *w, const char *body)
{
	char text[4096];

	snprintf(text, sizeof(text), "#!/bin/sh\nD=%s\n%s", w->dir, body);
	chmod(temp_file(w->dir, "plugin", text), 0755);
	free(w->config.exec.command);
	free(w->config.exec.api_version);
	w->config.exec.command = strdup(temp_path(w->dir, "plugin"));
	w->config.exec.api_version = strdup(EXEC_V1);
}

const char *
read_file(const struct world *w, const char *name)
{
	static char text[8192];
	FILE *file = fopen(temp_path(w->dir, name), "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[n] = '\0';
	if (file)
		fclose(file);
	return text;
}

struct transport_stats
stats_of(const struct world *w)
{
	struct transport_stats stats;

	transport_stats(w->transport, &stats);
	return stats;
}

int
transport_world_setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	void *dir = NULL;

	signal(SIGPIPE, SIG_IGN);
	test_clock_stop();
	if (!w || temp_dir_setup(&dir) < 0)
		return -1;
	w->dir = dir;
	uv_loop_init(&w->loop);
	*state = w;
	return 0;
}

int
transport_world_teardown(void **state)
{
	struct world *w = *state;
	void *dir = w->dir;
	int r;

	transport_free(w->transport);
	test_loop_until(&w->loop, !uv_loop_alive(&w->loop));
	r = uv_loop_close(&w->loop); /* EBUSY when a handle was forgotten */
	http_fixture_free(w->server);
	kube_client_config_done(&w->config);
	temp_dir_teardown(&dir);
	free(w);
	return r;
}

void
make_certificates(struct world *w)
{
	char command[4096];

	snprintf(command, sizeof(command),
		 "cd %s && exec 2>/dev/null && command -v openssl >/dev/null &&"
		 " openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out "
		 "ca.crt -days 2"
		 " -subj /CN=test-ca &&"
		 " openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout s.key -out s.csr "
		 "-subj /CN=api &&"
		 " printf 'subjectAltName=DNS:api.test,IP:127.0.0.1' >ext &&"
		 " openssl x509 -req -in s.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile ext "
		 "-out s.crt &&"
		 " openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout c.key -out c.csr "
		 "-subj /CN=our-own &&"
		 " openssl x509 -req -in c.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out c.crt",
		 w->dir);
	if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES || system(command) != 0) {
		print_message("SKIP openssl, or a libmicrohttpd with TLS, is not there\n");
		skip();
	}
}

/* A server with these certificates. */
void
start_tls(struct world *w, const struct http_route *routes)
{
	make_certificates(w);
	w->server = http_fixture_new(routes, temp_path(w->dir, "s.key"), temp_path(w->dir, "s.crt"));
}
