/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of credentials, counted; see tls_files.h. */
#include "tools/informer-gateway/http/tls_files.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX ((size_t)1 << 20)
#define FILES 3

enum { CERT, KEY, CLIENT_CA };

struct gw_tls_set {
	unsigned refs;
	gnutls_certificate_credentials_t credentials;
};

struct file {
	char *path; /* NULL: there is none */
	struct stat seen;
	struct api_buf text;
};

struct gw_tls {
	struct file files[FILES];
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
complain(char **ret_error, int r, const char *path, const char *why)
{
	struct api_buf text = {0};

	api_buf_printf(&text, "%s: %s", path, why);
	*ret_error = api_buf_take(&text);
	return r;
}

static int
read_file(const struct file *file, struct file *ret, char **ret_error)
{
	int r;

	*ret = (struct file){0};
	if (!file->path)
		return 0;
	if (stat(file->path, &ret->seen) < 0)
		r = -errno;
	else
		r = api_buf_read_file(&ret->text, file->path, FILE_MAX);
	return r < 0 ? complain(ret_error, r, file->path, strerror(-r)) : 0;
}

static gnutls_datum_t
datum(const struct file *file)
{
	return (gnutls_datum_t){.data = (unsigned char *)file->text.data, .size = (unsigned)file->text.len};
}

static int
make_set(const struct gw_tls *tls, const struct file *read, struct gw_tls_set **ret_set, char **ret_error)
{
	gnutls_datum_t cert = datum(&read[CERT]), key = datum(&read[KEY]), ca = datum(&read[CLIENT_CA]);
	struct gw_tls_set *set = api_alloc(sizeof(*set));
	int r;

	*set = (struct gw_tls_set){.refs = 1};
	r = gnutls_certificate_allocate_credentials(&set->credentials);
	if (r < 0) {
		free(set);
		return complain(ret_error, -ENOMEM, tls->files[CERT].path, gnutls_strerror(r));
	}
	r = gnutls_certificate_set_x509_key_mem(set->credentials, &cert, &key, GNUTLS_X509_FMT_PEM);
	if (r < 0) {
		gw_tls_set_unref(set);
		return complain(ret_error, -EINVAL, tls->files[CERT].path, gnutls_strerror(r));
	}
	if (read[CLIENT_CA].text.len) {
		r = gnutls_certificate_set_x509_trust_mem(set->credentials, &ca, GNUTLS_X509_FMT_PEM);
		if (r <= 0) {
			gw_tls_set_unref(set);
			return complain(ret_error, -EINVAL, tls->files[CLIENT_CA].path,
					r < 0 ? gnutls_strerror(r) : "there is no certificate in it");
		}
	}
	*ret_set = set;
	return 0;
}

static void
clear(struct api_buf *text)
{
	if (text->data)
		explicit_bzero(text->data, text->len);
	api_buf_done(text);
}

int
gw_tls_reload(struct gw_tls *tls, char **ret_error)
{
	struct file read[FILES] = {0};
	struct gw_tls_set *set = NULL;
	int r = 0;

	for (unsigned i = 0; i < FILES && r == 0; i++)
		r = read_file(&tls->files[i], &read[i], ret_error);
	if (r == 0 && tls->files[CLIENT_CA].path && !read[CLIENT_CA].text.len)
		r = complain(ret_error, -EINVAL, tls->files[CLIENT_CA].path, "it is empty");
	if (r == 0)
		r = make_set(tls, read, &set, ret_error);
	for (unsigned i = 0; i < FILES; i++) {
		if (r == 0) {
			clear(&tls->files[i].text);
			tls->files[i].text = read[i].text;
			tls->files[i].seen = read[i].seen;
		} else {
			clear(&read[i].text);
		}
	}
	if (r < 0)
		return r;
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
			tls->files[i].path = api_strndup(paths[i], strlen(paths[i]));
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
	for (unsigned i = 0; i < FILES; i++) {
		free(tls->files[i].path);
		clear(&tls->files[i].text);
	}
	gw_tls_set_unref(tls->set);
	free(tls);
}

static bool
same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* One that is not there at the moment is just being replaced. */
bool
gw_tls_changed(const struct gw_tls *tls)
{
	bool changed = false;
	struct stat now;

	for (unsigned i = 0; i < FILES; i++) {
		if (!tls->files[i].path)
			continue;
		if (stat(tls->files[i].path, &now) < 0)
			return false;
		changed |= !same(&now, &tls->files[i].seen);
	}
	return changed;
}

void
gw_tls_texts(const struct gw_tls *tls, struct api_buf *cert, struct api_buf *key)
{
	api_buf_put(cert, tls->files[CERT].text.data, tls->files[CERT].text.len);
	api_buf_put(key, tls->files[KEY].text.data, tls->files[KEY].text.len);
}

/* Called within the handshake, also where no certificate was shown. 0: go on. */
static int
verify(gnutls_session_t session)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	unsigned count = 0, status = 0;

	/* where one is required gnutls has refused the handshake already */
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
	if (tls->files[CLIENT_CA].path) {
		gnutls_certificate_server_set_request(session, tls->client_required ? GNUTLS_CERT_REQUIRE
										   : GNUTLS_CERT_REQUEST);
		gnutls_session_set_verify_function(session, verify);
	}
	return tls->set;
}
