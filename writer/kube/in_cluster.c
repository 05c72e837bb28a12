/* SPDX-License-Identifier: Apache-2.0 */
/* The service account of a pod; see in_cluster.h. */
#include "writer/kube/in_cluster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/base/file.h"
#include "writer/base/message.h"

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

int
in_cluster_read(const char *host, const char *port, const char *root, struct kube_client_config *config,
		char **ret_error)
{
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
	if (asprintf(&config->server, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "",
		     port ? port : "443") < 0) {
		config->server = NULL;
		return -ENOMEM;
	}
	config->origin = strdup("in-cluster");
	if (!config->origin)
		return -ENOMEM;

	r = file_read(config->token_file, KUBE_PEM_MAX_BYTES, &text, &len, &reason);
	if (r < 0)
		return message_set(ret_error, r,
				   "in a pod, but without its service account's token (%s): set "
				   "automountServiceAccountToken: "
				   "true, or " KUBECONFIG_HOW_TO_FIND,
				   reason ? reason : "no memory");
	explicit_bzero(text, len);
	if (access(config->ca.file, R_OK) < 0) { /* as client-go: use the system's bundle */
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
