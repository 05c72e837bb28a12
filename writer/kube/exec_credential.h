/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exec credential: the two documents that go between us and a credential plugin: what it is told in
 * KUBERNETES_EXEC_INFO, and what it prints.
 *
 * Source    client-go pkg/apis/clientauthentication, plugin/pkg/client/auth/exec
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

/* Free and wipe; a zeroed one is fine. */
void exec_credential_done(struct exec_credential *credential);

/*
 * Read what a plugin printed: JSON, or YAML as client-go takes it.
 *
 * api_version  what the kubeconfig says; an answer of another one is refused
 * ret          set on success only; give it to exec_credential_done()
 * Returns      0, -EPROTO with a message that shows nothing of the answer, -ENOMEM
 */
int exec_credential_parse(const char *data, size_t len, const char *api_version, struct exec_credential *ret,
			  char **ret_error);

/*
 * The value of KUBERNETES_EXEC_INFO, with the cluster where the plugin wants it (its CA is read then).
 * *ret_json is for free(). Returns 0, a negative errno with message when the CA cannot be read, -ENOMEM.
 */
int exec_credential_info(const struct kube_client_config *config, char **ret_json, char **ret_error);

#endif
