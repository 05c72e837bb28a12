/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the kubeconfig files, chooses context, cluster and user, and applies the flags; see kubeconfig.h.
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
#include "writer/kube/kubeconfig_entries.h"
#include "writer/kube/kubeconfig_set.h"
#include "writer/base/message.h"

static const char *
env(const struct kubeconfig_choice *choice, const char *name)
{
	const char *value = choice->getenv ? choice->getenv(name) : getenv(name);

	return value && *value ? value : NULL;
}

/* ---- finding ---------------------------------------------------------------------------- */

/* The files of a path list that exist, each once. */
static int
add_list(struct kubeconfig_set *set, const char *list, char **ret_error)
{
	int r = 0;

	for (const char *p = list; *p && r == 0; p += strcspn(p, ":"), p += *p == ':') {
		_cleanup_(message_freep) char *path = strndup(p, strcspn(p, ":"));
		bool is_new = true;

		if (!path)
			return -ENOMEM;
		for (size_t i = 0; i < set->n; i++)
			is_new &= strcmp(yaml_name(set->docs[i]), path) != 0;
		if (*path && is_new && (access(path, F_OK) == 0 || errno != ENOENT))
			r = kubeconfig_set_add_file(set, path, ret_error);
	}
	return r;
}

/* Read the existing files. *ret_searched: the places searched, allocated; NULL: none. */
static int
find_files(const struct kubeconfig_choice *choice, struct kubeconfig_set *set, char **ret_searched,
	   char **ret_error)
{
	const char *list = env(choice, "KUBECONFIG"), *local = env(choice, "HOME");

	if (choice->kubeconfig)
		return kubeconfig_set_add_file(set, choice->kubeconfig, ret_error);
	if (list)
		*ret_searched = strdup(list);
	else if (local && asprintf(ret_searched, "%s/.kube/config", local) < 0)
		*ret_searched = NULL;
	if ((list || local) && !*ret_searched)
		return -ENOMEM;
	if (list)
		return add_list(set, list, ret_error);
	return local && access(*ret_searched, F_OK) == 0
		       ? kubeconfig_set_add_file(set, *ret_searched, ret_error)
		       : 0;
}

/* ---- the chosen entries ----------------------------------------------------------------- */

static int
take_entry(const struct kubeconfig_set *set, enum kubeconfig_kind kind, const char *name,
	   const struct kubeconfig_choice *choice, struct kube_client_config *config, char **ret_error)
{
	struct kubeconfig_reader in;
	const cJSON *object = NULL;
	int r;

	r = kubeconfig_set_find(set, kind, name, &in, &object, ret_error);
	if (r < 0)
		return r;
	return kind == KUBECONFIG_CLUSTER ? kubeconfig_take_cluster(&in, name, object, choice, config) :
					    kubeconfig_take_user(&in, name, object, choice, config);
}

static int
read_set(const struct kubeconfig_set *set, const struct kubeconfig_choice *choice,
	 struct kube_client_config *config, char **ret_error)
{
	const char *context_name = choice->context, *cluster = NULL, *user = NULL;
	struct kubeconfig_reader in = {NULL, ret_error};
	const cJSON *context = NULL;
	char names[512];
	int r = 0;

	config->origin = strdup(set->origin);
	if (!config->origin)
		return -ENOMEM;
	if (!context_name)
		r = kubeconfig_set_current_context(set, &context_name, ret_error);
	if (r == 0 && context_name) {
		config->context = strdup(context_name);
		r = config->context ? kubeconfig_set_find(set, KUBECONFIG_CONTEXT, context_name, &in,
							  &context, ret_error)
				    : -ENOMEM;
	}
	if (r == 0 && context)
		r = kubeconfig_get_string(&in, context, "cluster", &cluster);
	if (r == 0 && context)
		r = kubeconfig_get_string(&in, context, "user", &user);
	if (r == 0 && context)
		r = kubeconfig_take_string(&in, context, "namespace", &config->namespace_);
	cluster = choice->cluster ? choice->cluster : cluster;
	user = choice->user ? choice->user : user;
	if (r == 0 && cluster)
		r = take_entry(set, KUBECONFIG_CLUSTER, cluster, choice, config, ret_error);
	if (r == 0 && user)
		r = take_entry(set, KUBECONFIG_USER, user, choice, config, ret_error);
	if (r < 0 || config->server || choice->server)
		return r;
	if (cluster)
		return message_set(ret_error, -EINVAL, "%s: cluster '%s' has no server", set->origin,
				   cluster);
	if (context_name)
		return message_set(ret_error, -EINVAL, "%s: context '%s' names no cluster with a server",
				   set->origin, context_name);
	kubeconfig_set_names(set, KUBECONFIG_CONTEXT, names, sizeof(names));
	return message_set(ret_error, -EINVAL,
			   "%s: no current-context; choose one with --context; it has: %s", set->origin,
			   names);
}

