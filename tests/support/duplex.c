/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes both ways for the servers and clients of tests, over plain sockets or GnuTLS. */
#include "tests/support/duplex.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define HANDSHAKE_MS 10000u

static int
shake_hands(struct duplex *d, gnutls_certificate_credentials_t credentials, bool as_server)
{
	int r = gnutls_init(&d->tls, as_server ? GNUTLS_SERVER : GNUTLS_CLIENT);

	if (r < 0) {
		d->tls = NULL;
		return r;
	}
	r = gnutls_set_default_priority(d->tls);
	r = r < 0 ? r : gnutls_credentials_set(d->tls, GNUTLS_CRD_CERTIFICATE, credentials);
	if (r < 0)
		return r;
	if (as_server)
		gnutls_certificate_server_set_request(d->tls, GNUTLS_CERT_REQUEST);
	gnutls_transport_set_int(d->tls, d->fd);
	gnutls_handshake_set_timeout(d->tls, HANDSHAKE_MS);
	do
		r = gnutls_handshake(d->tls);
	while (r < 0 && !gnutls_error_is_fatal(r));
	return r;
}

bool
duplex_begin(struct duplex *d, int fd, gnutls_certificate_credentials_t credentials, bool as_server)
{
	/* otherwise a second write waits up to 40 ms for the acknowledgement of the first */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	*d = (struct duplex){.fd = fd};
	if (!credentials || shake_hands(d, credentials, as_server) >= 0)
		return true;
	duplex_end(d, false);
	return false;
}

void
duplex_end(struct duplex *d, bool abruptly)
{
	struct linger now = {.l_onoff = 1};

	if (d->fd < 0)
		return;
	if (d->tls)
		gnutls_deinit(d->tls);
	if (abruptly)
		setsockopt(d->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(d->fd);
	d->fd = -1;
	d->tls = NULL;
	d->begin = d->end = 0;
}

int
duplex_connect(unsigned port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool
duplex_is_trusted(const struct duplex *d)
{
	unsigned status = 0;

	return !d->tls || (gnutls_certificate_verify_peers2(d->tls, &status) >= 0 && status == 0);
}

bool
duplex_write(struct duplex *d, const void *data, size_t length)
{
	const char *at = data;

	while (length > 0) {
		ssize_t n = d->tls ? gnutls_record_send(d->tls, at, length)
				   : send(d->fd, at, length, MSG_NOSIGNAL);

		if (n < 0 && (d->tls ? !gnutls_error_is_fatal((int)n) : errno == EINTR))
			continue;
		if (n <= 0)
			return false;
		at += n;
		length -= (size_t)n;
	}
	return true;
}

bool
duplex_fill(struct duplex *d)
{
	ssize_t n;

	if (d->fd < 0)
		return false;
	if (d->begin > 0) {
		memmove(d->buffer, d->buffer + d->begin, d->end - d->begin);
		d->end -= d->begin;
		d->begin = 0;
	}
	do {
		char *to = d->buffer + d->end;
		size_t room = sizeof(d->buffer) - d->end;

		n = d->tls ? gnutls_record_recv(d->tls, to, room) : recv(d->fd, to, room, 0);
	} while (n < 0 && (d->tls ? !gnutls_error_is_fatal((int)n) : errno == EINTR));
	if (n <= 0)
		return false;
	d->end += (size_t)n;
	return true;
}

bool
duplex_line(struct duplex *d, char *line, size_t size)
{
	for (;;) {
		char *end = memchr(d->buffer + d->begin, '\n', d->end - d->begin);
		size_t length = end ? (size_t)(end + 1 - (d->buffer + d->begin)) : 0;

		if (end && length < size) {
			memcpy(line, d->buffer + d->begin, length);
			line[length] = '\0';
			d->begin += length;
			return true;
		}
		if (end || d->end - d->begin >= sizeof(d->buffer) || !duplex_fill(d))
			return false;
	}
}

static bool
has_some(const struct duplex *d)
{
	return d->begin < d->end || (d->tls && gnutls_record_check_pending(d->tls) > 0);
}

unsigned
duplex_wait(const struct duplex *a, const struct duplex *b, int timeout_ms)
{
	struct pollfd fds[2] = {{.fd = a->fd, .events = POLLIN}, {.fd = b->fd, .events = POLLIN}};
	unsigned ready = (has_some(a) ? 1u : 0) | (has_some(b) ? 2u : 0);

	if (poll(fds, 2, ready ? 0 : timeout_ms) > 0)
		ready |= (fds[0].revents ? 1u : 0) | (fds[1].revents ? 2u : 0);
	return ready;
}
