/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubeconfig fields: reading one field of a mapping in a kubeconfig. What is wrong is told
 * with file:line:column; a value is never in a message, for it may be a secret.
 *
 * All return 0 (also for a field that is absent, null or empty, which leaves *ret as it is),
 * -EINVAL with message, -ENOMEM, or the error of a file.
 */
#ifndef WRITER_KUBE_KUBECONFIG_FIELDS_H
#define WRITER_KUBE_KUBECONFIG_FIELDS_H

#include "writer/kube/client_config.h"
#include "writer/base/yaml.h"

struct kubeconfig_reader {
	const struct yaml *yaml;
	char **ret_error;
};

/* *ret_value is NULL when there is none; borrowed from the document. */
int kubeconfig_get_string(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
			  const char **ret_value);

/* Allocated. A path stands relative to the kubeconfig's folder. */
int kubeconfig_take_string(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
			   char **ret_value);
int kubeconfig_take_path(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
			 char **ret_path);
int kubeconfig_take_bool(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
			 bool *ret_value);

/* NAME-data (base64), else the file that NAME says, and that there is PEM in it. */
int kubeconfig_take_pem(const struct kubeconfig_reader *in, const cJSON *object, const char *name,
			struct kube_pem *pem);

#endif