/* ---- flags ------------------------------------------------------------------------------ */

static int
replace(char **field, const char *value)
{
	char *copy;

	if (!value)
		return 0;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

static int
replace_file(struct kube_pem *pem, const char *path)
{
	if (!path)
		return 0;
	kube_pem_done(pem);
	return replace(&pem->file, path);
}

/* Apply --username and --password. A missing one keeps the file's value, or becomes empty. */
static int
replace_password(const struct kubeconfig_choice *choice, struct kube_client_config *config)
{
	int r;

	if (!choice->username && !choice->password)
		return 0;
	r = replace(&config->username, choice->username ? choice->username : config->username ? NULL : "");
	return r < 0 ? r
		     : replace(&config->password, choice->password   ? choice->password
						  : config->password ? NULL
								     : "");
}

/* Flags override the files and the service account. */
static int
apply_flags(const struct kubeconfig_choice *choice, struct kube_client_config *config)
{
	int r;

	if (choice->token) { /* also instead of the service account's */
		free(config->token_file);
		config->token_file = NULL;
	}
	if (choice->certificate_authority || choice->insecure_skip_tls_verify) {
		kube_pem_done(&config->ca);
		config->insecure_skip_tls_verify = choice->insecure_skip_tls_verify;
	}
	if (choice->request_timeout_ms)
		config->request_timeout_ms = choice->request_timeout_ms;
	config->disable_compression |= choice->disable_compression;
	config->compression = choice->compression;
	r = replace(&config->server, choice->server);
	if (r == 0)
		r = replace(&config->origin, config->origin ? NULL : "--server");
	if (r == 0)
		r = replace(&config->tls_server_name, choice->tls_server_name);
	if (r == 0)
		r = replace(&config->token, choice->token);
	if (r == 0)
		r = replace_password(choice, config);
	if (r == 0)
		r = replace_file(&config->ca, choice->certificate_authority);
	if (r == 0)
		r = replace_file(&config->client_cert, choice->client_certificate);
	if (r == 0)
		r = replace_file(&config->client_key, choice->client_key);
	if (r == 0)
		r = replace(&config->as.user, choice->as);
	if (r == 0)
		r = replace(&config->as.uid, choice->as_uid);
	for (size_t i = 0; i < choice->n_as_groups && r == 0; i++)
		r = kube_pairs_add(&config->as.groups, NULL, choice->as_groups[i]);
	return r;
}

/* ---- checks ------------------------------------------------------------------------------ */

/* Check the URL, add a missing scheme, cut slashes at its end. */
static int
normalise_server(struct kube_client_config *config, const char *where, char **ret_error)
{
	bool tls = kube_pem_given(&config->ca) || kube_pem_given(&config->client_cert) ||
		   config->insecure_skip_tls_verify;
	char *host = NULL, *part = NULL, *url;
	CURLU *parsed = NULL;
	const char *wrong = NULL;
	CURLUcode code;
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
	code = curl_url_set(parsed, CURLUPART_URL, config->server, 0);
	if (code == CURLUE_OK)
		code = curl_url_get(parsed, CURLUPART_HOST, &host, 0);
	if (code == CURLUE_OUT_OF_MEMORY) {
		curl_url_cleanup(parsed);
		return -ENOMEM;
	}
	if (strncasecmp(config->server, "http://", 7) != 0 && strncasecmp(config->server, "https://", 8) != 0)
		wrong = "it must start with https:// or http://";
	else if (code != CURLUE_OK)
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

/* True if the text can be a header's value: no control characters. */
static bool
fits_header(const char *text)
{
	for (; text && *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static int
check_impersonation(const struct kube_impersonation *as, const char *where, char **ret_error)
{
	bool fits = fits_header(as->user) && fits_header(as->uid);

	if (!as->user && (as->uid || as->groups.n || as->extra.n))
		return message_set(
			ret_error, -EINVAL,
			"%s: a uid, group or user-extra to impersonate without a user; name one with --as",
			where);
	for (size_t i = 0; i < as->groups.n; i++)
		fits &= fits_header(as->groups.items[i].value);
	for (size_t i = 0; i < as->extra.n; i++)
		fits &= fits_header(as->extra.items[i].value);
	if (!fits)
		return message_set(ret_error, -EINVAL, "%s: a control character in whom to impersonate",
				   where);
	return 0;
}

/* Checks that need files and flags together. A plugin is dropped if there is another credential. */
static int
finish(const struct kubeconfig_choice *choice, struct kube_client_config *config, char **ret_error)
{
	const char *where = config->origin;

	if (config->insecure_skip_tls_verify && kube_pem_given(&config->ca))
		return message_set(ret_error, -EINVAL,
				   "--certificate-authority and --insecure-skip-tls-verify contradict each "
				   "other; keep one");
	if (kube_pem_given(&config->client_cert) != kube_pem_given(&config->client_key))
		return message_set(ret_error, -EINVAL,
				   "%s: only one of client-certificate and client-key is given", where);
	if (config->token && config->username)
		return message_set(ret_error, -EINVAL,
				   "%s: a token and a username or password say who we are; keep one", where);
	if (choice->token && !kube_is_printable(choice->token))
		return message_set(ret_error, -EINVAL,
				   "--token has a character that cannot stand in a token");
	if (config->token || config->token_file || config->username || kube_pem_given(&config->client_cert))
		kube_exec_done(&config->exec);
	if (config->server) {
		int r = normalise_server(config, choice->server ? "--server" : where, ret_error);

		if (r < 0)
			return r;
	}
	return check_impersonation(&config->as, where, ret_error);
}

static int
nothing_found(const char *searched, char **ret_error)
{
	return message_set(ret_error, -ENOENT, "no API server is known: %s%s; " KUBECONFIG_HOW_TO_FIND,
			   searched ? searched : "no home folder to look for .kube/config in",
			   searched ? " does not exist" : "");
}

static int
choose(const struct kubeconfig_set *set, const struct kubeconfig_choice *choice, const char *searched,
       struct kube_client_config *config, char **ret_error)
{
	const char *host = env(choice, "KUBERNETES_SERVICE_HOST");
	const char *named = choice->context   ? choice->context
			    : choice->cluster ? choice->cluster
					      : choice->user;
	int r = 0;

	if (set->n > 0 && (named || !kubeconfig_set_is_empty(set) || (!host && !choice->server)))
		r = read_set(set, choice, config, ret_error);
	else if (named)
		r = message_set(ret_error, -ENOENT,
				"--%s %s, but there is no kubeconfig (%s); name one with --kubeconfig",
				choice->context   ? "context"
				: choice->cluster ? "cluster"
						  : "user",
				named, searched ? searched : "no home folder");
	else if (!choice->server && host)
		r = in_cluster_read(host, env(choice, "KUBERNETES_SERVICE_PORT"),
				    choice->root ? choice->root : "", config, ret_error);
	else if (!choice->server)
		r = nothing_found(searched, ret_error);
	if (r == 0)
		r = apply_flags(choice, config);
	return r < 0 ? r : finish(choice, config, ret_error);
}

int
kubeconfig_load(const struct kubeconfig_choice *choice, struct kube_client_config *ret_config,
		char **ret_error)
{
	_cleanup_(message_freep) char *searched = NULL;
	struct kube_client_config config = {0};
	struct kubeconfig_set set = {0};
	int r;

	r = find_files(choice, &set, &searched, ret_error);
	if (r == 0)
		r = choose(&set, choice, searched, &config, ret_error);
	kubeconfig_set_done(&set);
	if (r < 0) {
		kube_client_config_done(&config);
		return message_one_line(ret_error, r);
	}
	*ret_config = config;
	return 0;
}
