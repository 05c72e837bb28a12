/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tunnel's life; see upgrade_tunnel.h.
 *
 *	wire opens ──▶ request out, answer in ─┬─▶ 101 to the client ──▶ on_upgraded: bytes both ways ──▶
 *closed └─▶ replied
 */
#include "tools/informer-gateway/upgrade_tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/informer-gateway/absent_reply.h"
#include "tools/informer-gateway/tunnel_client.h"
#include "tools/informer-gateway/tunnel_pipe.h"
#include "tools/informer-gateway/upgrade_ask.h"
#include "writer/base/message.h"

#define ROUNDS 32u /* of both buffers, before others have their turn */

struct gw_tunnels {
	struct gw_upstream *upstream;
	unsigned open;
};

struct tunnel {
	struct gw_tunnels *tunnels;
	struct gw_exchange *x;
	struct gw_wire *wire;
	struct clock_timer timer;
	uint64_t moved_ms; /* when a byte last did */

	struct gw_upgrade_ask ask;
	struct MHD_UpgradeResponseHandle *urh; /* NULL: not switched */
	struct gw_tunnel_client client;
	int watched; /* a duplicate of it, for the loop; -1: there is none */
	uv_poll_t poll;
	struct gw_pipe up, down;
};

static void pump(struct tunnel *t);
static void on_time(void *ctx);

/* ---- the end -------------------------------------------------------------------------------- */

static void
tunnel_free(struct tunnel *t)
{
	t->tunnels->open--;
	gw_upgrade_ask_done(&t->ask);
	gw_pipe_done(&t->up);
	gw_pipe_done(&t->down);
	free(t);
}

static void
on_poll_closed(uv_handle_t *handle)
{
	struct tunnel *t = handle->data;

	close(t->watched);
	tunnel_free(t);
}

/* Both sides; of an exchange that was not switched only ours, its answer is somebody else's to give. */
static void
tunnel_close(struct tunnel *t)
{
	clock_clear(gw_upstream_clock(t->tunnels->upstream), &t->timer);
	gw_wire_close(t->wire);
	if (!t->urh) {
		tunnel_free(t);
		return;
	}
	gw_upgrade_close(t->x, t->urh);
	if (t->watched < 0) {
		tunnel_free(t);
		return;
	}
	uv_poll_stop(&t->poll);
	uv_close((uv_handle_t *)&t->poll, on_poll_closed);
}

static void
on_gone(void *ctx)
{
	tunnel_close(ctx);
}

/* Answer what was not switched with x->api.status. */
static void
fail(struct tunnel *t, int code, const char *reason, const char *message)
{
	struct gw_exchange *x = t->x;

	api_status_set(&x->api.status, code, reason, "%s", message);
	tunnel_close(t);
	gw_reply_status(x);
}

static void
set_timer(struct tunnel *t, uint64_t delay_ms)
{
	clock_set(gw_upstream_clock(t->tunnels->upstream), &t->timer, delay_ms, on_time, t);
}

static uint64_t
now_ms(const struct tunnel *t)
{
	struct clock *clock = gw_upstream_clock(t->tunnels->upstream);

	return clock->now_ms(clock);
}

/* ---- the answer ----------------------------------------------------------------------------- */

/* Upstream did not switch: its answer is the client's. */
static void
reply_answer(struct tunnel *t)
{
	const struct gw_answer_head *head = &t->ask.head;
	const char *type = gw_answer_header(head, "Content-Type");
	struct gw_exchange *x = t->x;
	struct api_buf body = t->ask.body;
	unsigned code = (unsigned)head->status;
	_cleanup_(api_freep) char *kept = api_strndup(type ? type : "", type ? strlen(type) : 0);

	for (unsigned i = 0; i < head->count; i++)
		if (gw_forward_answer(head->headers[i].name, gw_answer_header(head, "Connection")))
			gw_reply_header(x, head->headers[i].name, head->headers[i].value);
	t->ask.body = (struct api_buf){0};
	tunnel_close(t);
	gw_reply(x, code, kept, &body);
}

static void on_upgraded(void *ctx, struct MHD_Connection *connection, void *request, const char *extra,
			size_t extra_size, MHD_socket fd, struct MHD_UpgradeResponseHandle *urh);

