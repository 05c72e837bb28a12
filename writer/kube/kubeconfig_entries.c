/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a cluster and a user of a kubeconfig; see kubeconfig_entries.h. */
#include "writer/kube/kubeconfig_entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/kube/proxy.h"
#include "writer/base/message.h"

#define PLUGIN_EXTENSION "client.authentication.k8s.io/exec"

/* ---- cluster ---------------------------------------------------------------------------- */

/* extensions: [{name: client.authentication.k8s.io/exec, extension: ...}]: handed to a plugin as it is */
static int
take_plugin_extension(const struct kubeconfig_reader *in, const cJSON *cluster, char **ret_json)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(cluster, "extensions"), *entry, *content;

	if (list && !cJSON_IsNull(list) && !cJSON_IsArray(list))
		return yaml_error(in->yaml, list, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "extensions must be a list");
	cJSON_ArrayForEach(entry, list) {
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "name"));

		content = cJSON_GetObjectItemCaseSensitive(entry, "extension");
		if (!name || strcmp(name, PLUGIN_EXTENSION) != 0 || !content)
			continue;
		*ret_json = cJSON_PrintUnformatted(content);
		return *ret_json ? 0 : -ENOMEM;
	}
	return 0;
}

int
kubeconfig_take_cluster(const struct kubeconfig_reader *in, const char *name, const cJSON *cluster,
			const struct kubeconfig_choice *choice, struct kube_client_config *config)
{
	bool trust_by_flag = choice->certificate_authority || choice->insecure_skip_tls_verify;
	const char *proxy_url = NULL;
	int r;

	r = kubeconfig_take_string(in, cluster, "server", &config->server);
	if (r == 0 && !trust_by_flag)
		r = kubeconfig_take_pem(in, cluster, "certificate-authority", &config->ca);
	if (r == 0 && !trust_by_flag)
		r = kubeconfig_take_bool(in, cluster, "insecure-skip-tls-verify",
					 &config->insecure_skip_tls_verify);
	if (r == 0 && !choice->server &&
	    !choice->tls_server_name) /* with --server, the name is another server's */
		r = kubeconfig_take_string(in, cluster, "tls-server-name", &config->tls_server_name);
	if (r == 0)
		r = kubeconfig_get_string(in, cluster, "proxy-url", &proxy_url);
	if (r == 0 && proxy_url && !proxy_url_is_usable(proxy_url))
		return yaml_error(in->yaml, cJSON_GetObjectItemCaseSensitive(cluster, "proxy-url"),
				  YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "proxy-url must be a URL that starts with http://, https:// or socks5://");
	if (r == 0)
		r = kubeconfig_take_string(in, cluster, "proxy-url", &config->proxy_url);
	if (r == 0)
		r = kubeconfig_take_bool(in, cluster, "disable-compression", &config->disable_compression);
	if (r == 0)
		r = take_plugin_extension(in, cluster, &config->exec.cluster_config);
	if (r < 0)
		return r;
	if (config->insecure_skip_tls_verify && kube_pem_given(&config->ca))
		return yaml_error(
			in->yaml, cluster, YAML_AT_VALUE, in->ret_error, -EINVAL,
			"cluster '%s' has a certificate-authority and insecure-skip-tls-verify; keep one",
			name);
	return 0;
}

/* ---- credential plugin ------------------------------------------------------------------- */

static int
take_strings(const struct kubeconfig_reader *in, const cJSON *object, const char *name, const char *as,
	     struct kube_pairs *ret)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, name), *item;
	int r = 0;

	if (list && !cJSON_IsNull(list) && !cJSON_IsArray(list))
		return yaml_error(in->yaml, list, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "%s must be a list of strings", name);
	cJSON_ArrayForEach(item, list) {
		if (!cJSON_IsString(item))
			return yaml_error(in->yaml, item, YAML_AT_VALUE, in->ret_error, -EINVAL,
					  "an element of %s must be a string (put it into quotes)", name);
		r = kube_pairs_add(ret, as, item->valuestring);
		if (r < 0)
			break;
	}
	return r;
}

