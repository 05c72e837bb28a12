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

#define AT(member) offsetof(struct kube_client_config, member)
static const size_t strings[] = {
	AT(server),
	AT(origin),
	AT(context),
	AT(namespace_),
	AT(tls_server_name),
	AT(proxy_url),
	AT(ca.file),
	AT(client_cert.file),
	AT(client_key.file),
	AT(token),
	AT(token_file),
	AT(username),
	AT(password),
	AT(exec.command),
	AT(exec.api_version),
	AT(exec.cluster_config),
	AT(exec.install_hint),
	AT(as.user),
	AT(as.uid),
};
static const size_t pems[] = {AT(ca), AT(client_cert), AT(client_key)};
static const size_t pairs[] = {AT(exec.args), AT(exec.env), AT(as.groups), AT(as.extra)};
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void *
member_at(struct kube_client_config *config, size_t offset)
{
	return (char *)config + offset;
}

void
kube_client_config_done(struct kube_client_config *config)
{
	for (size_t i = 0; i < COUNT(pems); i++)
		kube_pem_done(member_at(config, pems[i]));
	for (size_t i = 0; i < COUNT(pairs); i++)
		kube_pairs_done(member_at(config, pairs[i]));
	for (size_t i = 0; i < COUNT(strings); i++)
		file_wipe_text(*(char **)member_at(config, strings[i]));
	memset(config, 0, sizeof(*config));
}

int
kube_client_config_copy(const struct kube_client_config *config, struct kube_client_config *ret)
{
	struct kube_client_config copy = *config;
	bool ok = true;

	/* a string that cannot be copied becomes NULL: the copy shares nothing */
	for (size_t i = 0; i < COUNT(strings); i++) {
		char **string = member_at(&copy, strings[i]);

		if (*string)
			ok &= (*string = strdup(*string)) != NULL;
	}
	for (size_t i = 0; i < COUNT(pems); i++) {
		struct kube_pem *pem = member_at(&copy, pems[i]);
		char *data = pem->data;

		if (!data)
			continue;
		pem->data = malloc(pem->len + 1);
		if (pem->data)
			memcpy(pem->data, data, pem->len + 1);
		ok &= pem->data != NULL;
	}
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct kube_pairs *to = member_at(&copy, pairs[i]), from = *to;

		*to = (struct kube_pairs){0};
		for (size_t k = 0; ok && k < from.n; k++)
			ok = kube_pairs_add(to, from.items[k].name, from.items[k].value) == 0;
	}
	if (!ok) {
		kube_client_config_done(&copy);
		return -ENOMEM;
	}
	*ret = copy;
	return 0;
}

/* Copy the URL without user and password. */
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
	struct kube_client_config route = {.insecure_skip_tls_verify = config->insecure_skip_tls_verify,
					   .http1_only = config->http1_only,
					   .origin = config->origin,
					   .tls_server_name = config->tls_server_name,
					   .proxy_url = config->proxy_url,
					   .ca = config->ca};
	int r = copy_server(config->server, &route.server);

	if (r == 0)
		r = kube_client_config_copy(&route, ret);
	free(route.server);
	return r;
}

int
kube_pem_read(const struct kube_pem *pem, struct kube_pem *ret, char **ret_error)
{
	*ret = (struct kube_pem){0};
	if (pem->data) {
		ret->data = malloc(pem->len + 1);
		if (!ret->data)
			return -ENOMEM;
		memcpy(ret->data, pem->data, pem->len + 1);
		ret->len = pem->len;
	} else if (pem->file) {
		int r = file_read(pem->file, KUBE_PEM_MAX_BYTES, &ret->data, &ret->len, ret_error);

		if (r < 0 || strstr(ret->data, "-----BEGIN "))
			return r;
		kube_pem_done(ret);
		return message_set(ret_error, -EINVAL, "%s: holds no PEM text (-----BEGIN ...)", pem->file);
	}
	return 0;
}
