/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection of a test's server or client: bytes both ways, by TLS or without, blocking.
 *
 * Threads: a connection is used by one; credentials by many.
 */
#ifndef TESTS_SUPPORT_DUPLEX_H
#define TESTS_SUPPORT_DUPLEX_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DUPLEX_BUFFER 32768

struct duplex {
	int fd;				/* -1: closed */
	gnutls_session_t tls;		/* NULL: none */
	size_t begin, end;		/* what was read and not yet taken */
	char buffer[DUPLEX_BUFFER];
};

/* Take the descriptor over. With credentials: shake hands, as server, or as client. False: it is closed. */
bool duplex_begin(struct duplex *d, int fd, gnutls_certificate_credentials_t credentials, bool as_server);
/* Close it; abruptly: by a reset. One that is closed is fine. */
void duplex_end(struct duplex *d, bool abruptly);

/* A connection to a port of 127.0.0.1, or -1. */
int duplex_connect(unsigned port);

/* Does the client of a TLS server show a certificate of the credentials' authority? True without TLS. */
bool duplex_is_trusted(const struct duplex *d);

bool duplex_write(struct duplex *d, const void *data, size_t length);

/* Read more into the buffer, which is not full. False: end, or error. */
bool duplex_fill(struct duplex *d);

/* Take a line, with its \n, of less than size bytes. False: there is none. */
bool duplex_line(struct duplex *d, char *line, size_t size);

/* Wait until one of them can be read, or has something in its buffer. Bits: 1 of a, 2 of b. */
unsigned duplex_wait(const struct duplex *a, const struct duplex *b, int timeout_ms);

#endif
