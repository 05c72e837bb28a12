/* SPDX-License-Identifier: Apache-2.0 */
/* Reading credentials and certificates; see peer.h. */
#include "tools/informer-gateway/http/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

#define TEXTS_MAX 64u           /* organizations, and names, of a certificate */
#define TEXT_MAX ((size_t)1024) /* bytes of one text */

/* ---- kernel ---- */

/* SO_PEERCRED, SO_PEERGROUPS */
static void
add_credentials(struct gw_peer *peer, int fd)
{
	struct ucred credentials;
	socklen_t length = sizeof(credentials);
	socklen_t bytes = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0 ||
	    length != sizeof(credentials) || credentials.uid == (uid_t)-1)
		return;
	peer->has_credentials = true;
	peer->uid = credentials.uid;
	peer->gid = credentials.gid;
	peer->pid = credentials.pid;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes) == 0 || errno != ERANGE || bytes == 0)
		return;
	peer->groups = api_alloc(bytes);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, peer->groups, &bytes) == 0)
		peer->group_count = (unsigned)(bytes / sizeof(gid_t));
}

/* Print an IPv4 address that a dual-stack socket shows as IPv6 as IPv4. */
static void
print_address(char *out, size_t size, const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN] = "";
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (address->sa_family == AF_INET) {
		memcpy(&four, address, sizeof(four));
		inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text));
		snprintf(out, size, "%s:%u", text, (unsigned)ntohs(four.sin_port));
		return;
	}
	memcpy(&six, address, sizeof(six));
	if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
		inet_ntop(AF_INET, six.sin6_addr.s6_addr + 12, text, sizeof(text));
		snprintf(out, size, "%s:%u", text, (unsigned)ntohs(six.sin6_port));
		return;
	}
	inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text));
	snprintf(out, size, "[%s]:%u", text, (unsigned)ntohs(six.sin6_port));
}

void
gw_peer_of_socket(struct gw_peer *ret, int fd, const struct sockaddr *address, socklen_t length, bool tls)
{
	*ret = (struct gw_peer){.transport = tls ? GW_TLS : GW_TCP};
	if ((address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) ||
	    (address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6))) {
		print_address(ret->address, sizeof(ret->address), address);
		return;
	}
	snprintf(ret->address, sizeof(ret->address), "unix");
	if (!tls)
		ret->transport = GW_UNIX;
	add_credentials(ret, fd);
}

/* FNV-1a */
static uint64_t
hash(uint64_t h, const void *data, size_t length)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < length; i++)
		h = (h ^ bytes[i]) * 1099511628211u;
	return h;
}

uint64_t
gw_peer_key(const struct gw_peer *peer)
{
	const char *port = strrchr(peer->address, ':');
	size_t length = port ? (size_t)(port - peer->address) : strlen(peer->address);
	uint64_t h = hash(14695981039346656037u, peer->address, length);

	return peer->has_credentials ? hash(h, &peer->uid, sizeof(peer->uid)) : h;
}

/* ---- certificates ---- */

/* An empty list for add_text(). */
static char **
no_texts(void)
{
	char **texts = api_alloc(sizeof(char *));

	texts[0] = NULL;
	return texts;
}

static void
add_text(char ***texts, const char *prefix, const char *text, size_t length)
{
	struct api_buf buf = {0};
	unsigned count = 0;

	while ((*texts)[count])
		count++;
	/* a name with a zero byte would be read as a shorter one */
	if (count == TEXTS_MAX || memchr(text, 0, length))
		return;
	api_buf_puts(&buf, prefix);
	api_buf_put(&buf, text, length);
	*texts = api_realloc(*texts, (count + 2) * sizeof(char *));
	(*texts)[count] = api_buf_take(&buf);
	(*texts)[count + 1] = NULL;
}

static void
read_subject(struct gw_certificate *c, gnutls_x509_crt_t crt)
{
	char text[TEXT_MAX];
	size_t length;

	for (unsigned i = 0; i < TEXTS_MAX; i++) {
		length = sizeof(text);
		if (gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_ORGANIZATION_NAME, i, 0, text,
						  &length) < 0)
			break;
		add_text(&c->organizations, "", text, length);
	}
	length = sizeof(text);
	if (gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, text, &length) < 0 ||
	    strnlen(text, sizeof(text)) < length)
		text[0] = '\0';
	c->common_name = api_strndup(text, strnlen(text, sizeof(text)));
}

static void
read_names(struct gw_certificate *c, gnutls_x509_crt_t crt)
{
	char text[TEXT_MAX], address[INET6_ADDRSTRLEN];

	for (unsigned i = 0; i < TEXTS_MAX; i++) {
		size_t length = sizeof(text);
		unsigned type;
		int r = gnutls_x509_crt_get_subject_alt_name2(crt, i, text, &length, &type, NULL);

		if (r == GNUTLS_E_SHORT_MEMORY_BUFFER)
			continue;
		if (r < 0)
			break;
		if (type == GNUTLS_SAN_DNSNAME)
			add_text(&c->names, "dns:", text, length);
		else if (type == GNUTLS_SAN_URI)
			add_text(&c->names, "uri:", text, length);
		else if (type == GNUTLS_SAN_RFC822NAME)
			add_text(&c->names, "email:", text, length);
		else if (type == GNUTLS_SAN_IPADDRESS && (length == 4 || length == 16) &&
			 inet_ntop(length == 4 ? AF_INET : AF_INET6, text, address, sizeof(address)))
			add_text(&c->names, "ip:", address, strlen(address));
	}
}

int
gw_peer_add_certificate(struct gw_peer *peer, gnutls_session_t session)
{
	unsigned count = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
	struct gw_certificate *c;
	gnutls_x509_crt_t crt;

	if (!chain || count == 0 || peer->certificate)
		return 0;
	if (gnutls_x509_crt_init(&crt) < 0)
		return -EBADMSG;
	if (gnutls_x509_crt_import(crt, &chain[0], GNUTLS_X509_FMT_DER) < 0) {
		gnutls_x509_crt_deinit(crt);
		return -EBADMSG;
	}
	c = api_alloc(sizeof(*c));
	*c = (struct gw_certificate){.organizations = no_texts(), .names = no_texts()};
	read_subject(c, crt);
	read_names(c, crt);
	c->expires_s = (int64_t)gnutls_x509_crt_get_expiration_time(crt);
	gnutls_x509_crt_deinit(crt);
	peer->certificate = c;
	return 0;
}

static void
free_texts(char **texts)
{
	for (char **text = texts; *text; text++)
		free(*text);
	free(texts);
}

void
gw_peer_done(struct gw_peer *peer)
{
	if (peer->certificate) {
		free(peer->certificate->common_name);
		free_texts(peer->certificate->organizations);
		free_texts(peer->certificate->names);
		free(peer->certificate);
	}
	free(peer->groups);
	*peer = (struct gw_peer){0};
}
