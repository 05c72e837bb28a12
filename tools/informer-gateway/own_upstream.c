/* SPDX-License-Identifier: Apache-2.0 */
/* Which upstream, and what for; see own_upstream.h. */
#include "tools/informer-gateway/own_upstream.h"

#include "tools/informer-gateway/arena_handles.h"
#include "tools/informer-gateway/lacking_fields.h"
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

/* ---- what objects of the arena lack ---- */

bool
gw_arena_lacks(void *ctx, const struct api_resource *resource, struct api_buf *ret)
{
	const struct gw_arena *arena = ctx;
	struct informer_snapshot snapshot;
	bool lacks;

	if (informer_begin(arena->reads, &snapshot) < 0)
		return false;
	lacks = gw_lacking_fields(&snapshot, resource, ret);
	informer_end(&snapshot);
	return lacks;
}
