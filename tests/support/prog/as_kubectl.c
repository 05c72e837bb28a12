/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kubectl does, with informerd's flags, so that both can be compared.
 *
 *	as_kubectl get PATH FLAGS...	kubectl get --raw PATH: the body, or why there is none on stderr
 *	as_kubectl view FLAGS...	kubectl config view --minify --flatten --raw -o json, as {"context":
 *					..., "namespace": ..., "cluster": {...}, "user": {...}}
 *
 * Exit 0: a success; 1: none; 2: usage. Secrets are shown.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <sodium.h>

#include "writer/base/file.h"
#include "writer/base/message.h"
#include "writer/config/options.h"
#include "writer/kube/kubeconfig.h"
#include "writer/kube/transport.h"

/* ---- get ---- */

struct answer {
	int status, result;
};

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct answer *answer = ctx;

	answer->status = response->status;
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	(void)ctx;
	return fwrite(data, 1, len, stdout) == len ? 0 : -EIO;
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct answer *answer = ctx;

	answer->result = result < 0 ? result : answer->status / 100 == 2 ? 0 : -EPROTO;
	if (result < 0)
		fprintf(stderr, "%s\n", message);
	else if (answer->result < 0)
		fprintf(stderr, "the server answered %d\n", answer->status);
}

static int
ask(const struct kube_client_config *config, const char *path)
{
	static const struct transport_callbacks callbacks = {on_response, on_data, on_done};
	_cleanup_(message_freep) char *error = NULL;
	struct answer answer = {.result = 1};
	struct transport *transport;
	uv_loop_t loop;

	uv_loop_init(&loop);
	if (transport_new(&loop, config, &transport, &error) < 0) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	if (transport_get(transport, path, 0, &callbacks, &answer, NULL) == 0)
		while (answer.result == 1)
			uv_run(&loop, UV_RUN_ONCE);
	transport_free(transport);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
	return answer.result != 0;
}

static int
get(const struct kube_client_config *config, const char *path)
{
	_cleanup_(message_freep) char *error = NULL;
	struct kube_pem ca;
	int code = 1;

	if (kube_pem_read(&config->ca, &ca, &error) < 0)
		fprintf(stderr, "%s\n", error);
	else
		code = ask(config, path);
	kube_pem_done(&ca);
	return code;
}

/* ---- view ---- */

static void
put(cJSON *object, const char *name, const char *value)
{
	if (value)
		cJSON_AddStringToObject(object, name, value);
}

/* A file's content is shown in place of its name. */
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

static int
view(const struct kube_client_config *config)
{
	cJSON *root = cJSON_CreateObject(), *cluster = cJSON_AddObjectToObject(root, "cluster");
	char *text;

	put(root, "context", config->context);
	put(root, "namespace", config->namespace_);
	put(cluster, "server", config->server);
	put(cluster, "tls-server-name", config->tls_server_name);
	put(cluster, "proxy-url", config->proxy_url);
	put_pem(cluster, "certificate-authority", &config->ca);
	if (config->insecure_skip_tls_verify)
		cJSON_AddTrueToObject(cluster, "insecure-skip-tls-verify");
	if (config->disable_compression)
		cJSON_AddTrueToObject(cluster, "disable-compression");
	put_user(cJSON_AddObjectToObject(root, "user"), config);
	text = cJSON_Print(root);
	puts(text);
	free(text);
	cJSON_Delete(root);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *path = argc > 2 && strcmp(argv[1], "get") == 0 ? argv[2] : NULL;
	int words = path ? 2 : 1, code = 1;
	_cleanup_(message_freep) char *error = NULL;
	struct kube_client_config config;
	struct options options;

	signal(SIGPIPE, SIG_IGN);
	if (sodium_init() < 0 || (!path && (argc < 2 || strcmp(argv[1], "view") != 0)))
		return 2;
	if (options_parse(argc - words, argv + words, &options, &error) < 0) {
		fprintf(stderr, "%s\n", error);
		return 2;
	}
	if (kubeconfig_load(&options.flags.choice, &config, &error) < 0) {
		fprintf(stderr, "%s\n", error);
	} else {
		code = path ? get(&config, path) : view(&config);
		kube_client_config_done(&config);
	}
	options_done(&options);
	return code;
}