static void
switch_over(struct tunnel *t)
{
	const struct gw_answer_head *head = &t->ask.head;
	const char *connection = gw_answer_header(head, "Connection");
	const char *upgrade = gw_answer_header(head, "Upgrade");
	struct MHD_Response *response;

	if (!upgrade || !gw_names_have(connection, "Upgrade")) {
		fail(t, 502, "InternalError", "the API server switched to a protocol without a name");
		return;
	}
	response = MHD_create_response_for_upgrade(on_upgraded, t);
	if (!response) {
		fail(t, 500, "InternalError", "this connection cannot be switched to another protocol");
		return;
	}
	(void)MHD_add_response_header(response, "Upgrade", upgrade);
	for (unsigned i = 0; i < head->count; i++)
		if (gw_forward_answer(head->headers[i].name, connection))
			(void)MHD_add_response_header(response, head->headers[i].name,
						      head->headers[i].value);
	gw_pipe_put(&t->down, t->ask.body.data, t->ask.body.len);
	gw_wire_want(t->wire, false, false);
	clock_clear(gw_upstream_clock(t->tunnels->upstream), &t->timer);
	gw_reply_response(t->x, MHD_HTTP_SWITCHING_PROTOCOLS, response);
}

static void
converse(struct tunnel *t)
{
	switch (gw_upgrade_ask_turn(&t->ask, t->wire)) {
	case GW_UPGRADE_WAITS:
		break;
	case GW_UPGRADE_SWITCHED:
		switch_over(t);
		break;
	case GW_UPGRADE_ANSWERED:
		reply_answer(t);
		break;
	case GW_UPGRADE_BROKEN:
		fail(t, 502, "InternalError", "the API server's answer broke off, or is none");
		break;
	}
}

static void
on_opened(void *ctx, int result, const char *message)
{
	struct tunnel *t = ctx;
	struct gw_exchange *x = t->x;

	if (result < 0) {
		tunnel_close(t);
		gw_reply_absent(x, message);
		return;
	}
	converse(t);
}

/* ---- bytes both ways ------------------------------------------------------------------------ */

static ssize_t
client_read(void *ctx, void *to, size_t max)
{
	struct tunnel *t = ctx;

	return gw_tunnel_client_read(&t->client, to, max);
}

static ssize_t
client_write(void *ctx, const void *data, size_t length)
{
	struct tunnel *t = ctx;
	ssize_t n = gw_tunnel_client_write(&t->client, data, length);

	if (n > 0)
		t->x->sent += (uint64_t)n;
	return n;
}

static ssize_t
wire_read(void *ctx, void *to, size_t max)
{
	struct tunnel *t = ctx;

	return gw_wire_read(t->wire, to, max);
}

static ssize_t
wire_write(void *ctx, const void *data, size_t length)
{
	struct tunnel *t = ctx;

	return gw_wire_write(t->wire, data, length);
}

/* What a side had sent is through: tell the other that no more comes. */
static void
pass_ends_on(struct tunnel *t)
{
	if (gw_pipe_is_through(&t->up) && !t->up.told) {
		t->up.told = true;
		gw_wire_end_writing(t->wire);
	}
	if (gw_pipe_is_through(&t->down) && !t->down.told) {
		t->down.told = true;
		gw_tunnel_client_end_writing(&t->client);
	}
}

static void
on_client(uv_poll_t *poll, int status, int events)
{
	(void)status; /* an error is met by whoever reads */
	(void)events;
	pump(poll->data);
}

static void
wait_for_more(struct tunnel *t)
{
	int events = (gw_pipe_has_room(&t->up) ? UV_READABLE : 0) |
		     (gw_pipe_has_bytes(&t->down) ? UV_WRITABLE : 0);

	gw_wire_want(t->wire, gw_pipe_has_room(&t->down), gw_pipe_has_bytes(&t->up));
	if (events)
		uv_poll_start(&t->poll, events, on_client);
	else
		uv_poll_stop(&t->poll);
}

