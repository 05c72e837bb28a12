/*
 * kubeconfig: finding the file, and choosing context, cluster and user in it; see kubeconfig.h.
 */
#include "writer/kube/kubeconfig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <curl/curl.h>

#include "writer/kube/in_cluster.h"
#include "writer/kube/kubeconfig_fields.h"
#include "writer/message.h"
#include "writer/yaml.h"

static const char *
env(const struct kubeconfig_choice *choice, const char *name)
{
	const char *value = choice->getenv ? choice->getenv(name) : getenv(name);

	return value && *value ? value : NULL;
}

/* ---- named entries: contexts, clusters, users ------------------------------------------- */

static void
append_names(const cJSON *list, char *text, size_t size)
{
	size_t at = strlen(text);
	const cJSON *entry;

	cJSON_ArrayForEach(entry, list) {
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(entry, "name");

		if (!cJSON_IsString(name) || at + strlen(name->valuestring) + 3 >= size)
			continue;
		at += (size_t)snprintf(text + at, size - at, "%s%s", *text ? ", " : "", name->valuestring);
	}
}

/* Find `- name: NAME` in the list LISTs and lend what stands under LIST there. */
static int
find_entry(const struct kubeconfig_reader *in, const char *list_name, const char *entry_name, const char *name,
	   const cJSON **ret_object)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(yaml_root(in->yaml), list_name), *entry, *object;
	char names[512] = "";

	if (list && !cJSON_IsNull(list) && !cJSON_IsArray(list))
		return yaml_error(in->yaml, list, YAML_AT_VALUE, in->ret_error, -EINVAL, "%s must be a list", list_name);
	cJSON_ArrayForEach(entry, list) {
		const cJSON *entry_is = cJSON_GetObjectItemCaseSensitive(entry, "name");

		if (!cJSON_IsString(entry_is) || strcmp(entry_is->valuestring, name) != 0)
			continue;
		object = cJSON_GetObjectItemCaseSensitive(entry, entry_name);
		if (object && !cJSON_IsNull(object) && !cJSON_IsObject(object))
			return yaml_error(in->yaml, object, YAML_AT_VALUE, in->ret_error, -EINVAL,
					  "%s must be a mapping", entry_name);
		*ret_object = object;
		return 0;
	}
	append_names(list, names, sizeof(names));
	return message_set(in->ret_error, -EINVAL, "%s: no %s '%s' in it; it has: %s", yaml_name(in->yaml), entry_name,
			   name, *names ? names : "none");
}

static int
take_cluster(const struct kubeconfig_reader *in, const char *name, struct kube_client_config *config)
{
	const cJSON *cluster = NULL;
	int r;

	r = find_entry(in, "clusters", "cluster", name, &cluster);
	if (r == 0)
		r = kubeconfig_take_string(in, cluster, "server", &config->server);
	if (r == 0)
		r = kubeconfig_take_pem(in, cluster, "certificate-authority", &config->ca);
	if (r == 0)
		r = kubeconfig_take_bool(in, cluster, "insecure-skip-tls-verify", &config->insecure_skip_tls_verify);
	if (r == 0)
		r = kubeconfig_take_string(in, cluster, "tls-server-name", &config->tls_server_name);
	if (r == 0)
		r = kubeconfig_take_string(in, cluster, "proxy-url", &config->proxy_url);
	if (r < 0)
		return r;
	if (config->insecure_skip_tls_verify && (config->ca.data || config->ca.file))
		return yaml_error(in->yaml, cluster, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "cluster '%s' has a certificate-authority and insecure-skip-tls-verify; keep one",
				  name);
	return 0;
}

