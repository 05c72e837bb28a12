/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubeconfig entries: what one cluster and one user say, taken over into a struct kube_client_config.
 *
 * What flags replace is not looked at: a missing file that nobody needs is no error.
 *
 * Source    client-go tools/clientcmd: field names, data before file, which flag replaces what
 */
#ifndef WRITER_KUBE_KUBECONFIG_ENTRIES_H
#define WRITER_KUBE_KUBECONFIG_ENTRIES_H

#include "writer/kube/kubeconfig.h"
#include "writer/kube/kubeconfig_fields.h"

/*
 * Both return 0, -EINVAL or -ENOTSUP with message, the error of a file, -ENOMEM. `cluster` and `user` may be
 * NULL.
 */
int kubeconfig_take_cluster(const struct kubeconfig_reader *in, const char *name, const cJSON *cluster,
			    const struct kubeconfig_choice *choice, struct kube_client_config *config);
int kubeconfig_take_user(const struct kubeconfig_reader *in, const char *name, const cJSON *user,
			 const struct kubeconfig_choice *choice, struct kube_client_config *config);

#endif
