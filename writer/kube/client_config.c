/* SPDX-License-Identifier: Apache-2.0 */
/* Client configuration; see client_config.h. */
#include "writer/kube/client_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "writer/base/file.h"
#include "writer/base/message.h"

bool
kube_is_printable(const char *text)
{
	while ((unsigned char)*text > 0x20 && (unsigned char)*text < 0x7f)
		text++;
	return !*text;
}

int
kube_pairs_add(struct kube_pairs *pairs, const char *name, const char *value)
{
	struct kube_pair *larger = reallocarray(pairs->items, pairs->n + 1, sizeof(*larger)), pair = {0};

	if (!larger)
		return -ENOMEM;
	pairs->items = larger;
	if ((name && !(pair.name = strdup(name))) || !(pair.value = strdup(value))) {
		free(pair.name);
		return -ENOMEM;
	}
	larger[pairs->n++] = pair;
	return 0;
}

void
kube_pairs_done(struct kube_pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++) {
		free(pairs->items[i].name);
		file_wipe_text(pairs->items[i].value);
	}
	free(pairs->items);
	memset(pairs, 0, sizeof(*pairs));
}

void
kube_pem_done(struct kube_pem *pem)
{
	file_wipe(pem->data, pem->len);
	free(pem->file);
	memset(pem, 0, sizeof(*pem));
}

bool
kube_pem_given(const struct kube_pem *pem)
{
	return pem->data || pem->file;
}

void
kube_exec_done(struct kube_exec *exec)
{
	free(exec->command);
	free(exec->api_version);
	kube_pairs_done(&exec->args);
	kube_pairs_done(&exec->env);
	file_wipe_text(exec->cluster_config);
	free(exec->install_hint);
	memset(exec, 0, sizeof(*exec));
}

void
kube_client_config_done(struct kube_client_config *config)
{
	free(config->server);
	free(config->origin);
	free(config->context);
	free(config->namespace_);
	free(config->tls_server_name);
	file_wipe_text(config->proxy_url); /* may hold a password */
	kube_pem_done(&config->ca);
	kube_pem_done(&config->client_cert);
	kube_pem_done(&config->client_key);
	file_wipe_text(config->token);
	free(config->token_file);
	free(config->username);
	file_wipe_text(config->password);
	kube_exec_done(&config->exec);
	free(config->as.user);
	free(config->as.uid);
	kube_pairs_done(&config->as.groups);
	kube_pairs_done(&config->as.extra);
	memset(config, 0, sizeof(*config));
}

static bool
copy_string(const char *from, char **ret)
{
	return !from || (*ret = strdup(from));
}

static bool
copy_pem(const struct kube_pem *from, struct kube_pem *ret)
{
	if (from->data) {
		ret->data = malloc(from->len + 1);
		if (!ret->data)
			return false;
		memcpy(ret->data, from->data, from->len + 1);
		ret->len = from->len;
	}
	return copy_string(from->file, &ret->file);
}

static bool
copy_pairs(const struct kube_pairs *from, struct kube_pairs *ret)
{
	for (size_t i = 0; i < from->n; i++)
		if (kube_pairs_add(ret, from->items[i].name, from->items[i].value) < 0)
			return false;
	return true;
}

static bool
copy_exec(const struct kube_exec *from, struct kube_exec *ret)
{
	ret->provide_cluster_info = from->provide_cluster_info;
	return copy_string(from->command, &ret->command) &&
	       copy_string(from->api_version, &ret->api_version) && copy_pairs(&from->args, &ret->args) &&
	       copy_pairs(&from->env, &ret->env) && copy_string(from->cluster_config, &ret->cluster_config) &&
	       copy_string(from->install_hint, &ret->install_hint);
}

static bool
copy_impersonation(const struct kube_impersonation *from, struct kube_impersonation *ret)
{
	return copy_string(from->user, &ret->user) && copy_string(from->uid, &ret->uid) &&
	       copy_pairs(&from->groups, &ret->groups) && copy_pairs(&from->extra, &ret->extra);
}

