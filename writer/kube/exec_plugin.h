/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exec plugin: one run of a credential plugin (aws, gke-gcloud-auth-plugin, kubelogin, ...).
 *
 * It runs beside the loop, in a session of its own, with /dev/null as standard input and no other
 * descriptor of ours; its environment is ours, without what systemd meant for us, with the kubeconfig's, and
 * KUBERNETES_EXEC_INFO. Limits: EXEC_PLUGIN_TIMEOUT_MS (or the request timeout, when that is shorter)
 * and EXEC_PLUGIN_MAX_BYTES of output; beyond them it is killed with all that it started. If it has ended
 * already, and a process that it left behind prints still, the output is closed, and nobody is killed.
 *
 * Threads   the loop's
 * Source    client-go plugin/pkg/client/auth/exec
 */
#ifndef WRITER_KUBE_EXEC_PLUGIN_H
#define WRITER_KUBE_EXEC_PLUGIN_H

#include <uv.h>

#include "writer/kube/client_config.h"
#include "writer/kube/exec_credential.h"

#define EXEC_PLUGIN_TIMEOUT_MS 60000u
#define EXEC_PLUGIN_MAX_BYTES  (1u << 20)

struct exec_plugin;

/*
 * How a run ends: once, from the loop, unless it was cancelled.
 *
 * credential  what it gave, taken by the callee; NULL when it failed
 * error       then why: the command, what happened, what it wrote on stderr (redacted)
 */
typedef void exec_plugin_done(void *ctx, struct exec_credential *credential, const char *error);

/*
 * Start it. `config` is borrowed for the call.
 *
 * ret_plugin  valid until done() or exec_plugin_cancel()
 * Returns     0, or a negative errno with message: it could not be started
 */
int exec_plugin_start(uv_loop_t *loop, const struct kube_client_config *config, exec_plugin_done *done,
		      void *ctx, struct exec_plugin **ret_plugin, char **ret_error);

/* Kill it; done() is not called. The loop must run until what is left of it is closed. NULL is fine. */
void exec_plugin_cancel(struct exec_plugin *plugin);

#endif
