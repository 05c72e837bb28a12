/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the broker: libuv closes handles in its own time, so the memory goes with the last of them, the
 * clients' included.
 */
#include <stdlib.h>
#include <unistd.h>

#include "writer/serve/broker_internal.h"

void
broker_destroy(struct broker *b)
{
	if (b->fd >= 0)
		close(b->fd);
	if (b->arena_fd >= 0)
		close(b->arena_fd);
	if (b->reserve >= 0)
		close(b->reserve);
	wake_done(b);
	free(b->allow_uids);
	free(b->allow_gids);
	free(b->path);
	free(b);
}

void
broker_handle_closed(struct broker *b)
{
	void (*done)(void *context) = b->done;
	void *context = b->done_context;

	b->open_handles--;
	if (!b->closing || b->open_handles > 0)
		return;
	broker_destroy(b);
	if (done)
		done(context);
}

void
broker_on_closed(uv_handle_t *handle)
{
	broker_handle_closed(handle->data);
}
