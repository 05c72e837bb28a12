/* SPDX-License-Identifier: Apache-2.0 */
/* Transport set-up; see transport_setup.h. */
#include "writer/kube/transport_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "writer/base/file.h"
#include "writer/kube/impersonate.h"
#include "writer/kube/proxy.h"
#include "writer/kube/redact.h"
#include "writer/kube/transport.h"
#include "writer/base/message.h"

#define CONNECT_TIMEOUT_S   10L
#define KEEPALIVE_IDLE_S    30L
#define KEEPALIVE_INTERVAL_S 10L
#define KEEPALIVE_PROBES    3
#define UNACKED_TIMEOUT_MS  60000u
#define SILENCE_LIMIT_S	    90L
#define BUFFER_BYTES	    65536L

static bool
is_loopback(const char *host)
{
	return strcasecmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
	       strcmp(host, "[::1]") == 0;
}

/* tls-server-name: the URL has it, so that SNI and verification use it. CONNECT_TO leads to the real host. */
static int
use_server_name(struct transport_setup *setup, CURLU *url, const char *host, const char *port)
{
	const char *name = setup->config->tls_server_name;
	char *entry = NULL, *renamed = NULL;
	int r = -ENOMEM;

	if (asprintf(&entry, "%s:%s:%s:%s", name, port, host, port) < 0) {
		entry = NULL;
		goto out;
	}
	setup->connect_to = curl_slist_append(NULL, entry);
	if (asprintf(&setup->host_header, "Host: %s:%s", host, port) < 0) {
		setup->host_header = NULL;
		goto out;
	}
	if (!setup->connect_to || curl_url_set(url, CURLUPART_HOST, name, 0) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_URL, &renamed, 0) != CURLUE_OK)
		goto out;
	free(setup->base);
	setup->base = strdup(renamed);
	if (!setup->base)
		goto out;
	for (size_t len = strlen(setup->base); len > 0 && setup->base[len - 1] == '/'; len--)
		setup->base[len - 1] = '\0';
	r = 0;
out:
	curl_free(renamed);
	free(entry);
	return r;
}

int
transport_setup_init(struct transport_setup *setup, const struct kube_client_config *config, char **ret_error)
{
	const char *no_http2 = getenv("DISABLE_HTTP2");
	char *host = NULL, *port = NULL, *scheme = NULL;
	CURLU *url = curl_url();
	CURLUcode code;
	int r = -ENOMEM;

	*setup = (struct transport_setup){.config = config, .base = strdup(config->server)};
	if (!url || !setup->base)
		goto out;
	if ((code = curl_url_set(url, CURLUPART_URL, config->server, 0)) != CURLUE_OK ||
	    (code = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0)) != CURLUE_OK ||
	    (code = curl_url_get(url, CURLUPART_HOST, &host, 0)) != CURLUE_OK ||
	    (code = curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT)) != CURLUE_OK) {
		if (code != CURLUE_OUT_OF_MEMORY)
			r = message_set(ret_error, -EINVAL, "the server's URL cannot be understood");
		goto out;
	}
	setup->tls = strcmp(scheme, "https") == 0;
	setup->loopback = is_loopback(host);
	setup->no_http2 = config->http1_only || (no_http2 && *no_http2);
	r = proxy_for_server(config->server, config->proxy_url, &setup->proxy);
	if (r == 0 && !setup->proxy)
		r = (setup->proxy = strdup("")) ? 0 : -ENOMEM;
	if (r < 0)
		goto out;
	setup->may_authenticate = setup->tls || (setup->loopback && !*setup->proxy);
	r = setup->tls && config->tls_server_name ? use_server_name(setup, url, host, port) : 0;
out:
	curl_free(host);
	curl_free(port);
	curl_free(scheme);
	curl_url_cleanup(url);
	if (r < 0)
		transport_setup_done(setup);
	return r;
}

void
transport_setup_done(struct transport_setup *setup)
{
	curl_slist_free_all(setup->connect_to);
	free(setup->host_header);
	free(setup->base);
	if (setup->proxy)
		file_wipe(setup->proxy, strlen(setup->proxy));
	memset(setup, 0, sizeof(*setup));
}

