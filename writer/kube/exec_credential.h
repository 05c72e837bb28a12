/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two documents exchanged with a credential plugin: its input in KUBERNETES_EXEC_INFO, and its output.
 *
 * Source: client-go pkg/apis/clientauthentication, plugin/pkg/client/auth/exec
 */
#ifndef WRITER_KUBE_EXEC_CREDENTIAL_H
#define WRITER_KUBE_EXEC_CREDENTIAL_H

#include <stddef.h>
#include <stdint.h>

#include "writer/kube/client_config.h"

struct exec_credential {
	char *token;		   /* or NULL */
	struct kube_pem cert, key; /* both or neither */
	int64_t expires_s;	   /* seconds since 1970; INT64_MAX: never */
};

/* Free and wipe. A zeroed one is fine. */
void exec_credential_done(struct exec_credential *credential);

/*
 * Read a plugin's output: JSON, or YAML as client-go takes it.
 *
 * api_version  the kubeconfig's; an answer of another version is refused
 * ret          set on success only; free with exec_credential_done()
 * Returns      0; -EPROTO with a message that shows nothing of the answer; -ENOMEM
 */
int exec_credential_parse(const char *data, size_t len, const char *api_version, struct exec_credential *ret,
			  char **ret_error);

/*
 * The value of KUBERNETES_EXEC_INFO, with the cluster if the plugin wants it (its CA is read then). Free
 * *ret_json with free(). Returns 0; a negative errno with message: the CA cannot be read; -ENOMEM.
 */
int exec_credential_info(const struct kube_client_config *config, char **ret_json, char **ret_error);

#endif
