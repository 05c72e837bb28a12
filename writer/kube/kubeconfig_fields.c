/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a kubeconfig; see kubeconfig_fields.h. */
#include "writer/kube/kubeconfig_fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <sodium.h>

#include "writer/base/file.h"
#include "writer/base/message.h"

int
kubeconfig_get_string(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
		      const char **ret_value)
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

int
kubeconfig_take_string(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
		       char **ret_value)
{
	const char *value;
	int r;

	r = kubeconfig_get_string(in, object, name, &value);
	if (r < 0 || !value)
		return r;
	*ret_value = strdup(value);
	return *ret_value ? 0 : -ENOMEM;
}

int
kubeconfig_take_path(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
		     char **ret_path)
{
	const char *value, *file = yaml_name(in->yaml), *slash = strrchr(file, '/');
	int r;

	r = kubeconfig_get_string(in, object, name, &value);
	if (r < 0 || !value)
		return r;
	if (*value == '/' || !slash)
		*ret_path = strdup(value);
	else if (asprintf(ret_path, "%.*s/%s", (int)(slash - file), file, value) < 0)
		*ret_path = NULL;
	return *ret_path ? 0 : -ENOMEM;
}

static int
take_base64(const struct kubeconfig_reader *in, const cJSON *object, const char *name, struct kube_pem *pem)
{
	const char *value, *end;
	size_t size;
	int r;

	r = kubeconfig_get_string(in, object, name, &value);
	if (r < 0 || !value)
		return r;
	size = strlen(value) / 4 * 3 + 4;
	pem->data = malloc(size + 1);
	if (!pem->data)
		return -ENOMEM;
	if (sodium_base642bin((unsigned char *)pem->data, size, value, strlen(value), " \t\r\n", &pem->len,
			      &end, sodium_base64_VARIANT_ORIGINAL) != 0 ||
	    *end) {
		pem->len = 0;
		return yaml_error(in->yaml, cJSON_GetObjectItemCaseSensitive(object, name), YAML_AT_VALUE,
				  in->ret_error, -EINVAL, "%s is not base64", name);
	}
	pem->data[pem->len] = '\0';
	return 0;
}

int
kubeconfig_take_pem(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
		    struct kube_pem *pem)
{
	_cleanup_(message_freep) char *data_name = NULL, *reason = NULL;
	const cJSON *field;
	struct kube_pem text;
	int r;

	if (asprintf(&data_name, "%s-data", name) < 0) {
		data_name = NULL;
		return -ENOMEM;
	}
	r = take_base64(in, object, data_name, pem);
	if (r == 0 && !pem->data)
		r = kubeconfig_take_path(in, object, name, &pem->file);
	if (r < 0 || (!pem->data && !pem->file))
		return r;
	field = cJSON_GetObjectItemCaseSensitive(object, pem->data ? data_name : name);
	if (pem->data && !strstr(pem->data, "-----BEGIN "))
		return yaml_error(in->yaml, field, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "%s holds no PEM text (-----BEGIN ...)", field->string);
	r = kube_pem_read(pem, &text, &reason);
	kube_pem_done(&text);
	if (r < 0)
		return yaml_error(in->yaml, field, YAML_AT_VALUE, in->ret_error, r, "%s: %s", name,
				  reason ? reason : "no memory");
	return 0;
}

/* The words of YAML 1.1, which kubectl still reads. */
static bool
is_old_bool(const cJSON *field, bool *ret)
{
	static const char *const words[] = {"y", "n", "yes", "no", "on", "off"};

	for (size_t i = 0; cJSON_IsString(field) && i < sizeof(words) / sizeof(*words); i++) {
		if (strcasecmp(field->valuestring, words[i]) != 0)
			continue;
		*ret = i % 2 == 0;
		return true;
	}
	return false;
}

int
kubeconfig_take_bool(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
		     bool *ret_value)
{
	const cJSON *field = cJSON_GetObjectItemCaseSensitive(object, name);

	if (!field || cJSON_IsNull(field))
		return 0;
	if (cJSON_IsBool(field))
		*ret_value = cJSON_IsTrue(field);
	else if (!is_old_bool(field, ret_value))
		return yaml_error(in->yaml, field, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "%s must be true or false", name);
	return 0;
}
