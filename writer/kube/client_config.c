/* Client configuration; see client_config.h. */
#include "writer/kube/client_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/file.h"

static void
wipe(char *text)
{
	file_wipe(text, text ? strlen(text) : 0);
}

static void
pem_done(struct kube_pem *pem)
{
	file_wipe(pem->data, pem->len);
	free(pem->file);
}

void
kube_client_config_done(struct kube_client_config *config)
{
	free(config->server);
	free(config->origin);
	free(config->context);
	free(config->namespace_);
	free(config->tls_server_name);
	wipe(config->proxy_url); /* may hold a password */
	pem_done(&config->ca);
	pem_done(&config->client_cert);
	pem_done(&config->client_key);
	wipe(config->token);
	free(config->token_file);
	free(config->username);
	wipe(config->password);
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

int
kube_client_config_copy(const struct kube_client_config *config, struct kube_client_config *ret)
{
	struct kube_client_config copy = {.insecure_skip_tls_verify = config->insecure_skip_tls_verify};

	if (!copy_string(config->server, &copy.server) || !copy_string(config->origin, &copy.origin) ||
	    !copy_string(config->context, &copy.context) || !copy_string(config->namespace_, &copy.namespace_) ||
	    !copy_string(config->tls_server_name, &copy.tls_server_name) ||
	    !copy_string(config->proxy_url, &copy.proxy_url) || !copy_pem(&config->ca, &copy.ca) ||
	    !copy_pem(&config->client_cert, &copy.client_cert) || !copy_pem(&config->client_key, &copy.client_key) ||
	    !copy_string(config->token, &copy.token) || !copy_string(config->token_file, &copy.token_file) ||
	    !copy_string(config->username, &copy.username) || !copy_string(config->password, &copy.password)) {
		kube_client_config_done(&copy);
		return -ENOMEM;
	}
	*ret = copy;
	return 0;
}

int
kube_client_config_read_ca(const struct kube_client_config *config, char **ret_pem, size_t *ret_len, char **ret_error)
{
	if (config->ca.file)
		return file_read(config->ca.file, KUBE_PEM_MAX_BYTES, ret_pem, ret_len, ret_error);
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