static int
take_user(const struct kubeconfig_reader *in, const char *name, struct kube_client_config *config)
{
	static const struct {
		const char *field, *instead;
	} unsupported[] = {
		{"exec", "runs a credential plugin, which informerd does not yet do; use a token, tokenFile or client "
			 "certificate (kubectl create token SERVICEACCOUNT makes one)"},
		{"auth-provider", "is the old way of credential plugins, removed from Kubernetes; use a token, tokenFile "
				  "or client certificate"},
		{"as", "impersonates, which informerd does not do; give its own user the rights"},
	};
	const cJSON *user = NULL, *field;
	int r;

	r = find_entry(in, "users", "user", name, &user);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(unsupported) / sizeof(*unsupported); i++) {
		field = cJSON_GetObjectItemCaseSensitive(user, unsupported[i].field);
		if (field && !cJSON_IsNull(field))
			return yaml_error(in->yaml, field, YAML_AT_KEY, in->ret_error, -ENOTSUP, "user '%s': %s %s", name,
					  unsupported[i].field, unsupported[i].instead);
	}
	r = kubeconfig_take_string(in, user, "token", &config->token);
	if (r == 0)
		r = kubeconfig_take_path(in, user, "tokenFile", &config->token_file);
	if (r == 0)
		r = kubeconfig_take_pem(in, user, "client-certificate", &config->client_cert);
	if (r == 0)
		r = kubeconfig_take_pem(in, user, "client-key", &config->client_key);
	if (r == 0)
		r = kubeconfig_take_string(in, user, "username", &config->username);
	if (r == 0)
		r = kubeconfig_take_string(in, user, "password", &config->password);
	if (r < 0)
		return r;
	if (!(config->client_cert.data || config->client_cert.file) !=
	    !(config->client_key.data || config->client_key.file))
		return yaml_error(in->yaml, user, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "user '%s' has only one of client-certificate and client-key", name);
	if (config->token)
		for (const char *p = config->token; *p; p++)
			if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f)
				return yaml_error(in->yaml, cJSON_GetObjectItemCaseSensitive(user, "token"),
						  YAML_AT_VALUE, in->ret_error, -EINVAL,
						  "token has a character that cannot stand in one");
	if (config->username && !config->password)
		config->password = strdup("");
	return config->username && !config->password ? -ENOMEM : 0;
}

static int
read_file(const struct kubeconfig_choice *choice, const char *path, struct kube_client_config *config, char **ret_error)
{
	_cleanup_(yaml_freep) struct yaml *yaml = NULL;
	const char *context_name = choice->context, *cluster = NULL, *user = NULL;
	const cJSON *context = NULL;
	struct kubeconfig_reader in;
	char names[512] = "";
	int r;

	r = yaml_load(path, &yaml, ret_error);
	if (r < 0)
		return r;
	in = (struct kubeconfig_reader){yaml, ret_error};
	if (!cJSON_IsObject(yaml_root(yaml)))
		return yaml_error(yaml, yaml_root(yaml), YAML_AT_VALUE, ret_error, -EINVAL, "not a kubeconfig");
	config->origin = strdup(path);
	if (!config->origin)
		return -ENOMEM;
	if (!context_name || !*context_name) {
		r = kubeconfig_get_string(&in, yaml_root(yaml), "current-context", &context_name);
		if (r < 0)
			return r;
	}
	if (!context_name) {
		if (choice->server)
			return 0; /* the server alone, without credentials */
		append_names(cJSON_GetObjectItemCaseSensitive(yaml_root(yaml), "contexts"), names, sizeof(names));
		return message_set(ret_error, -EINVAL, "%s: no current-context; choose one with --context; it has: %s", path,
				   *names ? names : "none");
	}
	config->context = strdup(context_name);
	if (!config->context)
		return -ENOMEM;
	r = find_entry(&in, "contexts", "context", context_name, &context);
	if (r == 0)
		r = kubeconfig_get_string(&in, context, "cluster", &cluster);
	if (r == 0)
		r = kubeconfig_get_string(&in, context, "user", &user);
	if (r == 0)
		r = kubeconfig_take_string(&in, context, "namespace", &config->namespace_);
	if (r == 0 && cluster)
		r = take_cluster(&in, cluster, config);
	if (r == 0 && user)
		r = take_user(&in, user, config);
	if (r == 0 && !config->server && !choice->server)
		return message_set(ret_error, -EINVAL, "%s: context '%s' names no cluster with a server", path,
				   context_name);
	return r;
}

/* ---- finding ---------------------------------------------------------------------------- */

/* The kubeconfig to read, or NULL when none is named and none exists. Allocated. */
static int
find_file(const struct kubeconfig_choice *choice, char **ret_path, char **ret_searched)
{
	const char *list = env(choice, "KUBECONFIG"), *home = env(choice, "HOME");

	*ret_path = NULL;
	if (choice->kubeconfig && *choice->kubeconfig) {
		*ret_path = strdup(choice->kubeconfig);
		return *ret_path ? 0 : -ENOMEM;
	}
	if (list) {
		*ret_searched = strdup(list);
		for (const char *p = list; *p; p += strcspn(p, ":"), p += *p == ':') {
			char *path = strndup(p, strcspn(p, ":"));

			if (!path)
				return -ENOMEM;
			if (*path && access(path, F_OK) == 0) {
				*ret_path = path;
				return 0;
			}
			free(path);
		}
		return 0;
	}
	if (home) {
		if (asprintf(ret_searched, "%s/.kube/config", home) < 0) {
			*ret_searched = NULL;
			return -ENOMEM;
		}
		if (access(*ret_searched, F_OK) == 0) {
			*ret_path = *ret_searched;
			*ret_searched = NULL;
		}
	}
	return 0;
}

