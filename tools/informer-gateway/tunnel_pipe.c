/* SPDX-License-Identifier: Apache-2.0 */
/* One direction of a tunnel; see tunnel_pipe.h. */
#include "tools/informer-gateway/tunnel_pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

void
gw_pipe_done(struct gw_pipe *pipe)
{
	free(pipe->data);
	*pipe = (struct gw_pipe){0};
}

static void
make_room(struct gw_pipe *pipe, size_t size)
{
	if (pipe->begin > 0 && pipe->size - pipe->end < GW_PIPE_ROOM) {
		memmove(pipe->data, pipe->data + pipe->begin, pipe->end - pipe->begin);
		pipe->end -= pipe->begin;
		pipe->begin = 0;
	}
	if (pipe->size >= size)
		return;
	pipe->data = api_realloc(pipe->data, size);
	pipe->size = size;
}

void
gw_pipe_put(struct gw_pipe *pipe, const void *data, size_t length)
{
	if (length == 0)
		return;
	make_room(pipe, pipe->end + length);
	memcpy(pipe->data + pipe->end, data, length);
	pipe->end += length;
}

static int
take_in(struct gw_pipe *pipe, gw_pipe_read *read, void *ctx)
{
	ssize_t n;

	if (!gw_pipe_has_room(pipe))
		return 0;
	make_room(pipe, GW_PIPE_BYTES);
	n = read(ctx, pipe->data + pipe->end, pipe->size - pipe->end);
	if (n < 0)
		return n == -EAGAIN || n == -EINTR ? 0 : (int)n;
	pipe->ended = n == 0;
	pipe->end += (size_t)n;
	return n > 0;
}

static int
give_out(struct gw_pipe *pipe, gw_pipe_write *write, void *ctx)
{
	ssize_t n;

	if (pipe->begin == pipe->end)
		return 0;
	n = write(ctx, pipe->data + pipe->begin, pipe->end - pipe->begin);
	if (n < 0)
		return n == -EAGAIN || n == -EINTR ? 0 : (int)n;
	pipe->begin += (size_t)n;
	return n > 0;
}

int
gw_pipe_move(struct gw_pipe *pipe, gw_pipe_read *read, gw_pipe_write *write, void *ctx)
{
	int in = take_in(pipe, read, ctx), out;

	if (in < 0)
		return in;
	out = give_out(pipe, write, ctx);
	return out < 0 ? out : in || out;
}

bool
gw_pipe_has_room(const struct gw_pipe *pipe)
{
	return !pipe->ended &&
	       (pipe->begin == pipe->end || pipe->end < pipe->size || pipe->size < GW_PIPE_BYTES);
}

bool
gw_pipe_has_bytes(const struct gw_pipe *pipe)
{
	return pipe->begin < pipe->end;
}

bool
gw_pipe_is_through(const struct gw_pipe *pipe)
{
	return pipe->ended && pipe->begin == pipe->end;
}
