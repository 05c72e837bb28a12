/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one field of a mapping in a kubeconfig. Errors have file:line:column. A value is never in a message,
 * because it may be a secret.
 *
 * All return 0; -EINVAL with message; -ENOMEM; or the error of a file. A field that is absent, null or empty
 * returns 0 and leaves *ret unchanged.
 */
#ifndef WRITER_KUBE_KUBECONFIG_FIELDS_H
#define WRITER_KUBE_KUBECONFIG_FIELDS_H

#include "writer/kube/client_config.h"
#include "writer/base/yaml.h"

struct kubeconfig_reader {
	const struct yaml *yaml;
	char **ret_error;
};

/* *ret_value is borrowed from the document; NULL: there is none. */
int kubeconfig_get_string(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
			  const char **ret_value);

/* The result is allocated. A path is relative to the kubeconfig's folder. */
int kubeconfig_take_string(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
			   char **ret_value);
int kubeconfig_take_path(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
			 char **ret_path);
int kubeconfig_take_bool(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
			 bool *ret_value);

/* Take NAME-data (base64), else the file that NAME names; checks that it has PEM in it. */
int kubeconfig_take_pem(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
			struct kube_pem *pem);

#endif
