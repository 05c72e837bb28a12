/* SPDX-License-Identifier: Apache-2.0 */
/* Which upstream, and what for; see own_upstream.h. */
#include "tools/informer-gateway/upstream/own_upstream.h"

#include "writer/base/message.h"

int
gw_own_upstream(uv_loop_t *loop, struct clock *clock, const struct server_choice *choice,
		struct gw_upstream **ret_upstream, char **ret_error)
{
	struct kubeconfig_choice which = server_choice_kubeconfig(choice);
	struct kube_client_config config = {0};
	int r = kubeconfig_load(&which, &config, ret_error);

	if (r < 0)
		return r;
	r = gw_upstream_new(loop, clock, &config, ret_upstream, ret_error);
	kube_client_config_done(&config);
	return r;
}
