/* SPDX-License-Identifier: Apache-2.0 */
/* Makes certificates with GnuTLS, which the HTTP library already needs. */
#include "tools/informer-sim/certs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/serving/buf.h"

/* A certificate and its key. */
struct pair {
	gnutls_x509_crt_t cert;
	gnutls_x509_privkey_t key;
};

enum role { AUTHORITY, SERVER, CLIENT };

void
sim_certs_done(struct sim_certs *certs)
{
	free(certs->ca);
	free(certs->ca_key);
	free(certs->cert);
	free(certs->key);
	free(certs->client);
	free(certs->client_key);
	*certs = (struct sim_certs){0};
}

static void
pair_done(struct pair *pair)
{
	if (pair->cert)
		gnutls_x509_crt_deinit(pair->cert);
	if (pair->key)
		gnutls_x509_privkey_deinit(pair->key);
}

/* The names by which a client may reach the server. */
static int
add_names(gnutls_x509_crt_t cert, const char *address)
{
	const char *const addresses[] = {address, "127.0.0.1", "::1"};
	int r = gnutls_x509_crt_set_subject_alt_name(cert, GNUTLS_SAN_DNSNAME, "localhost", 9,
						     GNUTLS_FSAN_APPEND);

	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses) && r >= 0; i++) {
		unsigned char bytes[16];

		if (inet_pton(AF_INET, addresses[i], bytes) == 1)
			r = gnutls_x509_crt_set_subject_alt_name(cert, GNUTLS_SAN_IPADDRESS, bytes, 4,
								 GNUTLS_FSAN_APPEND);
		else if (inet_pton(AF_INET6, addresses[i], bytes) == 1)
			r = gnutls_x509_crt_set_subject_alt_name(cert, GNUTLS_SAN_IPADDRESS, bytes, 16,
								 GNUTLS_FSAN_APPEND);
	}
	return r;
}

static int
describe(gnutls_x509_crt_t cert, enum role role, const char *address)
{
	static const char *const names[] = {[AUTHORITY] = "CN=informer-sim-ca",
					    [SERVER] = "CN=informer-sim",
					    [CLIENT] = "CN=informer-sim-client,O=system:masters"};
	unsigned usage = role == AUTHORITY ? GNUTLS_KEY_KEY_CERT_SIGN : GNUTLS_KEY_DIGITAL_SIGNATURE;
	unsigned char serial[16];
	time_t now = time(NULL);
	int r;

	randombytes_buf(serial, sizeof(serial));
	serial[0] &= 0x7f; /* positive */
	r = gnutls_x509_crt_set_version(cert, 3);
	r = r < 0 ? r : gnutls_x509_crt_set_serial(cert, serial, sizeof(serial));
	r = r < 0 ? r : gnutls_x509_crt_set_activation_time(cert, now - 3600);
	r = r < 0 ? r : gnutls_x509_crt_set_expiration_time(cert, now + (time_t)365 * 86400);
	r = r < 0 ? r : gnutls_x509_crt_set_dn(cert, names[role], NULL);
	r = r < 0 ? r : gnutls_x509_crt_set_basic_constraints(cert, role == AUTHORITY, -1);
	r = r < 0 ? r : gnutls_x509_crt_set_key_usage(cert, usage);
	if (role == SERVER) {
		r = r < 0 ? r : gnutls_x509_crt_set_key_purpose_oid(cert, GNUTLS_KP_TLS_WWW_SERVER, 0);
		r = r < 0 ? r : add_names(cert, address);
	} else if (role == CLIENT) {
		r = r < 0 ? r : gnutls_x509_crt_set_key_purpose_oid(cert, GNUTLS_KP_TLS_WWW_CLIENT, 0);
	}
	return r;
}

