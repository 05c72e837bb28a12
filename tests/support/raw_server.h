/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server for tests that sees every byte of a request and answers with any bytes. A thread for each
 * connection reads a request's head and body, keeps them, and calls the test to answer.
 *
 * Threads: the answer runs in its connection's thread; the test calls everything else
 */
#ifndef TESTS_SUPPORT_RAW_SERVER_H
#define TESTS_SUPPORT_RAW_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/support/duplex.h"

struct raw_server;

struct raw_request {
	char *head;		/* request line and headers, with the empty line */
	char *body;		/* terminated */
	size_t body_length;
	bool certificate;	/* the client showed one */
	unsigned connection;	/* the server's first is 1 */
};

/* Answer by writing to d, or read on. False: end the connection, abruptly if that is set. */
typedef bool raw_answer(struct raw_server *server, struct duplex *d, const struct raw_request *request,
			void *ctx);

/*
 * Start on a port of 127.0.0.1.
 *
 * key, cert  paths of PEM files, or NULL: no TLS. A client certificate is requested, not required
 */
struct raw_server *raw_server_new(const char *key, const char *cert, raw_answer *answer, void *ctx);
/* Stops the server and its connections. NULL is fine. */
void raw_server_free(struct raw_server *server);

unsigned raw_server_port(const struct raw_server *server);
/* The number of requests so far. */
unsigned raw_server_count(struct raw_server *server);
/* Request i, from 0, valid until the server is freed; NULL: it has not come yet. */
const struct raw_request *raw_server_request(struct raw_server *server, unsigned i);

/* A header's value, valid until the next call on this thread; NULL: absent. */
const char *raw_header(const struct raw_request *request, const char *name);

/* In an answer: wait until the test calls raw_server_go(), once for each answer. False: the server ends. */
bool raw_server_wait(struct raw_server *server);
void raw_server_go(struct raw_server *server);

/* In an answer: write "HTTP/1.1 CODE x", content type JSON, a length, and this text. */
bool raw_write_json(struct duplex *d, int code, const char *body);

#endif
