/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments and the environment of a credential plugin, and which of them are secrets.
 */
#ifndef WRITER_KUBE_EXEC_COMMAND_H
#define WRITER_KUBE_EXEC_COMMAND_H

#include "writer/kube/client_config.h"

/* The command and its arguments, ended by NULL. Free with exec_command_free(). NULL: no memory. */
char **exec_command_arguments(const struct kube_exec *exec);

/*
 * The plugin's environment: ours, without the variables by which we speak to systemd; then the kubeconfig's
 * `env`, which wins; then KUBERNETES_EXEC_INFO=info. Free with exec_command_free(). NULL: no memory.
 */
char **exec_command_environment(const struct kube_pairs *env, const char *info);

/* Wipes the strings. NULL is fine. */
void exec_command_free(char **strings);

/*
 * Append the secrets to *ret, on failure too: the values of `env`, and of arguments such as --client-secret=x
 * or --client-secret x. Returns 0 or -ENOMEM.
 */
int exec_command_secrets(const struct kube_exec *exec, struct kube_pairs *ret);

#endif
