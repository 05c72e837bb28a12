/*
 * kubeconfig: finding the file, choosing context, cluster and user in it, and the
 * service account of a pod; see kubeconfig.h.
 */
#include "writer/kube/kubeconfig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <curl/curl.h>
#include <sodium.h>

#include "writer/file.h"
#include "writer/message.h"
#include "writer/yaml.h"

#define PEM_MAX_BYTES	(4u << 20)
#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"
#define HOW_TO_FIND                                                                                                    \
	"name one with --kubeconfig or KUBECONFIG, or the server with --server "                                      \
	"(in a pod the service account is found by itself)"

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

static const char *
env(const struct kubeconfig_choice *choice, const char *name)
{
	const char *value = choice->getenv ? choice->getenv(name) : getenv(name);

	return value && *value ? value : NULL;
}

/* ---- reading fields --------------------------------------------------------------------- */

struct reader {
	const struct yaml *yaml;
	char **ret_error;
};

/* A string field; NULL when absent, null or empty. The value is never in a message. */
static int
get_string(const struct reader *in, const cJSON *object, const char *name, const char **ret_value)
{
	const cJSON *field = cJSON_GetObjectItemCaseSensitive(object, name);

	*ret_value = NULL;
	if (!field || cJSON_IsNull(field))
		return 0;
	if (!cJSON_IsString(field))
		return yaml_error(in->yaml, field, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "%s must be a string (put it into quotes)", name);
	if (*field->valuestring)
		*ret_value = field->valuestring;
	return 0;
}

static int
take_string(const struct reader *in, const cJSON *object, const char *name, char **ret_value)
{
	const char *value;
	int r;

	r = get_string(in, object, name, &value);
	if (r < 0 || !value)
		return r;
	*ret_value = strdup(value);
	return *ret_value ? 0 : -ENOMEM;
}

/* A path, which stands relative to the kubeconfig's folder. */
static int
take_path(const struct reader *in, const cJSON *object, const char *name, char **ret_path)
{
	const char *value, *file = yaml_name(in->yaml), *slash = strrchr(file, '/');
	int r;

	r = get_string(in, object, name, &value);
	if (r < 0 || !value)
		return r;
	if (*value == '/' || !slash)
		*ret_path = strdup(value);
	else if (asprintf(ret_path, "%.*s/%s", (int)(slash - file), file, value) < 0)
		*ret_path = NULL;
	return *ret_path ? 0 : -ENOMEM;
}

static int
take_base64(const struct reader *in, const cJSON *object, const char *name, struct kube_pem *pem)
{
	const char *value, *end;
	size_t size;
	int r;

	r = get_string(in, object, name, &value);
	if (r < 0 || !value)
		return r;
	size = strlen(value) / 4 * 3 + 4;
	pem->data = malloc(size + 1);
	if (!pem->data)
		return -ENOMEM;
	if (sodium_base642bin((unsigned char *)pem->data, size, value, strlen(value), " \t\r\n", &pem->len, &end,
			      sodium_base64_VARIANT_ORIGINAL) != 0 ||
	    *end) {
		pem->len = 0;
		return yaml_error(in->yaml, cJSON_GetObjectItemCaseSensitive(object, name), YAML_AT_VALUE,
				  in->ret_error, -EINVAL, "%s is not base64", name);
	}
	pem->data[pem->len] = '\0';
	return 0;
}

/* NAME-data or NAME, and that there is PEM in it; files are read again at each connection. */
static int
take_pem(const struct reader *in, const cJSON *object, const char *name, struct kube_pem *pem)
{
	_cleanup_(message_freep) char *data_name = NULL, *reason = NULL;
	const cJSON *field;
	bool is_pem;
	char *text;
	size_t len;
	int r;

	if (asprintf(&data_name, "%s-data", name) < 0) {
		data_name = NULL;
		return -ENOMEM;
	}
	r = take_base64(in, object, data_name, pem);
	if (r == 0 && !pem->data)
		r = take_path(in, object, name, &pem->file);
	if (r < 0 || (!pem->data && !pem->file))
		return r;
	field = cJSON_GetObjectItemCaseSensitive(object, pem->data ? data_name : name);
	if (pem->data) {
		is_pem = strstr(pem->data, "-----BEGIN ");
	} else {
		r = file_read(pem->file, PEM_MAX_BYTES, &text, &len, &reason);
		if (r < 0)
			return yaml_error(in->yaml, field, YAML_AT_VALUE, in->ret_error, r, "%s: %s", name,
					  reason ? reason : "no memory");
		is_pem = strstr(text, "-----BEGIN ");
		file_wipe(text, len);
	}
	if (!is_pem)
		return yaml_error(in->yaml, field, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "%s holds no PEM text (-----BEGIN ...)", field->string);
	return 0;
}

