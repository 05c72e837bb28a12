/* SPDX-License-Identifier: Apache-2.0 */
/* A connection that libcurl makes and leaves alone; see upstream_wire.h. */
#include "tools/informer-gateway/upstream_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/serving/buf.h"
#include "writer/base/message.h"
#include "writer/kube/transport_loop.h"
#include "writer/kube/transport_setup.h"

struct gw_wire {
	struct transport_setup setup;
	struct transport_loop loop;
	uv_loop_t *uv;
	CURL *easy;
	char detail[CURL_ERROR_SIZE];
	const struct gw_wire_callbacks *callbacks;
	void *ctx;
	curl_socket_t fd; /* libcurl's, once it is open */
	int watched;      /* a duplicate of it for the loop; -1: none yet */
	uv_poll_t poll;
	unsigned depth; /* calls of libcurl's under way */
	unsigned parts; /* not closed yet */
	bool open, closing;
};

static void
part_gone(void *owner)
{
	struct gw_wire *w = owner;

	if (--w->parts > 0)
		return;
	transport_setup_done(&w->setup);
	free(w);
}

static void
on_poll_closed(uv_handle_t *handle)
{
	struct gw_wire *w = handle->data;

	close(w->watched);
	part_gone(w);
}

static void
tear_down(struct gw_wire *w)
{
	w->parts = 1 + (w->watched >= 0);
	if (w->watched >= 0) {
		uv_poll_stop(&w->poll);
		uv_close((uv_handle_t *)&w->poll, on_poll_closed);
	}
	curl_multi_remove_handle(w->loop.multi, w->easy);
	curl_easy_cleanup(w->easy);
	transport_loop_close(&w->loop);
}

static void
enter(void *owner)
{
	struct gw_wire *w = owner;

	w->depth++;
}

static void
on_ready(uv_poll_t *poll, int status, int events)
{
	struct gw_wire *w = poll->data;

	(void)status; /* an error is met by whoever reads */
	(void)events;
	w->callbacks->ready(w->ctx);
}

/* Its socket is libcurl's; a duplicate is watched, which nobody closes behind the loop's back. */
static int
watch(struct gw_wire *w)
{
	int r;

	if (curl_easy_getinfo(w->easy, CURLINFO_ACTIVESOCKET, &w->fd) != CURLE_OK || w->fd == CURL_SOCKET_BAD)
		return -ECONNRESET;
	w->watched = fcntl(w->fd, F_DUPFD_CLOEXEC, 0);
	if (w->watched < 0)
		return -errno;
	r = uv_poll_init(w->uv, &w->poll, w->watched);
	if (r < 0) {
		close(w->watched);
		w->watched = -1;
		return r;
	}
	w->poll.data = w;
	return 0;
}

static void
finish(struct gw_wire *w, CURLcode code)
{
	_cleanup_(message_freep) char *message = NULL;
	int r = 0;

	if (code != CURLE_OK)
		r = transport_setup_explain(&w->setup, w->easy, code, w->detail, &message);
	else
		r = watch(w);
	w->open = r == 0;
	w->callbacks->opened(w->ctx, r, r == 0 ? "" : message ? message : strerror(-r));
}

static void
leave(void *owner)
{
	struct gw_wire *w = owner;
	CURLMsg *message;
	int left;

	if (w->depth == 1 && !w->closing && !w->open) {
		message = curl_multi_info_read(w->loop.multi, &left);
		if (message && message->msg == CURLMSG_DONE)
			finish(w, message->data.result);
		else if (transport_loop_broke(&w->loop))
			finish(w, CURLE_OUT_OF_MEMORY);
	}
	if (--w->depth == 0 && w->closing)
		tear_down(w);
}

static int
prepare(struct gw_wire *w)
{
	bool tunnel = strncasecmp(w->setup.proxy, "http", 4) == 0;
	int r = transport_setup_request(&w->setup, w->easy, "/", TRANSPORT_PLAIN | TRANSPORT_WATCH);

	if (r < 0)
		return r;
	return curl_easy_setopt(w->easy, CURLOPT_CONNECT_ONLY, 1L) == CURLE_OK &&
			       curl_easy_setopt(w->easy, CURLOPT_HTTPPROXYTUNNEL, tunnel ? 1L : 0L) ==
				       CURLE_OK &&
			       curl_easy_setopt(w->easy, CURLOPT_ERRORBUFFER, w->detail) == CURLE_OK
		       ? 0
		       : -ENOMEM;
}

int
gw_wire_open(struct gw_upstream *upstream, const struct gw_wire_callbacks *callbacks, void *ctx,
	     struct gw_wire **ret_wire, char **ret_error)
{
	struct gw_wire *w = api_alloc(sizeof(*w));
	int r;

	*w = (struct gw_wire){.uv = gw_upstream_loop(upstream),
			      .callbacks = callbacks,
			      .ctx = ctx,
			      .watched = -1,
			      .loop = {.enter = enter, .leave = leave, .gone = part_gone, .owner = w}};
	r = transport_setup_init(&w->setup, gw_upstream_route(upstream), ret_error);
	if (r < 0) {
		free(w);
		return r;
	}
	w->easy = curl_easy_init();
	r = w->easy ? prepare(w) : -ENOMEM;
	if (r == 0)
		r = transport_loop_init(&w->loop, w->uv);
	if (r < 0) {
		curl_easy_cleanup(w->easy);
		transport_setup_done(&w->setup);
		free(w);
		return r;
	}
	if (curl_multi_add_handle(w->loop.multi, w->easy) != CURLM_OK) {
		tear_down(w);
		return -ENOMEM;
	}
	*ret_wire = w;
	return 0;
}

void
gw_wire_close(struct gw_wire *wire)
{
	if (!wire || wire->closing)
		return;
	wire->closing = true;
	if (wire->depth == 0)
		tear_down(wire);
}

void
gw_wire_want(struct gw_wire *wire, bool to_read, bool to_write)
{
	int events = (to_read ? UV_READABLE : 0) | (to_write ? UV_WRITABLE : 0);

	if (!wire->open || wire->closing)
		return;
	if (events)
		uv_poll_start(&wire->poll, events, on_ready);
	else
		uv_poll_stop(&wire->poll);
}

ssize_t
gw_wire_read(struct gw_wire *wire, void *to, size_t max)
{
	size_t n = 0;
	CURLcode code = curl_easy_recv(wire->easy, to, max, &n);

	return code == CURLE_OK ? (ssize_t)n : code == CURLE_AGAIN ? -EAGAIN : -ECONNRESET;
}

ssize_t
gw_wire_write(struct gw_wire *wire, const void *data, size_t length)
{
	size_t n = 0;
	CURLcode code = curl_easy_send(wire->easy, data, length, &n);

	return code == CURLE_OK ? (ssize_t)n : code == CURLE_AGAIN ? -EAGAIN : -ECONNRESET;
}

void
gw_wire_end_writing(struct gw_wire *wire)
{
	shutdown(wire->fd, SHUT_WR);
}
