/* SPDX-License-Identifier: Apache-2.0 */
/* What listeners share; see front.h. */
#include <sodium.h>
#include <stdlib.h>

#include "tools/informer-gateway/http/client.h"
#include "tools/informer-gateway/http/front_private.h"

#define CONNECTIONS 10000u
#define BODIES ((size_t)64 << 20)

uv_loop_t *
gw_front_loop(const struct gw_front *front)
{
	return front->loop;
}

const struct gw_front_counters *
gw_front_counters(const struct gw_front *front)
{
	return &front->counters;
}

bool
gw_front_draining(const struct gw_front *front)
{
	return front->draining;
}

static double
draw_at_random(void *ctx)
{
	(void)ctx;
	return randombytes_random() / 4294967296.0;
}

int
gw_front_new(uv_loop_t *loop, const struct gw_front_options *options, struct gw_front **ret_front)
{
	struct gw_front *front = api_alloc(sizeof(*front));
	int r;

	*front = (struct gw_front){.options = *options, .loop = loop};
	if (!front->options.connections)
		front->options.connections = CONNECTIONS;
	if (!front->options.connections_of_one)
		front->options.connections_of_one = front->options.connections;
	front->own_bodies = (struct api_share){.most = BODIES};
	front->bodies = options->bodies ? options->bodies : &front->own_bodies;
	if (!front->options.draw)
		front->options.draw = draw_at_random;
	r = gw_clients_init(front);
	if (r < 0) {
		free(front);
		return r;
	}
	gw_quota_init(&front->quota, front->options.connections, front->options.connections_of_one);
	*ret_front = front;
	return 0;
}

void
gw_front_free(struct gw_front *front)
{
	if (!front)
		return;
	gw_quota_done(&front->quota);
	gw_clients_done(front); /* and then front */
}
