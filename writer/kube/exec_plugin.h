/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a credential plugin (aws, gke-gcloud-auth-plugin, kubelogin, ...).
 *
 * The plugin runs beside the loop in a session of its own, with /dev/null as standard input and no other
 * descriptor of ours. exec_command.h says what its environment is. Beyond EXEC_PLUGIN_TIMEOUT_MS (or the
 * request timeout, if shorter) or EXEC_PLUGIN_MAX_BYTES of output, it is killed with all processes that it
 * started. If the plugin has ended and a process that it left behind still prints, the output is closed and
 * no process is killed.
 *
 * Threads: the loop's. Source: client-go plugin/pkg/client/auth/exec
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
 * The end of a run. Called once, from the loop, unless the run was cancelled.
 *
 * credential  the result, which the callee takes over; NULL: the run failed
 * error       the reason then: the command, what happened, its stderr (redacted)
 */
typedef void exec_plugin_done(void *ctx, struct exec_credential *credential, const char *error);

/*
 * Start a run. `config` is borrowed for the call.
 *
 * ret_plugin  valid until done() or exec_plugin_cancel()
 * Returns     0; negative errno with message: it could not be started
 */
int exec_plugin_start(uv_loop_t *loop, const struct kube_client_config *config, exec_plugin_done *done,
		      void *ctx, struct exec_plugin **ret_plugin, char **ret_error);

/* Kill the plugin; done() is not called. The loop must run on to close its handles. NULL is fine. */
void exec_plugin_cancel(struct exec_plugin *plugin);

#endif