/* Check the URL, add a scheme where it has none, cut slashes at its end. */
static int
normalise_server(struct kube_client_config *config, const char *where, char **ret_error)
{
	bool tls = config->ca.data || config->ca.file || config->client_cert.data || config->client_cert.file ||
		   config->insecure_skip_tls_verify;
	char *host = NULL, *part = NULL, *url;
	CURLU *parsed = NULL;
	const char *wrong = NULL;
	size_t len;

	if (!strstr(config->server, "://")) {
		if (asprintf(&url, "%s://%s", tls ? "https" : "http", config->server) < 0)
			return -ENOMEM;
		free(config->server);
		config->server = url;
	}
	for (len = strlen(config->server); len > 0 && config->server[len - 1] == '/'; len--)
		config->server[len - 1] = '\0';
	parsed = curl_url();
	if (!parsed)
		return -ENOMEM;
	if (strncasecmp(config->server, "http://", 7) != 0 && strncasecmp(config->server, "https://", 8) != 0)
		wrong = "it must start with https:// or http://";
	else if (curl_url_set(parsed, CURLUPART_URL, config->server, 0) != CURLUE_OK ||
		 curl_url_get(parsed, CURLUPART_HOST, &host, 0) != CURLUE_OK)
		wrong = "it is not a URL";
	else if (curl_url_get(parsed, CURLUPART_USER, &part, 0) == CURLUE_OK ||
		 curl_url_get(parsed, CURLUPART_PASSWORD, &part, 0) == CURLUE_OK)
		wrong = "it holds credentials; put them into the kubeconfig's user";
	else if (curl_url_get(parsed, CURLUPART_QUERY, &part, 0) == CURLUE_OK ||
		 curl_url_get(parsed, CURLUPART_FRAGMENT, &part, 0) == CURLUE_OK)
		wrong = "it must not have a query or fragment";
	curl_free(part);
	curl_free(host);
	curl_url_cleanup(parsed);
	/* the URL itself stays out of the message: it may hold a password */
	return wrong ? message_set(ret_error, -EINVAL, "%s: the server's URL is wrong: %s", where, wrong) : 0;
}

static int
nothing_found(const char *searched, char **ret_error)
{
	return message_set(ret_error, -ENOENT, "no API server is known: %s%s; " KUBECONFIG_HOW_TO_FIND,
			   searched ? searched : "no home folder to look for .kube/config in",
			   searched ? " does not exist" : "");
}

int
kubeconfig_load(const struct kubeconfig_choice *choice, struct kube_client_config *ret_config, char **ret_error)
{
	_cleanup_(message_freep) char *path = NULL, *searched = NULL;
	struct kube_client_config config = {0};
	bool given = choice->server && *choice->server;
	struct kubeconfig_choice chosen = *choice;
	int r;

	chosen.server = given ? choice->server : NULL;
	r = find_file(&chosen, &path, &searched);
	if (r < 0)
		return r;
	if (path)
		r = read_file(&chosen, path, &config, ret_error);
	else if (chosen.context && *chosen.context)
		r = message_set(ret_error, -ENOENT, "--context %s, but there is no kubeconfig (%s); name one with --kubeconfig",
				chosen.context, searched ? searched : "no home folder");
	else if (!given && env(choice, "KUBERNETES_SERVICE_HOST"))
		r = in_cluster_read(env(choice, "KUBERNETES_SERVICE_HOST"), env(choice, "KUBERNETES_SERVICE_PORT"),
				    choice->root ? choice->root : "", &config, ret_error);
	else if (!given)
		r = nothing_found(searched, ret_error);
	if (r == 0 && given) {
		free(config.server);
		config.server = strdup(choice->server);
		if (!config.origin)
			config.origin = strdup("--server");
		if (!config.server || !config.origin)
			r = -ENOMEM;
	}
	if (r == 0 && config.server)
		r = normalise_server(&config, given ? "--server" : config.origin, ret_error);
	if (r < 0) {
		kube_client_config_done(&config);
		return r;
	}
	*ret_config = config;
	return 0;
}