/* Make a pair, signed by the authority; NULL: by itself. */
static int
make(enum role role, const char *address, const struct pair *authority, struct pair *pair)
{
	unsigned char id[64];
	size_t id_len = sizeof(id);
	int r;

	r = gnutls_x509_privkey_init(&pair->key);
	r = r < 0 ? r
		  : gnutls_x509_privkey_generate(pair->key, GNUTLS_PK_ECDSA,
						 GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	r = r < 0 ? r : gnutls_x509_crt_init(&pair->cert);
	r = r < 0 ? r : describe(pair->cert, role, address);
	r = r < 0 ? r : gnutls_x509_crt_set_key(pair->cert, pair->key);
	r = r < 0 ? r : gnutls_x509_crt_get_key_id(pair->cert, 0, id, &id_len);
	r = r < 0 ? r : gnutls_x509_crt_set_subject_key_id(pair->cert, id, id_len);
	if (r < 0)
		return r;
	if (!authority)
		authority = pair;
	return gnutls_x509_crt_sign2(pair->cert, authority->cert, authority->key, GNUTLS_DIG_SHA256, 0);
}

static int
texts(const struct pair *pair, char **ret_cert, char **ret_key)
{
	gnutls_datum_t cert = {0}, key = {0};
	int r = gnutls_x509_crt_export2(pair->cert, GNUTLS_X509_FMT_PEM, &cert);

	r = r < 0 ? r
		  : gnutls_x509_privkey_export2_pkcs8(pair->key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN,
						      &key);
	if (r >= 0) {
		*ret_cert = api_strndup((const char *)cert.data, cert.size);
		*ret_key = api_strndup((const char *)key.data, key.size);
	}
	gnutls_free(cert.data);
	gnutls_free(key.data);
	return r;
}

/* ---- the folder -------------------------------------------------------------- */

static int
read_text(const char *dir, const char *name, struct api_buf *buf)
{
	_cleanup_(api_buf_done) struct api_buf path = {0};

	api_buf_printf(&path, "%s/%s", dir, name);
	return api_buf_read_file(buf, path.data, 1 << 20);
}

/* Read the authority of an earlier run. 0; -ENOENT: there is none; other negative errno. */
static int
read_authority(const char *dir, struct pair *pair)
{
	_cleanup_(api_buf_done) struct api_buf cert = {0};
	_cleanup_(api_buf_done) struct api_buf key = {0};
	gnutls_datum_t datum;
	int r = read_text(dir, "ca.crt", &cert);

	r = r < 0 ? r : read_text(dir, "ca.key", &key);
	if (r < 0)
		return r;
	r = gnutls_x509_crt_init(&pair->cert);
	datum = (gnutls_datum_t){(unsigned char *)cert.data, (unsigned)cert.len};
	r = r < 0 ? r : gnutls_x509_crt_import(pair->cert, &datum, GNUTLS_X509_FMT_PEM);
	r = r < 0 ? r : gnutls_x509_privkey_init(&pair->key);
	datum = (gnutls_datum_t){(unsigned char *)key.data, (unsigned)key.len};
	r = r < 0 ? r : gnutls_x509_privkey_import2(pair->key, &datum, GNUTLS_X509_FMT_PEM, NULL, 0);
	return r < 0 ? -EINVAL : 0;
}

/* Replace the file in one step, so that readers see a complete certificate. */
static int
write_text(const char *dir, const char *name, const char *text)
{
	_cleanup_(api_buf_done) struct api_buf path = {0};
	_cleanup_(api_buf_done) struct api_buf beside = {0};
	FILE *file;
	int fd, r = 0;

	api_buf_printf(&path, "%s/%s", dir, name);
	api_buf_printf(&beside, "%s.%ld.tmp", path.data, (long)getpid());
	fd = open(beside.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		return -errno;
	if (fputs(text, file) < 0)
		r = -EIO;
	if (fclose(file) != 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(beside.data, path.data) < 0)
		r = -errno;
	if (r < 0)
		unlink(beside.data);
	return r;
}

static int
write_all(const char *dir, const struct sim_certs *certs)
{
	int r = write_text(dir, "ca.crt", certs->ca);

	r = r < 0 ? r : write_text(dir, "ca.key", certs->ca_key);
	r = r < 0 ? r : write_text(dir, "server.crt", certs->cert);
	r = r < 0 ? r : write_text(dir, "server.key", certs->key);
	r = r < 0 ? r : write_text(dir, "client.key", certs->client_key);
	return r < 0 ? r : write_text(dir, "client.crt", certs->client);
}

static int
fail(char **ret_error, int r, const char *what, const char *why)
{
	struct api_buf text = {0};

	api_buf_printf(&text, "%s: %s", what, why);
	*ret_error = api_buf_take(&text);
	return r;
}

int
sim_certs_make(const char *address, const char *dir, struct sim_certs *ret_certs, char **ret_error)
{
	struct pair authority = {0}, server = {0}, client = {0};
	struct sim_certs certs = {0};
	bool kept = false;
	int r = 0;

	*ret_error = NULL;
	if (dir && mkdir(dir, 0700) < 0 && errno != EEXIST)
		return fail(ret_error, -errno, dir, strerror(errno));
	if (dir) {
		r = read_authority(dir, &authority);
		kept = r == 0;
		if (r < 0 && r != -ENOENT) {
			fail(ret_error, r, dir,
			     "its ca.crt and ca.key cannot be read as PEM: remove both, or take another "
			     "folder");
			goto out;
		}
	}
	r = kept ? 0 : make(AUTHORITY, address, NULL, &authority);
	r = r < 0 ? r : make(SERVER, address, &authority, &server);
	r = r < 0 ? r : make(CLIENT, address, &authority, &client);
	r = r < 0 ? r : texts(&authority, &certs.ca, &certs.ca_key);
	r = r < 0 ? r : texts(&server, &certs.cert, &certs.key);
	r = r < 0 ? r : texts(&client, &certs.client, &certs.client_key);
	if (r < 0) {
		r = fail(ret_error, -EIO, "certificates", gnutls_strerror(r));
	} else if (dir) {
		r = write_all(dir, &certs);
		if (r < 0)
			fail(ret_error, r, dir, strerror(-r));
	}
out:
	pair_done(&authority);
	pair_done(&server);
	pair_done(&client);
	if (r < 0)
		sim_certs_done(&certs);
	*ret_certs = certs;
	return r < 0 ? r : 0;
}
