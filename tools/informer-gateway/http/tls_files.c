/* SPDX-License-Identifier: Apache-2.0 */
/* Reference-counted sets of credentials; see tls_files.h. */
#include "tools/informer-gateway/http/tls_files.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "writer/base/message.h"

#define FILE_MAX ((size_t)1 << 20)
#define FILES 3

enum { CERT, KEY, CLIENT_CA };

struct gw_tls_set {
	unsigned refs;
	gnutls_certificate_credentials_t credentials;
};

struct gw_tls {
	char *paths[FILES];      /* NULL: not configured */
	struct stat seen[FILES]; /* the files that were read */
	bool client_required;
	struct gw_tls_set *set;
};

void
gw_tls_set_unref(struct gw_tls_set *set)
{
	if (!set || --set->refs > 0)
		return;
	gnutls_certificate_free_credentials(set->credentials);
	free(set);
}

static int
read_file(const char *path, struct stat *ret_seen, struct api_buf *ret_text, char **ret_error)
{
	int r = 0;

	if (path)
		r = stat(path, ret_seen) < 0 ? -errno : api_buf_read_file(ret_text, path, FILE_MAX);
	return r < 0 ? message_set(ret_error, r, "%s: %s", path, strerror(-r)) : 0;
}

static gnutls_datum_t
datum(const struct api_buf *text)
{
	return (gnutls_datum_t){.data = (unsigned char *)text->data, .size = (unsigned)text->len};
}

static int
make_set(const struct gw_tls *tls, const struct api_buf *texts, struct gw_tls_set **ret_set, char **ret_error)
{
	gnutls_datum_t cert = datum(&texts[CERT]), key = datum(&texts[KEY]), ca = datum(&texts[CLIENT_CA]);
	struct gw_tls_set *set = api_alloc(sizeof(*set));
	int r;

	*set = (struct gw_tls_set){.refs = 1};
	r = gnutls_certificate_allocate_credentials(&set->credentials);
	if (r < 0) {
		free(set);
		return message_set(ret_error, -ENOMEM, "%s: %s", tls->paths[CERT], gnutls_strerror(r));
	}
	r = gnutls_certificate_set_x509_key_mem(set->credentials, &cert, &key, GNUTLS_X509_FMT_PEM);
	if (r < 0) {
		gw_tls_set_unref(set);
		return message_set(ret_error, -EINVAL, "%s: %s", tls->paths[CERT], gnutls_strerror(r));
	}
	if (tls->paths[CLIENT_CA]) {
		r = ca.size ? gnutls_certificate_set_x509_trust_mem(set->credentials, &ca,
								    GNUTLS_X509_FMT_PEM)
			    : 0;
		if (r <= 0) {
			gw_tls_set_unref(set);
			return message_set(ret_error, -EINVAL, "%s: %s", tls->paths[CLIENT_CA],
					   r < 0 ? gnutls_strerror(r) : "there is no certificate in it");
		}
	}
	*ret_set = set;
	return 0;
}

int
gw_tls_reload(struct gw_tls *tls, char **ret_error)
{
	struct api_buf texts[FILES] = {0};
	struct stat seen[FILES] = {0};
	struct gw_tls_set *set = NULL;
	int r = 0;

	for (unsigned i = 0; i < FILES && r == 0; i++)
		r = read_file(tls->paths[i], &seen[i], &texts[i], ret_error);
	if (r == 0)
		r = make_set(tls, texts, &set, ret_error);
	if (texts[KEY].data)
		explicit_bzero(texts[KEY].data, texts[KEY].len);
	for (unsigned i = 0; i < FILES; i++)
		api_buf_done(&texts[i]);
	if (r < 0)
		return r;
	memcpy(tls->seen, seen, sizeof(seen));
	gw_tls_set_unref(tls->set);
	tls->set = set;
	return 0;
}

int
gw_tls_open(const char *cert, const char *key, const char *client_ca, bool client_required,
	    struct gw_tls **ret_tls, char **ret_error)
{
	const char *paths[FILES] = {cert, key, client_ca};
	struct gw_tls *tls = api_alloc(sizeof(*tls));
	int r;

	*tls = (struct gw_tls){.client_required = client_required};
	for (unsigned i = 0; i < FILES; i++)
		if (paths[i])
			tls->paths[i] = api_strndup(paths[i], strlen(paths[i]));
	r = gw_tls_reload(tls, ret_error);
	if (r < 0) {
		gw_tls_free(tls);
		return r;
	}
	*ret_tls = tls;
	return 0;
}

void
gw_tls_free(struct gw_tls *tls)
{
	if (!tls)
		return;
	for (unsigned i = 0; i < FILES; i++)
		free(tls->paths[i]);
	gw_tls_set_unref(tls->set);
	free(tls);
}

static bool
same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A missing file is being replaced: false, so that the next look decides. */
bool
gw_tls_changed(const struct gw_tls *tls)
{
	bool changed = false;
	struct stat now;

	for (unsigned i = 0; i < FILES; i++) {
		if (!tls->paths[i])
			continue;
		if (stat(tls->paths[i], &now) < 0)
			return false;
		changed |= !same(&now, &tls->seen[i]);
	}
	return changed;
}

/* Called in the handshake, also without a client certificate. Returns 0 to continue. */
static int
verify(gnutls_session_t session)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	unsigned count = 0, status = 0;

	/* gnutls has already refused clients without a required certificate */
	if (!gnutls_certificate_get_peers(session, &count) || count == 0)
		return 0;
	if (gnutls_certificate_verify_peers(session, &purpose, 1, &status) < 0 || status != 0)
		return -1;
	return 0;
}

struct gw_tls_set *
gw_tls_install(struct gw_tls *tls, gnutls_session_t session)
{
	tls->set->refs++;
	gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->set->credentials);
	if (tls->paths[CLIENT_CA]) {
		gnutls_certificate_server_set_request(session, tls->client_required ? GNUTLS_CERT_REQUIRE
										   : GNUTLS_CERT_REQUEST);
		gnutls_session_set_verify_function(session, verify);
	}
	return tls->set;
}
