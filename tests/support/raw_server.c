/* SPDX-License-Identifier: Apache-2.0 */
/* A server whose requests and answers are plain bytes. */
#include "tests/support/raw_server.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_REQUESTS 1024
#define MAX_CONNECTIONS 512
#define LINE_MAX_BYTES 20000

struct connection {
	struct raw_server *server;
	unsigned number;
	int fd;
	pthread_t thread;
};

struct raw_server {
	raw_answer *answer;
	void *ctx;
	gnutls_certificate_credentials_t credentials;
	int fd;
	unsigned port;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct connection connections[MAX_CONNECTIONS];
	unsigned n_connections;
	struct raw_request *requests[MAX_REQUESTS];
	unsigned n_requests, may_go;
	bool ending;
};

static void
append(char **text, size_t *length, const char *more, size_t n)
{
	*text = realloc(*text, *length + n + 1);
	memcpy(*text + *length, more, n);
	*length += n;
	(*text)[*length] = '\0';
}

static bool
read_head(struct duplex *d, struct raw_request *request)
{
	char *line;
	size_t length = 0;
	bool whole = false;

	/* a TLS client sends no line */
	if ((d->begin == d->end && !duplex_fill(d)) || !isupper((unsigned char)d->buffer[d->begin]))
		return false;
	line = malloc(LINE_MAX_BYTES);
	while (!whole && duplex_line(d, line, LINE_MAX_BYTES)) {
		append(&request->head, &length, line, strlen(line));
		whole = strcmp(line, "\r\n") == 0;
	}
	free(line);
	return whole;
}

static bool
read_body(struct duplex *d, struct raw_request *request)
{
	const char *length = raw_header(request, "Content-Length");
	size_t left = length ? strtoul(length, NULL, 10) : 0;

	request->body = calloc(1, 1);
	while (left > 0) {
		size_t n = d->end - d->begin;

		if (n == 0 && !duplex_fill(d))
			return false;
		n = d->end - d->begin < left ? d->end - d->begin : left;
		append(&request->body, &request->body_length, d->buffer + d->begin, n);
		d->begin += n;
		left -= n;
	}
	return true;
}

static void
remember(struct raw_server *s, struct raw_request *request)
{
	pthread_mutex_lock(&s->lock);
	if (s->n_requests < MAX_REQUESTS)
		s->requests[s->n_requests++] = request;
	pthread_mutex_unlock(&s->lock);
}

static void *
converse(void *ctx)
{
	struct connection *c = ctx;
	struct raw_server *s = c->server;
	struct duplex *d = calloc(1, sizeof(*d));
	bool more = duplex_begin(d, c->fd, s->credentials, true);

	while (more) {
		struct raw_request *request = calloc(1, sizeof(*request));
		unsigned certificates = 0;

		if (d->tls)
			gnutls_certificate_get_peers(d->tls, &certificates);
		request->connection = c->number;
		request->certificate = certificates > 0;
		more = read_head(d, request) && read_body(d, request);
		if (more) {
			remember(s, request);
			more = s->answer(s, d, request, s->ctx);
		} else {
			free(request->head);
			free(request->body);
			free(request);
		}
	}
	pthread_mutex_lock(&s->lock);
	c->fd = -1;
	duplex_end(d, false);
	pthread_mutex_unlock(&s->lock);
	free(d);
	return NULL;
}

static void *
listen_for_ever(void *ctx)
{
	struct raw_server *s = ctx;
	int fd;

	while ((fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		struct connection *c;

		pthread_mutex_lock(&s->lock);
		if (s->ending || s->n_connections == MAX_CONNECTIONS) {
			pthread_mutex_unlock(&s->lock);
			close(fd);
			continue;
		}
		c = &s->connections[s->n_connections++];
		*c = (struct connection){.server = s, .number = s->n_connections, .fd = fd};
		pthread_create(&c->thread, NULL, converse, c);
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

struct raw_server *
raw_server_new(const char *key, const char *cert, raw_answer *answer, void *ctx)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	struct raw_server *s = calloc(1, sizeof(*s));

	s->answer = answer;
	s->ctx = ctx;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	if (key) {
		gnutls_certificate_allocate_credentials(&s->credentials);
		if (gnutls_certificate_set_x509_key_file(s->credentials, cert, key, GNUTLS_X509_FMT_PEM) < 0)
			abort();
	}
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&address, length) < 0 || listen(s->fd, 256) < 0 ||
	    getsockname(s->fd, (struct sockaddr *)&address, &length) < 0)
		abort();
	s->port = ntohs(address.sin_port);
	pthread_create(&s->thread, NULL, listen_for_ever, s);
	return s;
}

void
raw_server_free(struct raw_server *server)
{
	if (!server)
		return;
	pthread_mutex_lock(&server->lock);
	server->ending = true;
	pthread_cond_broadcast(&server->changed);
	shutdown(server->fd, SHUT_RDWR);
	for (unsigned i = 0; i < server->n_connections; i++)
		if (server->connections[i].fd >= 0)
			shutdown(server->connections[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&server->lock);
	pthread_join(server->thread, NULL);
	for (unsigned i = 0; i < server->n_connections; i++)
		pthread_join(server->connections[i].thread, NULL);
	for (unsigned i = 0; i < server->n_requests; i++) {
		free(server->requests[i]->head);
		free(server->requests[i]->body);
		free(server->requests[i]);
	}
	close(server->fd);
	if (server->credentials)
		gnutls_certificate_free_credentials(server->credentials);
	pthread_cond_destroy(&server->changed);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

unsigned
raw_server_port(const struct raw_server *server)
{
	return server->port;
}

unsigned
raw_server_count(struct raw_server *server)
{
	unsigned n;

	pthread_mutex_lock(&server->lock);
	n = server->n_requests;
	pthread_mutex_unlock(&server->lock);
	return n;
}

const struct raw_request *
raw_server_request(struct raw_server *server, unsigned i)
{
	const struct raw_request *request;

	pthread_mutex_lock(&server->lock);
	request = i < server->n_requests ? server->requests[i] : NULL;
	pthread_mutex_unlock(&server->lock);
	return request;
}

const char *
raw_header(const struct raw_request *request, const char *name)
{
	static _Thread_local char value[LINE_MAX_BYTES];
	size_t length = strlen(name);

	for (const char *line = strstr(request->head, "\r\n"); line; line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
			line += length + 1;
			line += strspn(line, " \t");
			snprintf(value, sizeof(value), "%.*s", (int)strcspn(line, "\r\n"), line);
			return value;
		}
	}
	return NULL;
}

bool
raw_server_wait(struct raw_server *server)
{
	bool go;

	pthread_mutex_lock(&server->lock);
	while (server->may_go == 0 && !server->ending)
		pthread_cond_wait(&server->changed, &server->lock);
	go = server->may_go > 0;
	server->may_go -= go;
	pthread_mutex_unlock(&server->lock);
	return go;
}

void
raw_server_go(struct raw_server *server)
{
	pthread_mutex_lock(&server->lock);
	server->may_go++;
	pthread_cond_signal(&server->changed);
	pthread_mutex_unlock(&server->lock);
}

bool
raw_write_json(struct duplex *d, int code, const char *body)
{
	char head[160];
	int n = snprintf(head, sizeof(head),
			 "HTTP/1.1 %d Word\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
			 code, strlen(body));

	return duplex_write(d, head, (size_t)n) && duplex_write(d, body, strlen(body));
}
