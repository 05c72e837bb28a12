/* SPDX-License-Identifier: Apache-2.0 */
/* A tiny HTTP server for tests; see http_fixture.h. */
#include "tests/support/http_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include <microhttpd.h>

#define MAX_HEADERS 32
#define MAX_SEEN    512

struct http_fixture {
	const struct http_route *routes;
	struct MHD_Daemon *daemon;
	unsigned port;
	char url[64];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	char *stream; /* all that was sent on stream routes */
	size_t stream_len;
	bool ended;
	char *seen[MAX_SEEN]; /* the requests' paths */
	unsigned n_seen;
	struct {
		char name[64], value[512];
	} headers[MAX_HEADERS]; /* of the newest request */
	size_t n_headers;
	char query[1024], answer[1024];
};

struct reply {
	struct http_fixture *fixture;
	const struct http_route *route;
};

static enum MHD_Result
note_header(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct http_fixture *f = ctx;

	(void)kind;
	if (f->n_headers < MAX_HEADERS) {
		snprintf(f->headers[f->n_headers].name, sizeof(f->headers[0].name), "%s", name);
		snprintf(f->headers[f->n_headers++].value, sizeof(f->headers[0].value), "%s",
			 value ? value : "");
	}
	return MHD_YES;
}

static enum MHD_Result
note_argument(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct http_fixture *f = ctx;
	size_t at = strlen(f->query);

	(void)kind;
	snprintf(f->query + at, sizeof(f->query) - at, "%s%s%s%s", at ? "&" : "", name, value ? "=" : "",
		 value ? value : "");
	return MHD_YES;
}

static ssize_t
send_stream(void *ctx, uint64_t at, char *to, size_t max)
{
	struct reply *reply = ctx;
	struct http_fixture *f = reply->fixture;
	ssize_t n = MHD_CONTENT_READER_END_OF_STREAM;

	pthread_mutex_lock(&f->lock);
	while (f->stream_len <= at && !f->ended)
		pthread_cond_wait(&f->changed, &f->lock);
	if (f->stream_len > at) {
		n = (ssize_t)(f->stream_len - at < max ? f->stream_len - at : max);
		memcpy(to, f->stream + at, (size_t)n);
	}
	pthread_mutex_unlock(&f->lock);
	return n;
}

static ssize_t
send_generated(void *ctx, uint64_t at, char *to, size_t max)
{
	struct reply *reply = ctx;
	size_t left = reply->route->generated - (size_t)at;

	if (left == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	memset(to, 'x', left < max ? left : max);
	return (ssize_t)(left < max ? left : max);
}

static ssize_t
send_cut(void *ctx, uint64_t at, char *to, size_t max)
{
	struct reply *reply = ctx;
	size_t len = strlen(reply->route->body);

	if (at >= len)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	len = len - (size_t)at < max ? len - (size_t)at : max;
	memcpy(to, reply->route->body + at, len);
	return (ssize_t)len;
}

static struct MHD_Response *
respond(struct http_fixture *f, const struct http_route *route)
{
	struct reply *reply;
	struct MHD_Response *response;
	const char *body = route->body ? route->body : "";

	if (!route->stream && !route->generated && !route->cut)
		return MHD_create_response_from_buffer(route->length ? route->length : strlen(body),
						       (void *)(uintptr_t)body, MHD_RESPMEM_PERSISTENT);
	reply = calloc(1, sizeof(*reply));
	*reply = (struct reply){f, route};
	response = MHD_create_response_from_callback(route->cut ? strlen(body) + 1 : MHD_SIZE_UNKNOWN, 65536,
						     route->stream ? send_stream
						     : route->cut  ? send_cut
								   : send_generated,
						     reply, free);
	return response;
}

static bool
shows(struct MHD_Connection *connection, const char *bearer)
{
	const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");

	return value && strncmp(value, "Bearer ", 7) == 0 && strcmp(value + 7, bearer) == 0;
}

static bool
has(struct MHD_Connection *connection, const char *etag)
{
	const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-None-Match");

	return value && strcmp(value, etag) == 0;
}

static enum MHD_Result
on_request(void *ctx, struct MHD_Connection *connection, const char *url, const char *method,
	   const char *version, const char *data, size_t *data_size, void **request_ctx)
{
	static const struct http_route missing = {
		.path = "", .status = 404, .body = "{\"kind\":\"Status\",\"code\":404}"};
	static const struct http_route stranger = {
		.path = "", .status = 401, .body = "{\"kind\":\"Status\",\"code\":401}"};
	static const struct http_route unchanged = {.path = "", .status = 304};
	struct http_fixture *f = ctx;
	const struct http_route *route = f->routes;
	struct MHD_Response *response;
	enum MHD_Result r;

	(void)method;
	(void)version;
	(void)data;
	(void)data_size;
	/*
	 * Whoever answers at the first call, before the (empty) body is read, closes the connection with
	 * it.
	 */
	if (!*request_ctx) {
		*request_ctx = f;
		return MHD_YES;
	}
	pthread_mutex_lock(&f->lock);
	f->n_headers = 0;
	f->query[0] = '\0';
	MHD_get_connection_values(connection, MHD_HEADER_KIND, note_header, f);
	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, note_argument, f);
	if (f->n_seen < MAX_SEEN)
		f->seen[f->n_seen++] = strdup(url);
	pthread_mutex_unlock(&f->lock);
	while (route->path && strcmp(route->path, url) != 0)
		route++;
	if (!route->path)
		route = &missing;
	if (route->bearer && !shows(connection, route->bearer))
		route = &stranger;
	if (route->etag && has(connection, route->etag))
		route = &unchanged;
	response = respond(f, route);
	MHD_add_response_header(response, "Content-Type",
				route->content_type ? route->content_type : "application/json");
	if (route->encoding)
		MHD_add_response_header(response, "Content-Encoding", route->encoding);
	if (route->retry_after)
		MHD_add_response_header(response, "Retry-After", route->retry_after);
	if (route->etag)
		MHD_add_response_header(response, "ETag", route->etag);
	r = MHD_queue_response(connection, (unsigned)route->status, response);
	MHD_destroy_response(response);
	return r;
}