static int
take_env(const struct kubeconfig_reader *in, const cJSON *exec, struct kube_pairs *ret)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(exec, "env"), *item;
	int r = 0;

	if (list && !cJSON_IsNull(list) && !cJSON_IsArray(list))
		return yaml_error(in->yaml, list, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "env must be a list");
	cJSON_ArrayForEach(item, list) {
		const char *name = NULL, *value = NULL;

		r = kubeconfig_get_string(in, item, "name", &name);
		if (r == 0)
			r = kubeconfig_get_string(in, item, "value", &value);
		if (r == 0 && (!name || strchr(name, '=')))
			r = yaml_error(in->yaml, item, YAML_AT_VALUE, in->ret_error, -EINVAL,
				       "an element of env must have a name (without '=') and a value");
		if (r == 0)
			r = kube_pairs_add(ret, name, value ? value : "");
		if (r < 0)
			break;
	}
	return r;
}

static int
check_interactive_mode(const struct kubeconfig_reader *in, const cJSON *exec, const char *user,
		       bool must_be_said)
{
	const cJSON *field = cJSON_GetObjectItemCaseSensitive(exec, "interactiveMode");
	const char *mode = NULL;
	int r;

	r = kubeconfig_get_string(in, exec, "interactiveMode", &mode);
	if (r < 0)
		return r;
	if (!mode && must_be_said)
		return yaml_error(in->yaml, exec, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "user '%s': exec needs interactiveMode: Never or IfAvailable", user);
	if (mode && strcmp(mode, "Always") == 0)
		return yaml_error(in->yaml, field, YAML_AT_VALUE, in->ret_error, -ENOTSUP,
				  "user '%s': its plugin wants to ask a person (interactiveMode: Always), "
				  "and a daemon has none; use "
				  "another way of the plugin, or a token, tokenFile or client certificate",
				  user);
	if (mode && strcmp(mode, "Never") != 0 && strcmp(mode, "IfAvailable") != 0)
		return yaml_error(in->yaml, field, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "interactiveMode must be Never, IfAvailable or Always");
	return 0;
}

static int
take_exec(const struct kubeconfig_reader *in, const char *user, const cJSON *exec, struct kube_exec *ret)
{
	const char *version = NULL, *command = NULL;
	bool is_v1;
	int r;

	if (!cJSON_IsObject(exec))
		return yaml_error(in->yaml, exec, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "exec must be a mapping");
	r = kubeconfig_get_string(in, exec, "apiVersion", &version);
	if (r == 0)
		r = kubeconfig_get_string(in, exec, "command", &command);
	if (r < 0)
		return r;
	is_v1 = version && strcmp(version, "client.authentication.k8s.io/v1") == 0;
	if (!is_v1 && (!version || strcmp(version, "client.authentication.k8s.io/v1beta1") != 0))
		return yaml_error(
			in->yaml, exec, YAML_AT_VALUE, in->ret_error, version ? -ENOTSUP : -EINVAL,
			"user '%s': exec needs apiVersion: client.authentication.k8s.io/v1 or v1beta1", user);
	if (!command)
		return yaml_error(in->yaml, exec, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "user '%s': exec needs a command", user);
	r = check_interactive_mode(in, exec, user, is_v1);
	if (r == 0)
		r = kubeconfig_take_string(in, exec, "apiVersion", &ret->api_version);
	if (r == 0)
		r = take_strings(in, exec, "args", NULL, &ret->args);
	if (r == 0)
		r = take_env(in, exec, &ret->env);
	if (r == 0)
		r = kubeconfig_take_bool(in, exec, "provideClusterInfo", &ret->provide_cluster_info);
	if (r == 0)
		r = kubeconfig_take_string(in, exec, "installHint", &ret->install_hint);
	if (r < 0)
		return r;
	/* a bare name is looked for in $PATH, not beside the kubeconfig */
	return strchr(command, '/') ? kubeconfig_take_path(in, exec, "command", &ret->command) :
				      kubeconfig_take_string(in, exec, "command", &ret->command);
}

