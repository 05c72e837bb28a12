/* SPDX-License-Identifier: Apache-2.0 */
/* The documents exchanged with a credential plugin; see exec_credential.h. */
#include "writer/kube/exec_credential.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>
#include <sodium.h>

#include "writer/base/file.h"
#include "writer/base/message.h"
#include "writer/base/yaml.h"

void
exec_credential_done(struct exec_credential *credential)
{
	file_wipe_text(credential->token);
	kube_pem_done(&credential->cert);
	kube_pem_done(&credential->key);
	memset(credential, 0, sizeof(*credential));
}

/* RFC 3339: 2026-01-31T12:00:00Z, with a fraction or an offset, too. */
static bool
parse_time(const char *text, int64_t *ret_s)
{
	struct tm tm = {0};
	int at = 0, hours, minutes;
	int64_t zone = 0;

	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
		   &tm.tm_min, &tm.tm_sec, &at) != 6 ||
	    at != 19)
		return false;
	text += at;
	if (*text == '.') {
		size_t digits = strspn(text + 1, "0123456789");

		if (digits == 0)
			return false;
		text += 1 + digits;
	}
	if (strcmp(text, "Z") != 0) {
		if ((*text != '+' && *text != '-') || strlen(text) != 6 ||
		    sscanf(text + 1, "%2d:%2d", &hours, &minutes) != 2)
			return false;
		zone = (hours * 3600ll + minutes * 60ll) * (*text == '-' ? -1 : 1);
	}
	if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_year < 1)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*ret_s = (int64_t)timegm(&tm) - zone;
	return true;
}

/* A string, *ret NULL when it is absent, null or empty; false when it is something else. */
static bool
string_of(const cJSON *object, const char *name, const char **ret)
{
	const cJSON *field = cJSON_GetObjectItemCaseSensitive(object, name);

	*ret = NULL;
	if (!field || cJSON_IsNull(field))
		return true;
	if (!cJSON_IsString(field))
		return false;
	if (*field->valuestring)
		*ret = field->valuestring;
	return true;
}

static bool
copy_pem(const char *text, struct kube_pem *ret)
{
	ret->data = strdup(text);
	ret->len = strlen(text);
	return ret->data;
}

static int
read_answer(const cJSON *root, const char *api_version, struct exec_credential *ret, char **ret_error)
{
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(root, "status");
	const char *kind, *version, *token, *cert, *key, *expires;

	if (!cJSON_IsObject(root) || !string_of(root, "kind", &kind) || !kind ||
	    strcmp(kind, "ExecCredential") != 0)
		return message_set(ret_error, -EPROTO, "it printed no ExecCredential");
	if (!string_of(root, "apiVersion", &version) || !version || strcmp(version, api_version) != 0)
		return message_set(ret_error, -EPROTO,
				   "it answered in another apiVersion than the %s that the kubeconfig names",
				   api_version);
	if (!cJSON_IsObject(status))
		return message_set(ret_error, -EPROTO, "its ExecCredential has no status");
	if (!string_of(status, "token", &token) || !string_of(status, "clientCertificateData", &cert) ||
	    !string_of(status, "clientKeyData", &key) || !string_of(status, "expirationTimestamp", &expires))
		return message_set(ret_error, -EPROTO, "a field of its status is not a string");
	if (!token && !cert && !key)
		return message_set(ret_error, -EPROTO,
				   "its status has neither a token nor a client certificate");
	if (!cert != !key)
		return message_set(ret_error, -EPROTO,
				   "its status has only one of client certificate and key");
	if (token && !kube_is_printable(token))
		return message_set(ret_error, -EPROTO, "its token has a character that cannot stand in one");
	if (cert && (!strstr(cert, "-----BEGIN ") || !strstr(key, "-----BEGIN ")))
		return message_set(ret_error, -EPROTO, "its client certificate or key is not PEM text");
	ret->expires_s = INT64_MAX;
	if (expires && !parse_time(expires, &ret->expires_s))
		return message_set(ret_error, -EPROTO,
				   "its expirationTimestamp is no time as 2026-01-31T12:00:00Z");
	if ((token && !(ret->token = strdup(token))) || (cert && !copy_pem(cert, &ret->cert)) ||
	    (key && !copy_pem(key, &ret->key)))
		return -ENOMEM;
	return 0;
}

int
exec_credential_parse(const char *data, size_t len, const char *api_version, struct exec_credential *ret,
		      char **ret_error)
{
	_cleanup_(yaml_unloadp) struct yaml *yaml = NULL;
	struct exec_credential credential = {0};
	int r = yaml_parse("answer", data, len, &yaml, NULL); /* a message would show some of it */

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return message_set(ret_error, -EPROTO,
				   "it printed no ExecCredential: %zu bytes, neither JSON nor YAML", len);
	r = read_answer(yaml_root(yaml), api_version, &credential, ret_error);
	if (r < 0)
		exec_credential_done(&credential);
	else
		*ret = credential;
	return r;
}

/* ---- the plugin's input ------------------------------------------------------------------- */

static bool
add_string(cJSON *object, const char *name, const char *value)
{
	return !value || cJSON_AddStringToObject(object, name, value);
}

static bool
add_true(cJSON *object, const char *name, bool value)
{
	return !value || cJSON_AddTrueToObject(object, name);
}

static bool
add_cluster(cJSON *cluster, const struct kube_client_config *config, const struct kube_pem *ca)
{
	char *encoded = NULL;
	bool ok;

	if (ca->len) {
		size_t size = sodium_base64_ENCODED_LEN(ca->len, sodium_base64_VARIANT_ORIGINAL);

		encoded = malloc(size);
		if (!encoded)
			return false;
		sodium_bin2base64(encoded, size, (const unsigned char *)ca->data, ca->len,
				  sodium_base64_VARIANT_ORIGINAL);
	}
	ok = add_string(cluster, "server", config->server) &&
	     add_string(cluster, "tls-server-name", config->tls_server_name) &&
	     add_true(cluster, "insecure-skip-tls-verify", config->insecure_skip_tls_verify) &&
	     add_string(cluster, "certificate-authority-data", encoded) &&
	     add_string(cluster, "proxy-url", config->proxy_url) &&
	     add_true(cluster, "disable-compression", config->disable_compression);
	free(encoded);
	if (ok && config->exec.cluster_config)
		ok = cJSON_AddRawToObject(cluster, "config", config->exec.cluster_config);
	return ok;
}

int
exec_credential_info(const struct kube_client_config *config, char **ret_json, char **ret_error)
{
	struct kube_pem ca = {0};
	cJSON *root = cJSON_CreateObject(), *spec, *cluster;
	int r = 0;
	bool ok;

	if (config->exec.provide_cluster_info)
		r = kube_pem_read(&config->ca, &ca, ret_error);
	if (r < 0)
		goto out;
	ok = add_string(root, "kind", "ExecCredential") &&
	     add_string(root, "apiVersion", config->exec.api_version) &&
	     (spec = cJSON_AddObjectToObject(root, "spec")) &&
	     (!config->exec.provide_cluster_info ||
	      ((cluster = cJSON_AddObjectToObject(spec, "cluster")) && add_cluster(cluster, config, &ca))) &&
	     cJSON_AddFalseToObject(spec, "interactive");
	*ret_json = ok ? cJSON_PrintUnformatted(root) : NULL;
	r = *ret_json ? 0 : -ENOMEM;
out:
	kube_pem_done(&ca);
	cJSON_Delete(root);
	return r;
}
