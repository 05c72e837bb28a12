/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_kubeconfig FLAGS...: what informerd's flags and $KUBECONFIG come to, in the words of `kubectl config
 * view --minify --flatten --raw -o json`, so that both can be compared: {"context": ..., "namespace": ...,
 * "cluster": {...}, "user": {...}}. Secrets are shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <sodium.h>

#include "writer/base/file.h"
#include "writer/kube/kubeconfig.h"
#include "writer/base/message.h"
#include "writer/config/options.h"

static void
put(cJSON *object, const char *name, const char *value)
{
	if (value)
		cJSON_AddStringToObject(object, name, value);
}

/* A file is shown as what is in it. */
static void
put_pem(cJSON *object, const char *name, const struct kube_pem *pem)
{
	char key[64], text[65536], *read = NULL;
	size_t len = pem->len;

	if (pem->file && file_read(pem->file, sizeof(text) / 2, &read, &len, NULL) < 0)
		put(object, name, pem->file);
	if (!pem->data && !read)
		return;
	snprintf(key, sizeof(key), "%s-data", name);
	sodium_bin2base64(text, sizeof(text), (const unsigned char *)(read ? read : pem->data), len,
			  sodium_base64_VARIANT_ORIGINAL);
	put(object, key, text);
	free(read);
}

static cJSON *
values(const struct kube_pairs *pairs)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < pairs->n; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(pairs->items[i].value));
	return list;
}

static void
put_exec(cJSON *user, const struct kube_exec *exec)
{
	cJSON *object = cJSON_AddObjectToObject(user, "exec"), *env = cJSON_CreateArray();

	put(object, "apiVersion", exec->api_version);
	put(object, "command", exec->command);
	cJSON_AddItemToObject(object, "args", values(&exec->args));
	for (size_t i = 0; i < exec->env.n; i++) {
		cJSON *item = cJSON_CreateObject();

		put(item, "name", exec->env.items[i].name);
		put(item, "value", exec->env.items[i].value);
		cJSON_AddItemToArray(env, item);
	}
	cJSON_AddItemToObject(object, "env", env);
	cJSON_AddBoolToObject(object, "provideClusterInfo", exec->provide_cluster_info);
}

static void
put_user(cJSON *user, const struct kube_client_config *config)
{
	put(user, "token", config->token);
	put(user, "tokenFile", config->token_file);
	put(user, "username", config->username);
	put(user, "password", config->password);
	put_pem(user, "client-certificate", &config->client_cert);
	put_pem(user, "client-key", &config->client_key);
	put(user, "as", config->as.user);
	put(user, "as-uid", config->as.uid);
	if (config->as.groups.n)
		cJSON_AddItemToObject(user, "as-groups", values(&config->as.groups));
	if (config->exec.command)
		put_exec(user, &config->exec);
}

int
main(int argc, char **argv)
{
	_cleanup_(message_freep) char *error = NULL;
	struct kube_client_config config;
	struct options options;
	cJSON *root = cJSON_CreateObject(), *cluster = cJSON_AddObjectToObject(root, "cluster");
	char *text;

	if (sodium_init() < 0)
		return 1;
	if (options_parse(argc, argv, &options, &error) < 0) {
		fprintf(stderr, "%s\n", error);
		return 2;
	}
	if (kubeconfig_load(&options.flags.choice, &config, &error) < 0) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	put(root, "context", config.context);
	put(root, "namespace", config.namespace_);
	put(cluster, "server", config.server);
	put(cluster, "tls-server-name", config.tls_server_name);
	put(cluster, "proxy-url", config.proxy_url);
	put_pem(cluster, "certificate-authority", &config.ca);
	if (config.insecure_skip_tls_verify)
		cJSON_AddTrueToObject(cluster, "insecure-skip-tls-verify");
	if (config.disable_compression)
		cJSON_AddTrueToObject(cluster, "disable-compression");
	put_user(cJSON_AddObjectToObject(root, "user"), &config);
	text = cJSON_Print(root);
	puts(text);
	free(text);
	cJSON_Delete(root);
	kube_client_config_done(&config);
	options_done(&options);
	return 0;
}