struct http_fixture *
http_fixture_new(const struct http_route *routes, const char *key, const char *cert)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION;
	struct http_fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->routes = routes;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	if (key)
		f->daemon = MHD_start_daemon(flags | MHD_USE_TLS, 0, NULL, NULL, on_request, f,
					     MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_HTTPS_MEM_KEY, key,
					     MHD_OPTION_HTTPS_MEM_CERT, cert, MHD_OPTION_END);
	else
		f->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, f, MHD_OPTION_SOCK_ADDR,
					     &address, MHD_OPTION_END);
	if (!f->daemon) {
		fprintf(stderr, "the test server does not start\n");
		http_fixture_free(f);
		return NULL;
	}
	f->port = MHD_get_daemon_info(f->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
	snprintf(f->url, sizeof(f->url), "%s:%u", key ? "https://localhost" : "http://127.0.0.1", f->port);
	return f;
}

void
http_fixture_free(struct http_fixture *fixture)
{
	if (!fixture)
		return;
	http_fixture_end(fixture);
	if (fixture->daemon)
		MHD_stop_daemon(fixture->daemon);
	for (unsigned i = 0; i < fixture->n_seen; i++)
		free(fixture->seen[i]);
	free(fixture->stream);
	pthread_cond_destroy(&fixture->changed);
	pthread_mutex_destroy(&fixture->lock);
	free(fixture);
}

unsigned
http_fixture_port(const struct http_fixture *fixture)
{
	return fixture->port;
}

const char *
http_fixture_url(const struct http_fixture *fixture)
{
	return fixture->url;
}

void
http_fixture_send(struct http_fixture *fixture, const char *text)
{
	size_t len = strlen(text);

	pthread_mutex_lock(&fixture->lock);
	fixture->stream = realloc(fixture->stream, fixture->stream_len + len);
	memcpy(fixture->stream + fixture->stream_len, text, len);
	fixture->stream_len += len;
	pthread_cond_broadcast(&fixture->changed);
	pthread_mutex_unlock(&fixture->lock);
}

void
http_fixture_end(struct http_fixture *fixture)
{
	pthread_mutex_lock(&fixture->lock);
	fixture->ended = true;
	pthread_cond_broadcast(&fixture->changed);
	pthread_mutex_unlock(&fixture->lock);
}

unsigned
http_fixture_count(struct http_fixture *fixture, const char *path)
{
	unsigned n = 0;

	pthread_mutex_lock(&fixture->lock);
	for (unsigned i = 0; i < fixture->n_seen; i++)
		n += !path || strcmp(fixture->seen[i], path) == 0;
	pthread_mutex_unlock(&fixture->lock);
	return n;
}

const char *
http_fixture_header(struct http_fixture *fixture, const char *name)
{
	pthread_mutex_lock(&fixture->lock);
	fixture->answer[0] = '\0';
	for (size_t i = 0; i < fixture->n_headers; i++)
		if (strcasecmp(fixture->headers[i].name, name) == 0) {
			size_t at = strlen(fixture->answer);

			snprintf(fixture->answer + at, sizeof(fixture->answer) - at, "%s%s", at ? ", " : "",
				 fixture->headers[i].value);
		}
	pthread_mutex_unlock(&fixture->lock);
	return fixture->answer;
}

const char *
http_fixture_query(struct http_fixture *fixture)
{
	pthread_mutex_lock(&fixture->lock);
	snprintf(fixture->answer, sizeof(fixture->answer), "%s", fixture->query);
	pthread_mutex_unlock(&fixture->lock);
	return fixture->answer;
}
