/* SPDX-License-Identifier: Apache-2.0 */
/* Answers from a table of routes, over raw_server.h. */
#include "tests/support/http_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/support/raw_server.h"

struct http_fixture {
	const struct http_route *routes;
	struct raw_server *server;
	char url[64];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	char *stream; /* everything sent on stream routes */
	size_t stream_len;
	bool ended;
	char answer[1024];
};

static bool
write_chunk(struct duplex *d, const char *data, size_t length)
{
	char head[32];
	int n = snprintf(head, sizeof(head), "%zx\r\n", length);

	return duplex_write(d, head, (size_t)n) && duplex_write(d, data, length) &&
	       duplex_write(d, "\r\n", 2);
}

static bool
send_stream(struct http_fixture *f, struct duplex *d)
{
	bool more = true;
	size_t at = 0;

	while (more) {
		char *piece = NULL;
		size_t n;

		pthread_mutex_lock(&f->lock);
		while (f->stream_len == at && !f->ended)
			pthread_cond_wait(&f->changed, &f->lock);
		n = f->stream_len - at;
		if (n > 0)
			piece = memcpy(malloc(n), f->stream + at, n);
		pthread_mutex_unlock(&f->lock);
		more = n > 0 && write_chunk(d, piece, n);
		at += n;
		free(piece);
	}
	return duplex_write(d, "0\r\n\r\n", 5);
}

static bool
send_generated(struct duplex *d, size_t left)
{
	char block[65536];
	bool sent = true;

	memset(block, 'x', sizeof(block));
	for (size_t n; sent && left > 0; left -= n) {
		n = left < sizeof(block) ? left : sizeof(block);
		sent = duplex_write(d, block, n);
	}
	return sent;
}

/* "PATH" or "PATH?QUERY" of the request line. */
static const char *
target_of(const struct raw_request *request, size_t *ret_path, size_t *ret_query)
{
	const char *target = strchr(request->head, ' ') + 1;
	size_t length = strcspn(target, " ");

	*ret_path = strcspn(target, "? ");
	*ret_query = *ret_path < length ? length - *ret_path - 1 : 0;
	return target;
}

static bool
is_for(const struct raw_request *request, const char *path)
{
	size_t length, query;
	const char *target = target_of(request, &length, &query);

	return strlen(path) == length && memcmp(target, path, length) == 0;
}

static const struct http_route *
find_route(const struct http_fixture *f, const struct raw_request *request)
{
	static const struct http_route missing = {.status = 404,
						  .body = "{\"kind\":\"Status\",\"code\":404}"},
				       stranger = {.status = 401,
						   .body = "{\"kind\":\"Status\",\"code\":401}"},
				       unchanged = {.status = 304};
	const struct http_route *route = f->routes;
	const char *value;

	while (route->path && !is_for(request, route->path))
		route++;
	if (!route->path)
		return &missing;
	value = raw_header(request, "Authorization");
	if (route->bearer &&
	    (!value || strncmp(value, "Bearer ", 7) != 0 || strcmp(value + 7, route->bearer) != 0))
		return &stranger;
	value = raw_header(request, "If-None-Match");
	return route->etag && value && strcmp(value, route->etag) == 0 ? &unchanged : route;
}

static bool
answer(struct raw_server *server, struct duplex *d, const struct raw_request *request, void *ctx)
{
	struct http_fixture *f = ctx;
	const struct http_route *route = find_route(f, request);
	const char *body = route->body ? route->body : "";
	size_t length = route->generated ? route->generated : route->length ? route->length : strlen(body);
	char *head = NULL;
	size_t head_length;
	FILE *text = open_memstream(&head, &head_length);
	bool sent;

	(void)server;
	fprintf(text, "HTTP/1.1 %d Word\r\nContent-Type: %s\r\n", route->status,
		route->content_type ? route->content_type : "application/json");
	if (route->encoding)
		fprintf(text, "Content-Encoding: %s\r\n", route->encoding);
	if (route->retry_after)
		fprintf(text, "Retry-After: %s\r\n", route->retry_after);
	if (route->etag)
		fprintf(text, "ETag: %s\r\n", route->etag);
	if (route->stream)
		fprintf(text, "Transfer-Encoding: chunked\r\n\r\n");
	else
		fprintf(text, "Content-Length: %zu\r\n\r\n", length + route->cut);
	fclose(text);
	sent = duplex_write(d, head, head_length);
	free(head);
	if (sent && route->stream)
		return send_stream(f, d);
	if (sent && route->generated)
		return send_generated(d, length);
	return sent && duplex_write(d, body, length) && !route->cut;
}

struct http_fixture *
http_fixture_new(const struct http_route *routes, const char *key, const char *cert)
{
	struct http_fixture *f = calloc(1, sizeof(*f));

	f->routes = routes;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	f->server = raw_server_new(key, cert, answer, f);
	snprintf(f->url, sizeof(f->url), "%s:%u", key ? "https://localhost" : "http://127.0.0.1",
		 raw_server_port(f->server));
	return f;
}

void
http_fixture_free(struct http_fixture *fixture)
{
	if (!fixture)
		return;
	http_fixture_end(fixture);
	raw_server_free(fixture->server);
	free(fixture->stream);
	pthread_cond_destroy(&fixture->changed);
	pthread_mutex_destroy(&fixture->lock);
	free(fixture);
}

unsigned
http_fixture_port(const struct http_fixture *fixture)
{
	return raw_server_port(fixture->server);
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
	const struct raw_request *request;
	unsigned n = 0;

	for (unsigned i = 0; (request = raw_server_request(fixture->server, i)); i++)
		n += !path || is_for(request, path);
	return n;
}

static const struct raw_request *
newest(struct http_fixture *fixture)
{
	return raw_server_request(fixture->server, raw_server_count(fixture->server) - 1);
}

const char *
http_fixture_header(struct http_fixture *fixture, const char *name)
{
	const struct raw_request *request = newest(fixture);
	size_t length = strlen(name), at = 0;

	fixture->answer[0] = '\0';
	for (const char *line = request ? request->head : ""; (line = strstr(line, "\r\n"));) {
		line += 2;
		if (strncasecmp(line, name, length) == 0 && line[length] == ':')
			at += (size_t)snprintf(fixture->answer + at, sizeof(fixture->answer) - at, "%s%.*s",
					       at ? ", " : "", (int)strcspn(line + length + 2, "\r"),
					       line + length + 2);
	}
	return fixture->answer;
}

const char *
http_fixture_query(struct http_fixture *fixture)
{
	const struct raw_request *request = newest(fixture);
	size_t path = 0, length = 0;
	const char *target = request ? target_of(request, &path, &length) : " ", *from = target + path + 1;
	char *to = fixture->answer;

	for (const char *end = from + length; from < end; from++) {
		unsigned byte;

		if (*from == '%' && sscanf(from + 1, "%2x", &byte) == 1) {
			*to++ = (char)byte;
			from += 2;
		} else {
			*to++ = *from == '+' ? ' ' : *from;
		}
	}
	*to = '\0';
	return fixture->answer;
}
