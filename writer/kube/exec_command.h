/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exec command: the arguments and the environment that a credential plugin is started with, and which
 * of them are secrets.
 */
#ifndef WRITER_KUBE_EXEC_COMMAND_H
#define WRITER_KUBE_EXEC_COMMAND_H

#include "writer/kube/client_config.h"

/* The command and its arguments, up to NULL; for exec_command_free(). NULL without memory. */
char **exec_command_arguments(const struct kube_exec *exec);

/*
 * Our own environment, but for what lets its owner speak for us to systemd; the kubeconfig's `env` over it;
 * and KUBERNETES_EXEC_INFO=info. For exec_command_free(); NULL without memory.
 */
char **exec_command_environment(const struct kube_pairs *env, const char *info);

/* Wipes the strings. NULL is fine. */
void exec_command_free(char **strings);

/*
 * What must not be shown of it: the values of `env`, and of arguments as --client-secret=x or --client-secret
 * x. Appended to *ret, on failure too. Returns 0 or -ENOMEM.
 */
int exec_command_secrets(const struct kube_exec *exec, struct kube_pairs *ret);

#endif
