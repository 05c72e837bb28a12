/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies one cluster and one user of a kubeconfig into a struct kube_client_config.
 *
 * Fields that flags replace are not read: if a file is missing that is not needed, that is no error.
 *
 * Source: client-go tools/clientcmd: field names, data before file, which flag replaces what
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
