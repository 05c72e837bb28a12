/* Transport set-up; see transport_setup.h. */
#include "writer/kube/transport_setup.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "writer/file.h"
#include "writer/message.h"

#define CONNECT_TIMEOUT_S   10L
#define KEEPALIVE_IDLE_S    30L
#define KEEPALIVE_INTERVAL_S 10L
#define KEEPALIVE_PROBES    3
#define UNACKED_TIMEOUT_MS  60000u
#define SILENCE_LIMIT_S	    90L
#define CA_CACHE_S	    60L
#define BUFFER_BYTES	    65536L

static bool
is_loopback(const char *host)
{
	return strcasecmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "[::1]") == 0;
}

/* tls-server-name: the URL names it, so that SNI and verification use it; CONNECT_TO leads to the real host. */
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
	char *host = NULL, *port = NULL, *scheme = NULL;
	CURLU *url = curl_url();
	int r = -ENOMEM;

	*setup = (struct transport_setup){.config = config, .base = strdup(config->server)};
	if (!url || !setup->base)
		goto out;
	if (curl_url_set(url, CURLUPART_URL, config->server, 0) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK) {
		r = message_set(ret_error, -EINVAL, "the server's URL cannot be understood");
		goto out;
	}
	setup->tls = strcmp(scheme, "https") == 0;
	setup->loopback = is_loopback(host);
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
	memset(setup, 0, sizeof(*setup));
}

/* What curl's own keepalive options do not cover: how many probes, and unacknowledged data. */
static int
set_socket_options(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
	int probes = KEEPALIVE_PROBES;
	unsigned timeout_ms = UNACKED_TIMEOUT_MS;

	(void)ctx;
	if (purpose == CURLSOCKTYPE_IPCXN) {
		/* best effort: without them a dead peer is noticed later */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
		(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
	}
	return CURL_SOCKOPT_OK;
}

static CURLcode
set_pem(CURL *easy, const struct kube_pem *pem, CURLoption blob_option, CURLoption file_option)
{
	if (pem->data) {
		struct curl_blob blob = {.data = pem->data, .len = pem->len, .flags = CURL_BLOB_COPY};

		return curl_easy_setopt(easy, blob_option, &blob);
	}
	return pem->file ? curl_easy_setopt(easy, file_option, pem->file) : CURLE_OK;
}

#define SET(option, value)                                                                                             \
	do {                                                                                                           \
		if (curl_easy_setopt(easy, option, value) != CURLE_OK)                                                 \
			return -ENOMEM;                                                                                \
	} while (0)

static int
set_tls(const struct transport_setup *setup, CURL *easy)
{
	const struct kube_client_config *config = setup->config;

	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	SET(CURLOPT_PIPEWAIT, 1L);
	SET(CURLOPT_CA_CACHE_TIMEOUT, CA_CACHE_S);
	SET(CURLOPT_KEYPASSWD, ""); /* an encrypted key fails, and asks nobody at a terminal */
	if (config->insecure_skip_tls_verify) {
		SET(CURLOPT_SSL_VERIFYPEER, 0L);
		SET(CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (config->ca.data || config->ca.file) {
		SET(CURLOPT_CAPATH, NULL); /* the cluster's CA alone, not the system's beside it */
		if (set_pem(easy, &config->ca, CURLOPT_CAINFO_BLOB, CURLOPT_CAINFO) != CURLE_OK)
			return -ENOMEM;
	}
	if (set_pem(easy, &config->client_cert, CURLOPT_SSLCERT_BLOB, CURLOPT_SSLCERT) != CURLE_OK ||
	    set_pem(easy, &config->client_key, CURLOPT_SSLKEY_BLOB, CURLOPT_SSLKEY) != CURLE_OK)
		return -ENOMEM;
	if (setup->connect_to)
		SET(CURLOPT_CONNECT_TO, setup->connect_to);
	return 0;
}

int
transport_setup_request(const struct transport_setup *setup, CURL *easy, const char *path_and_query, bool watch)
{
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
	SET(CURLOPT_USERAGENT, "informerd/" INFORMER_VERSION);
	SET(CURLOPT_BUFFERSIZE, BUFFER_BYTES);
	SET(CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	SET(CURLOPT_TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
	SET(CURLOPT_SOCKOPTFUNCTION, set_socket_options);
	if (!watch) {
		SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
		SET(CURLOPT_LOW_SPEED_TIME, SILENCE_LIMIT_S);
	}
	if (!watch && !setup->loopback)
		SET(CURLOPT_ACCEPT_ENCODING, "gzip");
	if (config->proxy_url)
		SET(CURLOPT_PROXY, config->proxy_url);
	else if (setup->loopback)
		SET(CURLOPT_PROXY, ""); /* as Go: the environment's proxy is not for this machine */
	if (config->username) {
		SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		SET(CURLOPT_USERNAME, config->username);
		SET(CURLOPT_PASSWORD, config->password);
	}
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

struct curl_slist *
transport_setup_headers(const struct transport_setup *setup, const char *bearer)
{
	struct curl_slist *headers = NULL;
	char *line = NULL;
	bool ok;

	ok = append(&headers, "Accept: application/json");
	if (ok && setup->host_header)
		ok = append(&headers, setup->host_header);
	if (ok && bearer) {
		ok = asprintf(&line, "Authorization: Bearer %s", bearer) >= 0;
		if (ok) {
			ok = append(&headers, line);
			file_wipe(line, strlen(line));
		}
	}
	if (ok)
		return headers;
	transport_setup_headers_free(headers);
	return NULL;
}

void
transport_setup_headers_free(struct curl_slist *headers)
{
	for (struct curl_slist *h = headers; h; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	curl_slist_free_all(headers);
}

int
transport_setup_explain(const struct transport_setup *setup, CURL *easy, CURLcode code, const char *detail,
			char **ret_message)
{
	const char *server = setup->config->server;
	long os_errno = 0;

	(void)curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_errno);
	if (!*detail)
		detail = curl_easy_strerror(code);
	switch (code) {
	case CURLE_COULDNT_CONNECT:
		if (os_errno == ECONNREFUSED)
			return message_set(ret_message, -ECONNREFUSED, "%s: connection refused; nobody listens there",
					   server);
		return message_set(ret_message, os_errno == ETIMEDOUT ? -ETIMEDOUT : -EHOSTUNREACH, "%s: %s%s%s", server,
				   detail, os_errno ? ": " : "", os_errno ? strerror((int)os_errno) : "");
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return message_set(ret_message, -EHOSTUNREACH, "%s: %s", server, detail);
	case CURLE_OPERATION_TIMEDOUT:
		return message_set(ret_message, -ETIMEDOUT, "%s: %s", server, detail);
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return message_set(ret_message, -EKEYREJECTED,
				   "%s: the server's certificate is not accepted (%s); compare the kubeconfig's "
				   "certificate-authority and tls-server-name",
				   server, detail);
	case CURLE_SSL_CERTPROBLEM:
		return message_set(ret_message, -EACCES, "%s: client certificate or key: %s", server, detail);
	case CURLE_SSL_CONNECT_ERROR:
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
