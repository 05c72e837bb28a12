/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A blocking connection of a test's server or client, with TLS or without.
 *
 * Threads: one for a connection; many for credentials.
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
	size_t begin, end;		/* read, but not yet taken */
	char buffer[DUPLEX_BUFFER];
};

/* Take over the descriptor. With credentials: shake hands, as server or client. False: failed and closed. */
bool duplex_begin(struct duplex *d, int fd, gnutls_certificate_credentials_t credentials, bool as_server);
/* Close the connection; abruptly: by a reset. A closed one is fine. */
void duplex_end(struct duplex *d, bool abruptly);

/* A connection to a port of 127.0.0.1, or -1. */
int duplex_connect(unsigned port);

/* True if the TLS client showed a certificate of the credentials' authority, or without TLS. */
bool duplex_is_trusted(const struct duplex *d);

bool duplex_write(struct duplex *d, const void *data, size_t length);

/* Read more into the buffer, which must not be full. False: end or error. */
bool duplex_fill(struct duplex *d);

/* Take a line with its \n, shorter than size. False: there is none. */
bool duplex_line(struct duplex *d, char *line, size_t size);

/* Wait until a or b is readable or has buffered bytes. Returns bit 1 for a, bit 2 for b. */
unsigned duplex_wait(const struct duplex *a, const struct duplex *b, int timeout_ms);

#endif
