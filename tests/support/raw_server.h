/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server for tests that looks at every byte of a request, and whose answers are any bytes: one thread a
 * connection reads a request's head and body, remembers them, and calls the test to answer.
 *
 * Threads   the answer runs on its connection's; all else is called by the test's own
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

/* Answer by writing to d, or read on. False: the connection ends, abruptly if it was set so. */
typedef bool raw_answer(struct raw_server *server, struct duplex *d, const struct raw_request *request,
			void *ctx);

/*
 * On a port of 127.0.0.1.
 *
 * key, cert  paths of PEM files, or NULL: no TLS. A client's certificate is asked for and not demanded
 */
struct raw_server *raw_server_new(const char *key, const char *cert, raw_answer *answer, void *ctx);
/* Cuts what is under way. NULL is fine. */
void raw_server_free(struct raw_server *server);

unsigned raw_server_port(const struct raw_server *server);
/* How many requests came. */
unsigned raw_server_count(struct raw_server *server);
/* The i-th from 0, which stays until the server is freed; NULL: it did not come yet. */
const struct raw_request *raw_server_request(struct raw_server *server, unsigned i);

/* A header's value into a buffer that stays until the next call on this thread; NULL: there is none. */
const char *raw_header(const struct raw_request *request, const char *name);

/* In an answer: wait until the test calls raw_server_go(), once for each. False: the server ends. */
bool raw_server_wait(struct raw_server *server);
void raw_server_go(struct raw_server *server);

/* In an answer: "HTTP/1.1 CODE x", content type JSON, a length, and this text. */
bool raw_write_json(struct duplex *d, int code, const char *body);

#endif