/* Options that libcurl lacks: the number of probes, the limit for unacknowledged data, close-on-exec. */
static int
set_socket_options(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
	int probes = KEEPALIVE_PROBES;
	unsigned timeout_ms = UNACKED_TIMEOUT_MS;

	(void)ctx;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (purpose == CURLSOCKTYPE_IPCXN) {
		/* best effort: without them a dead peer is noticed later */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
		(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
	}
	return CURL_SOCKOPT_OK;
}

static CURLcode
set_blob(CURL *easy, const struct kube_pem *pem, CURLoption option)
{
	struct curl_blob blob = {.data = pem->data, .len = pem->len, .flags = CURL_BLOB_COPY};

	return curl_easy_setopt(easy, option, &blob);
}

static CURLcode
set_ca(CURL *easy, const struct kube_pem *pem, CURLoption blob_option, CURLoption file_option)
{
	return pem->data ? set_blob(easy, pem, blob_option) : curl_easy_setopt(easy, file_option, pem->file);
}

#define SET(option, value)                                                                                   \
	do {                                                                                                 \
		if (curl_easy_setopt(easy, option, value) != CURLE_OK)                                       \
			return -ENOMEM;                                                                      \
	} while (0)

static int
set_tls(const struct transport_setup *setup, CURL *easy)
{
	const struct kube_client_config *config = setup->config;

	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_HTTP_VERSION,
	    setup->no_http2 ? (long)CURL_HTTP_VERSION_1_1 : (long)CURL_HTTP_VERSION_2TLS);
	SET(CURLOPT_PIPEWAIT, 1L);
	SET(CURLOPT_CA_CACHE_TIMEOUT, setup->ca_reread ? 0L : TRANSPORT_SETUP_CA_CACHE_S);
	SET(CURLOPT_KEYPASSWD, ""); /* an encrypted key fails instead of asking at a terminal */
	if (config->insecure_skip_tls_verify) {
		SET(CURLOPT_SSL_VERIFYPEER, 0L);
		SET(CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (kube_pem_given(&config->ca)) {
		SET(CURLOPT_CAPATH, NULL); /* trust the cluster's CA alone, not the system's */
		if (set_ca(easy, &config->ca, CURLOPT_CAINFO_BLOB, CURLOPT_CAINFO) != CURLE_OK)
			return -ENOMEM;
	}
	if (setup->connect_to)
		SET(CURLOPT_CONNECT_TO, setup->connect_to);
	return 0;
}

/* A proxy that is reached by TLS is verified like the server, as in kubectl. */
static int
set_proxy(const struct transport_setup *setup, CURL *easy)
{
	const struct kube_client_config *config = setup->config;

	SET(CURLOPT_PROXY, setup->proxy);
	SET(CURLOPT_NOPROXY, ""); /* proxy_for_server() has decided */
	if (strncasecmp(setup->proxy, "https://", 8) != 0)
		return 0;
	SET(CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (config->insecure_skip_tls_verify) {
		SET(CURLOPT_PROXY_SSL_VERIFYPEER, 0L);
		SET(CURLOPT_PROXY_SSL_VERIFYHOST, 0L);
	}
	if (kube_pem_given(&config->ca)) {
		SET(CURLOPT_PROXY_CAPATH, NULL);
		if (set_ca(easy, &config->ca, CURLOPT_PROXY_CAINFO_BLOB, CURLOPT_PROXY_CAINFO) != CURLE_OK)
			return -ENOMEM;
	}
	return 0;
}

bool
transport_setup_asks_gzip(const struct transport_setup *setup, unsigned flags)
{
	const struct kube_client_config *config = setup->config;

	if (flags & (TRANSPORT_PLAIN | TRANSPORT_WATCH) || config->disable_compression ||
	    config->compression == KUBE_COMPRESSION_NONE)
		return false;
	return config->compression == KUBE_COMPRESSION_GZIP ||
	       !(setup->loopback || flags & TRANSPORT_PROTOBUF);
}

int
transport_setup_request(const struct transport_setup *setup, CURL *easy, const char *path_and_query,
			unsigned flags)
{
	bool watch = (flags & TRANSPORT_WATCH) != 0;
	const struct kube_client_config *config = setup->config;
	_cleanup_(message_freep) char *url = NULL;

	if (asprintf(&url, "%s%s", setup->base, path_and_query) < 0) {
		url = NULL;
		return -ENOMEM;
	}
	SET(CURLOPT_URL, url);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_PATH_AS_IS, 1L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	if (!(flags & TRANSPORT_PLAIN))
		SET(CURLOPT_USERAGENT, "informerd/" INFORMER_VERSION);
	SET(CURLOPT_BUFFERSIZE, BUFFER_BYTES);
	SET(CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	SET(CURLOPT_TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
	SET(CURLOPT_SOCKOPTFUNCTION, set_socket_options);
	if (flags & (TRANSPORT_FRESH | TRANSPORT_OWN_CONNECTION))
		SET(CURLOPT_FRESH_CONNECT, 1L);
	if (flags & TRANSPORT_OWN_CONNECTION)
		SET(CURLOPT_FORBID_REUSE, 1L);
	if (!watch) {
		SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
		SET(CURLOPT_LOW_SPEED_TIME, SILENCE_LIMIT_S);
	}
	if (flags & TRANSPORT_PLAIN)
		SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);
	if (transport_setup_asks_gzip(setup, flags))
		SET(CURLOPT_ACCEPT_ENCODING, "gzip");
	if (!watch && config->request_timeout_ms && !(flags & TRANSPORT_UNTIMED))
		SET(CURLOPT_TIMEOUT_MS, (long)config->request_timeout_ms);
	if (config->username && setup->may_authenticate) {
		SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		SET(CURLOPT_USERNAME, config->username);
		SET(CURLOPT_PASSWORD, config->password);
	}
	if (set_proxy(setup, easy) < 0)
		return -ENOMEM;
	return setup->tls ? set_tls(setup, easy) : 0;
}

static bool
append(struct curl_slist **headers, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*headers, line);

	if (longer)
		*headers = longer;
	return longer;
}

static bool
append_value(struct curl_slist **headers, const char *before, const char *value)
{
	char *line = NULL;
	bool ok = asprintf(&line, "%s %s", before, value) >= 0;

	if (!ok)
		return false;
	ok = append(headers, line);
	file_wipe(line, strlen(line));
	return ok;
}

/*
 * The Accept header, allocated; NULL: no memory.
 *
 * For discovery, an older server sends the form that it has. For metadata with no other form to choose, a
 * server without it answers 406 instead of sending everything. A server ignores a parameter that it does not
 * know (`drop`).
 */
static char *
accept_line(unsigned flags)
{
	const char *as = "", *drop = flags & TRANSPORT_DROP_MANAGED ? ";drop=metadata.managedFields" : "";
	char *line;
	int n;

	if (flags & TRANSPORT_DISCOVERY)
		return strdup("Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
			      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
			      "application/json");
	if (flags & TRANSPORT_METADATA)
		as = flags & TRANSPORT_WATCH ? ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
					     : ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
	if (flags & TRANSPORT_PROTOBUF)
		n = asprintf(&line, "Accept: " TRANSPORT_PROTOBUF_TYPE "%s%s,application/json%s%s", as, drop,
			     as, drop);
	else
		n = asprintf(&line, "Accept: application/json%s%s%s", as, drop,
			     flags & TRANSPORT_ELSE_WHOLE ? ",application/json" : "");
	return n < 0 ? NULL : line;
}

int
transport_setup_identity(const struct transport_setup *setup, CURL *easy, unsigned flags,
			 const struct credentials_now *now, const char *etag, const struct curl_slist *more,
			 struct curl_slist **headers)
{
	_cleanup_(message_freep) char *accept = flags & TRANSPORT_PLAIN ? NULL : accept_line(flags);
	struct curl_slist *list = NULL;
	bool ok;

	ok = flags & TRANSPORT_PLAIN || (accept && append(&list, accept));
	for (; ok && more; more = more->next)
		ok = append(&list, more->data);
	if (ok && setup->host_header)
		ok = append(&list, setup->host_header);
	if (ok && now->bearer && setup->may_authenticate)
		ok = append_value(&list, "Authorization: Bearer", now->bearer);
	if (ok && etag)
		ok = append_value(&list, "If-None-Match:", etag);
	if (ok)
		ok = impersonate_headers(&setup->config->as, &list) == 0;
	if (ok && setup->tls && now->cert)
		ok = set_blob(easy, now->cert, CURLOPT_SSLCERT_BLOB) == CURLE_OK &&
		     set_blob(easy, now->key, CURLOPT_SSLKEY_BLOB) == CURLE_OK;
	if (ok)
		ok = curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list) == CURLE_OK;
	if (!ok) {
		transport_setup_headers_free(list);
		return -ENOMEM;
	}
	transport_setup_headers_free(*headers);
	*headers = list;
	return 0;
}

void
transport_setup_headers_free(struct curl_slist *headers)
{
	for (struct curl_slist *h = headers; h; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	curl_slist_free_all(headers);
}

/*
 * True if the signature is not by the CA that the certificate names. If no known CA has that name, OpenSSL
 * says so. But a cluster's new CA mostly has the old one's name, and then OpenSSL's last error is about the
 * arithmetic.
 */
static bool
is_wrong_signature(const char *detail)
{
	return strstr(detail, "routines::EVP lib") || strstr(detail, "rsa routines") ||
	       strstr(detail, "bad signature");
}

int
transport_setup_explain(const struct transport_setup *setup, CURL *easy, CURLcode code, char *detail,
			char **ret_message)
{
	const char *server = setup->config->server;
	long os_errno = 0, connect_code = 0, proxy_verified = 0;

	(void)curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &connect_code);
	(void)curl_easy_getinfo(easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &proxy_verified);
	if (connect_code == 407)
		return message_set(ret_message, -EACCES,
				   "%s: the proxy %s (407); check the kubeconfig's proxy-url, or HTTPS_PROXY",
				   server,
				   strchr(setup->proxy, '@') ? "does not accept the credentials in its URL"
							     : "wants credentials");
	if (connect_code >= 300)
		return message_set(ret_message, -EPROTO, "%s: the proxy does not lead there (it answers %ld)",
				   server, connect_code);
	(void)curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_errno);
	if (!*detail)
		snprintf(detail, CURL_ERROR_SIZE, "%s", curl_easy_strerror(code));
	redact_userinfo(detail); /* a proxy's URL may be in it */
	if (code == CURLE_SSL_CONNECT_ERROR && is_wrong_signature(detail))
		code = CURLE_PEER_FAILED_VERIFICATION;
	switch (code) {
	case CURLE_COULDNT_CONNECT:
		if (os_errno == ECONNREFUSED)
			return message_set(ret_message, -ECONNREFUSED,
					   "%s: connection refused; nobody listens there", server);
		return message_set(ret_message, os_errno == ETIMEDOUT ? -ETIMEDOUT : -EHOSTUNREACH,
				   "%s: %s%s%s", server, detail, os_errno ? ": " : "",
				   os_errno ? strerror((int)os_errno) : "");
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return message_set(ret_message, -EHOSTUNREACH, "%s: %s", server, detail);
	case CURLE_OPERATION_TIMEDOUT:
		return message_set(ret_message, -ETIMEDOUT, "%s: %s", server, detail);
	case CURLE_SSL_CACERT_BADFILE:
		return message_set(ret_message, -EKEYREJECTED,
				   "%s: the certificate authority cannot be read: %s; check the kubeconfig's "
				   "certificate-authority",
				   server, detail);
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ISSUER_ERROR:
		if (proxy_verified)
			return message_set(ret_message, -EKEYREJECTED,
					   "%s: the proxy's certificate is not accepted (%s); the "
					   "kubeconfig's certificate-authority must vouch for it, too",
					   server, detail);
		return message_set(
			ret_message, -EKEYREJECTED,
			"%s: the server's certificate is not accepted (%s); compare the kubeconfig's "
			"certificate-authority and tls-server-name",
			server, detail);
	case CURLE_SSL_CERTPROBLEM:
		return message_set(ret_message, -EACCES, "%s: client certificate or key: %s", server, detail);
	case CURLE_SSL_CONNECT_ERROR:
		if (strstr(detail, "wrong version number"))
			return message_set(ret_message, -EPROTO,
					   "%s: what answers there is no TLS (%s); is it http://?", server,
					   detail);
		return message_set(ret_message, -EPROTO, "%s: %s", server, detail);
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_SSL_CIPHER:
	case CURLE_BAD_CONTENT_ENCODING:
		return message_set(ret_message, -EPROTO, "%s: %s", server, detail);
	case CURLE_PARTIAL_FILE:
	case CURLE_GOT_NOTHING:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return message_set(ret_message, os_errno == ETIMEDOUT ? -ETIMEDOUT : -ECONNRESET,
				   "%s: the connection ended before the answer did (%s)", server, detail);
	case CURLE_OUT_OF_MEMORY:
		return message_set(ret_message, -ENOMEM, "%s: no memory", server);
	default:
		return message_set(ret_message, -EIO, "%s: %s", server, detail);
	}
}