static int
take_bool(const struct reader *in, const cJSON *object, const char *name, bool *ret_value)
{
	const cJSON *field = cJSON_GetObjectItemCaseSensitive(object, name);

	if (!field || cJSON_IsNull(field))
		return 0;
	if (!cJSON_IsBool(field))
		return yaml_error(in->yaml, field, YAML_AT_VALUE, in->ret_error, -EINVAL, "%s must be true or false",
				  name);
	*ret_value = cJSON_IsTrue(field);
	return 0;
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
find_entry(const struct reader *in, const char *list_name, const char *entry_name, const char *name,
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
take_cluster(const struct reader *in, const char *name, struct kube_client_config *config)
{
	const cJSON *cluster = NULL;
	int r;

	r = find_entry(in, "clusters", "cluster", name, &cluster);
	if (r == 0)
		r = take_string(in, cluster, "server", &config->server);
	if (r == 0)
		r = take_pem(in, cluster, "certificate-authority", &config->ca);
	if (r == 0)
		r = take_bool(in, cluster, "insecure-skip-tls-verify", &config->insecure_skip_tls_verify);
	if (r == 0)
		r = take_string(in, cluster, "tls-server-name", &config->tls_server_name);
	if (r == 0)
		r = take_string(in, cluster, "proxy-url", &config->proxy_url);
	if (r < 0)
		return r;
	if (config->insecure_skip_tls_verify && (config->ca.data || config->ca.file))
		return yaml_error(in->yaml, cluster, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "cluster '%s' has a certificate-authority and insecure-skip-tls-verify; keep one",
				  name);
	return 0;
}

static int
take_user(const struct reader *in, const char *name, struct kube_client_config *config)
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
	r = take_string(in, user, "token", &config->token);
	if (r == 0)
		r = take_path(in, user, "tokenFile", &config->token_file);
	if (r == 0)
		r = take_pem(in, user, "client-certificate", &config->client_cert);
	if (r == 0)
		r = take_pem(in, user, "client-key", &config->client_key);
	if (r == 0)
		r = take_string(in, user, "username", &config->username);
	if (r == 0)
		r = take_string(in, user, "password", &config->password);
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
	struct reader in;
	char names[512] = "";
	int r;

	r = yaml_load(path, &yaml, ret_error);
	if (r < 0)
		return r;
	in = (struct reader){yaml, ret_error};
	if (!cJSON_IsObject(yaml_root(yaml)))
		return yaml_error(yaml, yaml_root(yaml), YAML_AT_VALUE, ret_error, -EINVAL, "not a kubeconfig");
	config->origin = strdup(path);
	if (!config->origin)
		return -ENOMEM;
	if (!context_name || !*context_name) {
		r = get_string(&in, yaml_root(yaml), "current-context", &context_name);
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
		r = get_string(&in, context, "cluster", &cluster);
	if (r == 0)
		r = get_string(&in, context, "user", &user);
	if (r == 0)
		r = take_string(&in, context, "namespace", &config->namespace_);
	if (r == 0 && cluster)
		r = take_cluster(&in, cluster, config);
	if (r == 0 && user)
		r = take_user(&in, user, config);
	if (r == 0 && !config->server && !choice->server)
		return message_set(ret_error, -EINVAL, "%s: context '%s' names no cluster with a server", path,
				   context_name);
	return r;
}

/* ---- the service account of a pod ------------------------------------------------------- */

static int
read_in_cluster(const struct kubeconfig_choice *choice, struct kube_client_config *config, char **ret_error)
{
	const char *host = env(choice, "KUBERNETES_SERVICE_HOST"), *port = env(choice, "KUBERNETES_SERVICE_PORT");
	const char *root = choice->root ? choice->root : "";
	_cleanup_(message_freep) char *namespace_file = NULL, *reason = NULL, *text = NULL;
	bool v6 = strchr(host, ':');
	size_t len;
	int r;

	if (asprintf(&namespace_file, "%s" SERVICE_ACCOUNT "/namespace", root) < 0) {
		namespace_file = NULL;
		return -ENOMEM;
	}
	if (asprintf(&config->token_file, "%s" SERVICE_ACCOUNT "/token", root) < 0) {
		config->token_file = NULL;
		return -ENOMEM;
	}
	if (asprintf(&config->ca.file, "%s" SERVICE_ACCOUNT "/ca.crt", root) < 0) {
		config->ca.file = NULL;
		return -ENOMEM;
	}
	if (asprintf(&config->server, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port ? port : "443") < 0) {
		config->server = NULL;
		return -ENOMEM;
	}
	config->origin = strdup("in-cluster");
	if (!config->origin)
		return -ENOMEM;

	r = file_read(config->token_file, PEM_MAX_BYTES, &text, &len, &reason);
	if (r < 0)
		return message_set(ret_error, r,
				   "in a pod, but without its service account's token (%s): set automountServiceAccountToken: "
				   "true, or " HOW_TO_FIND,
				   reason ? reason : "no memory");
	explicit_bzero(text, len);
	if (access(config->ca.file, R_OK) < 0) { /* as client-go: the system's bundle then */
		free(config->ca.file);
		config->ca.file = NULL;
	}
	message_freep(&text);
	if (file_read(namespace_file, 4096, &text, &len, NULL) == 0) {
		text[strcspn(text, " \t\r\n")] = '\0';
		if (*text && !(config->namespace_ = strdup(text)))
			return -ENOMEM;
	}
	return 0;
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
	return message_set(ret_error, -ENOENT, "no API server is known: %s%s; " HOW_TO_FIND,
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
		r = read_in_cluster(choice, &config, ret_error);
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

int
kube_client_config_read_ca(const struct kube_client_config *config, char **ret_pem, size_t *ret_len, char **ret_error)
{
	if (config->ca.file)
		return file_read(config->ca.file, PEM_MAX_BYTES, ret_pem, ret_len, ret_error);
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