/* ---- user -------------------------------------------------------------------------------- */

static int
take_impersonation(const struct kubeconfig_reader *in, const cJSON *user,
		   const struct kubeconfig_choice *choice, struct kube_impersonation *as)
{
	const cJSON *extra = cJSON_GetObjectItemCaseSensitive(user, "as-user-extra"), *list;
	int r = 0;

	if (!choice->as)
		r = kubeconfig_take_string(in, user, "as", &as->user);
	if (r == 0 && !choice->as_uid)
		r = kubeconfig_take_string(in, user, "as-uid", &as->uid);
	if (r == 0 && choice->n_as_groups == 0)
		r = take_strings(in, user, "as-groups", NULL, &as->groups);
	if (r == 0 && extra && !cJSON_IsNull(extra) && !cJSON_IsObject(extra))
		return yaml_error(in->yaml, extra, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "as-user-extra must be a mapping of lists");
	if (r < 0)
		return r;
	cJSON_ArrayForEach(list, extra) {
		r = take_strings(in, extra, list->string, list->string, &as->extra);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
take_token(const struct kubeconfig_reader *in, const cJSON *user, struct kube_client_config *config)
{
	int r;

	r = kubeconfig_take_string(in, user, "token", &config->token);
	if (r == 0)
		r = kubeconfig_take_path(in, user, "tokenFile", &config->token_file);
	if (r == 0 && config->token && !kube_is_printable(config->token))
		return yaml_error(in->yaml, cJSON_GetObjectItemCaseSensitive(user, "token"), YAML_AT_VALUE,
				  in->ret_error, -EINVAL, "token has a character that cannot stand in one");
	return r;
}

static int
take_password(const struct kubeconfig_reader *in, const char *name, const cJSON *user,
	      struct kube_client_config *config)
{
	int r;

	r = kubeconfig_take_string(in, user, "username", &config->username);
	if (r == 0)
		r = kubeconfig_take_string(in, user, "password", &config->password);
	if (r < 0)
		return r;
	if ((config->username || config->password) && config->token)
		return yaml_error(in->yaml, user, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "user '%s' has a token and a username or password; keep one", name);
	if (config->username && !config->password)
		config->password = strdup("");
	if (config->password && !config->username)
		config->username = strdup("");
	return !config->username == !config->password ? 0 : -ENOMEM;
}

int
kubeconfig_take_user(const struct kubeconfig_reader *in, const char *name, const cJSON *user,
		     const struct kubeconfig_choice *choice, struct kube_client_config *config)
{
	const cJSON *legacy = cJSON_GetObjectItemCaseSensitive(user, "auth-provider");
	const cJSON *exec = cJSON_GetObjectItemCaseSensitive(user, "exec");
	int r = 0;

	/* --token replaces all else that goes into Authorization */
	if (!choice->token) {
		if (legacy && !cJSON_IsNull(legacy))
			return yaml_error(
				in->yaml, legacy, YAML_AT_KEY, in->ret_error, -ENOTSUP,
				"user '%s': auth-provider is the old way of credential plugins, removed from "
				"Kubernetes; use exec, a token, tokenFile or client certificate",
				name);
		r = take_token(in, user, config);
		if (r == 0)
			r = take_password(in, name, user, config);
		if (r == 0 && exec && !cJSON_IsNull(exec))
			r = take_exec(in, name, exec, &config->exec);
	}
	if (r == 0 && !choice->client_certificate)
		r = kubeconfig_take_pem(in, user, "client-certificate", &config->client_cert);
	if (r == 0 && !choice->client_key)
		r = kubeconfig_take_pem(in, user, "client-key", &config->client_key);
	if (r == 0 && !choice->client_certificate && !choice->client_key &&
	    kube_pem_given(&config->client_cert) != kube_pem_given(&config->client_key))
		return yaml_error(in->yaml, user, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "user '%s' has only one of client-certificate and client-key", name);
	return r < 0 ? r : take_impersonation(in, user, choice, &config->as);
}