int
kube_client_config_copy(const struct kube_client_config *config, struct kube_client_config *ret)
{
	struct kube_client_config copy = {
		.insecure_skip_tls_verify = config->insecure_skip_tls_verify,
		.http1_only = config->http1_only,
		.disable_compression = config->disable_compression,
		.compression = config->compression,
		.request_timeout_ms = config->request_timeout_ms,
	};

	if (!copy_string(config->server, &copy.server) || !copy_string(config->origin, &copy.origin) ||
	    !copy_string(config->context, &copy.context) ||
	    !copy_string(config->namespace_, &copy.namespace_) ||
	    !copy_string(config->tls_server_name, &copy.tls_server_name) ||
	    !copy_string(config->proxy_url, &copy.proxy_url) || !copy_pem(&config->ca, &copy.ca) ||
	    !copy_pem(&config->client_cert, &copy.client_cert) ||
	    !copy_pem(&config->client_key, &copy.client_key) || !copy_string(config->token, &copy.token) ||
	    !copy_string(config->token_file, &copy.token_file) ||
	    !copy_string(config->username, &copy.username) ||
	    !copy_string(config->password, &copy.password) || !copy_exec(&config->exec, &copy.exec) ||
	    !copy_impersonation(&config->as, &copy.as)) {
		kube_client_config_done(&copy);
		return -ENOMEM;
	}
	*ret = copy;
	return 0;
}

/* The URL, without user and password. */
static int
copy_server(const char *from, char **ret)
{
	CURLU *url = curl_url();
	char *text = NULL;
	CURLUcode code = url ? curl_url_set(url, CURLUPART_URL, from, 0) : CURLUE_OUT_OF_MEMORY;

	if (code == CURLUE_OK)
		code = curl_url_set(url, CURLUPART_USER, NULL, 0);
	if (code == CURLUE_OK)
		code = curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
	if (code == CURLUE_OK)
		code = curl_url_get(url, CURLUPART_URL, &text, 0);
	curl_url_cleanup(url);
	if (code != CURLUE_OK)
		return code == CURLUE_OUT_OF_MEMORY ? -ENOMEM : -EINVAL;
	*ret = strdup(text);
	curl_free(text);
	for (size_t len = *ret ? strlen(*ret) : 0; len > 0 && (*ret)[len - 1] == '/'; len--)
		(*ret)[len - 1] = '\0';
	return *ret ? 0 : -ENOMEM;
}

int
kube_client_config_copy_route(const struct kube_client_config *config, struct kube_client_config *ret)
{
	struct kube_client_config copy = {.insecure_skip_tls_verify = config->insecure_skip_tls_verify,
					  .http1_only = config->http1_only};
	int r = copy_server(config->server, &copy.server);

	if (r == 0 && (!copy_string(config->origin, &copy.origin) ||
		       !copy_string(config->tls_server_name, &copy.tls_server_name) ||
		       !copy_string(config->proxy_url, &copy.proxy_url) || !copy_pem(&config->ca, &copy.ca)))
		r = -ENOMEM;
	if (r < 0)
		kube_client_config_done(&copy);
	else
		*ret = copy;
	return r;
}

int
kube_client_config_read_ca(const struct kube_client_config *config, char **ret_pem, size_t *ret_len,
			   char **ret_error)
{
	if (config->ca.file) {
		int r = file_read(config->ca.file, KUBE_PEM_MAX_BYTES, ret_pem, ret_len, ret_error);

		if (r < 0 || strstr(*ret_pem, "-----BEGIN "))
			return r;
		file_wipe(*ret_pem, *ret_len);
		*ret_pem = NULL;
		return message_set(
			ret_error, -EINVAL,
			"%s: holds no certificate (PEM text that begins with -----BEGIN CERTIFICATE-----)",
			config->ca.file);
	}
	*ret_pem = NULL;
	*ret_len = 0;
	if (config->ca.data) {
		*ret_pem = malloc(config->ca.len + 1);
		if (!*ret_pem)
			return -ENOMEM;
		memcpy(*ret_pem, config->ca.data, config->ca.len + 1);
		*ret_len = config->ca.len;
	}
	return 0;
}