static void
pump(struct tunnel *t)
{
	int up = 1, down = 1;

	for (unsigned round = 0; round < ROUNDS && (up > 0 || down > 0); round++) {
		up = gw_pipe_move(&t->up, client_read, wire_write, t);
		down = gw_pipe_move(&t->down, wire_read, client_write, t);
		if (up > 0 || down > 0)
			t->moved_ms = now_ms(t);
		if (up < 0 || down < 0) {
			tunnel_close(t);
			return;
		}
	}
	pass_ends_on(t);
	if (t->up.told && t->down.told) {
		tunnel_close(t);
		return;
	}
	wait_for_more(t);
	set_timer(t, up > 0 || down > 0           ? 0
		     : t->up.told || t->down.told ? GW_TUNNEL_LINGER_MS
						  : GW_TUNNEL_IDLE_MS);
}

static void
on_time(void *ctx)
{
	struct tunnel *t = ctx;
	uint64_t limit = t->up.told || t->down.told ? GW_TUNNEL_LINGER_MS : GW_TUNNEL_IDLE_MS;

	if (!t->urh)
		fail(t, 504, "Timeout", "the API server did not answer in time");
	else if (t->watched < 0 || now_ms(t) - t->moved_ms >= limit) /* <0: no descriptor was left for it */
		tunnel_close(t);
	else
		pump(t);
}

static void
on_ready(void *ctx)
{
	struct tunnel *t = ctx;

	if (t->urh)
		pump(t);
	else
		converse(t);
}

/* From within libmicrohttpd: only looked at, and done by the timer. */
static void
on_upgraded(void *ctx, struct MHD_Connection *connection, void *request, const char *extra, size_t extra_size,
	    MHD_socket fd, struct MHD_UpgradeResponseHandle *urh)
{
	struct tunnel *t = ctx;

	(void)request;
	t->urh = urh;
	gw_tunnel_client_take(&t->client, connection, fd);
	t->moved_ms = now_ms(t);
	t->poll.data = t;
	gw_pipe_put(&t->up, extra, extra_size);
	t->watched = fcntl(t->client.fd, F_DUPFD_CLOEXEC, 0);
	if (t->watched >= 0 &&
	    uv_poll_init(gw_upstream_loop(t->tunnels->upstream), &t->poll, t->watched) < 0) {
		close(t->watched);
		t->watched = -1;
	}
	set_timer(t, 0);
}

/* ---- what others call ----------------------------------------------------------------------- */

bool
gw_wants_upgrade(const struct gw_exchange *x)
{
	const char *upgrade = api_request_header(&x->api, "Upgrade");

	return upgrade && *upgrade && gw_names_have(api_request_header(&x->api, "Connection"), "Upgrade");
}

void
gw_tunnel(struct gw_tunnels *tunnels, struct gw_exchange *x, const struct gw_header_lines *lines)
{
	static const struct gw_wire_callbacks callbacks = {on_opened, on_ready};
	_cleanup_(message_freep) char *error = NULL;
	struct tunnel *t;

	if (tunnels->open >= GW_TUNNELS_MAX) {
		api_status_set(&x->api.status, 429, "TooManyRequests", "too many tunnels are open");
		x->api.status.retry_after = 1;
		gw_reply_status(x);
		return;
	}
	t = api_alloc(sizeof(*t));
	*t = (struct tunnel){.tunnels = tunnels, .x = x, .watched = -1};
	tunnels->open++;
	if (gw_upgrade_ask_write(&t->ask, x, gw_upstream_server(tunnels->upstream), lines) < 0 ||
	    gw_wire_open(tunnels->upstream, &callbacks, t, &t->wire, &error) < 0) {
		fail(t, 500, "InternalError", error ? error : "this cannot be asked of the API server");
		return;
	}
	gw_on_gone(x, on_gone, t);
	set_timer(t, GW_TUNNEL_ANSWER_MS);
}

struct gw_tunnels *
gw_tunnels_new(struct gw_upstream *upstream)
{
	struct gw_tunnels *tunnels = api_alloc(sizeof(*tunnels));

	*tunnels = (struct gw_tunnels){.upstream = upstream};
	return tunnels;
}

void
gw_tunnels_free(struct gw_tunnels *tunnels)
{
	free(tunnels);
}

unsigned
gw_tunnels_open(const struct gw_tunnels *tunnels)
{
	return tunnels->open;
}
