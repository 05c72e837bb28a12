/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP server for tests of the transport and its users. It answers from a table of routes, on its own
 * port, with one thread for each connection. A stream route sends what the test passes to
 * http_fixture_send(), until http_fixture_end().
 */
#ifndef TESTS_SUPPORT_HTTP_FIXTURE_H
#define TESTS_SUPPORT_HTTP_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

struct http_route {
	const char *path;	  /* without query */
	int status;
	const char *body;	  /* NULL: none */
	size_t length;		  /* of a body that may contain zero bytes; 0: the body is a text */
	const char *encoding;	  /* Content-Encoding; NULL: no such header */
	const char *content_type; /* NULL: application/json */
	const char *retry_after;  /* NULL: no such header */
	const char *etag;         /* NULL: no such header; otherwise a client that has it gets 304 */
	size_t generated;	  /* this many bytes 'x' in place of a body */
	bool stream;
	const char *bearer;	  /* NULL, or the token that a client needs; otherwise 401 */
	bool cut;		  /* promise one byte more than the body has, then close */
};

struct http_fixture;

/*
 * Start on 127.0.0.1. Routes are borrowed and end with one whose path is NULL; other paths are 404.
 *
 * key, cert  paths of PEM files for TLS, or NULL
 */
struct http_fixture *http_fixture_new(const struct http_route *routes, const char *key, const char *cert);

/* Ends streams, stops the server. NULL is fine. */
void http_fixture_free(struct http_fixture *fixture);

unsigned http_fixture_port(const struct http_fixture *fixture);

/* "http://127.0.0.1:PORT" or "https://localhost:PORT". Borrowed. */
const char *http_fixture_url(const struct http_fixture *fixture);

/* Send on all stream routes. */
void http_fixture_send(struct http_fixture *fixture, const char *text);
void http_fixture_end(struct http_fixture *fixture);

/* The number of requests for a path; NULL: of all requests. */
unsigned http_fixture_count(struct http_fixture *fixture, const char *path);

/* A header of the newest request, or ""; a repeated header as "a, b". Valid until the next call. */
const char *http_fixture_header(struct http_fixture *fixture, const char *name);

/* The newest request's query ("a=b&c=d"), or "". Valid until the next call. */
const char *http_fixture_query(struct http_fixture *fixture);

#endif
