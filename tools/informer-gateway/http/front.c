/* SPDX-License-Identifier: Apache-2.0 */
/* The state that listeners share; see front.h. */
#include <sodium.h>
#include <stdlib.h>

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
	return front->drain.done != NULL;
}

static double
draw_at_random(void *ctx)
{
	(void)ctx;
	return randombytes_random() / 4294967296.0;
}

struct gw_front *
gw_front_new(uv_loop_t *loop, const struct gw_front_options *options)
{
	struct gw_front *front = api_alloc(sizeof(*front));

	*front = (struct gw_front){.options = *options, .loop = loop};
	if (!front->options.connections)
		front->options.connections = CONNECTIONS;
	if (!front->options.connections_of_one)
		front->options.connections_of_one = front->options.connections;
	front->own_bodies = (struct api_share){.most = BODIES};
	front->bodies = options->bodies ? options->bodies : &front->own_bodies;
	if (!front->options.draw)
		front->options.draw = draw_at_random;
	gw_quota_init(&front->quota, front->options.connections, front->options.connections_of_one);
	uv_timer_init(loop, &front->sweep);
	uv_timer_init(loop, &front->drain.timer);
	front->sweep.data = front->drain.timer.data = front;
	front->open_handles = 2;
	return front;
}

static void
on_closed(uv_handle_t *handle)
{
	struct gw_front *front = handle->data;

	if (--front->open_handles == 0)
		free(front);
}

void
gw_front_free(struct gw_front *front)
{
	if (!front)
		return;
	gw_quota_done(&front->quota);
	uv_close((uv_handle_t *)&front->sweep, on_closed);
	uv_close((uv_handle_t *)&front->drain.timer, on_closed);
}
