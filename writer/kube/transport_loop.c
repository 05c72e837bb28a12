/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl's sockets and timeout on libuv; see transport_loop.h. */
#include "writer/kube/transport_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define CUT_TOLD_MS 1000u

/* One socket of libcurl's that libuv watches. */
struct polled {
	uv_poll_t poll;
	struct transport_loop *loop;
	struct polled *prev, *next;
	curl_socket_t fd;
	uint64_t heard_ms; /* when data last came; at first when it was made */
};

/* libcurl does not tell its transfers that memory was missing: some sockets may no longer be watched. */
static void
act(struct transport_loop *l, curl_socket_t fd, int action)
{
	int running;

	if (curl_multi_socket_action(l->multi, fd, action, &running) != CURLM_OK)
		l->broke = true;
}

static void
on_ready(uv_poll_t *poll, int status, int events)
{
	struct polled *w = (struct polled *)(void *)poll;
	struct transport_loop *l = w->loop;
	int action = 0;

	if (status < 0)
		action = CURL_CSELECT_ERR;
	if (events & UV_READABLE) {
		action |= CURL_CSELECT_IN;
		w->heard_ms = uv_now(l->loop);
	}
	if (events & UV_WRITABLE)
		action |= CURL_CSELECT_OUT;
	l->enter(l->owner);
	act(l, w->fd, action);
	l->leave(l->owner);
}

static void
on_timeout_passed(uv_timer_t *timer)
{
	struct transport_loop *l = timer->data;

	l->enter(l->owner);
	transport_loop_turn(l);
	l->leave(l->owner);
}

static int
on_timeout(CURLM *multi, long timeout_ms, void *ctx)
{
	struct transport_loop *l = ctx;

	(void)multi;
	if (l->closing || timeout_ms < 0)
		uv_timer_stop(&l->timeout);
	else
		uv_timer_start(&l->timeout, on_timeout_passed, (uint64_t)timeout_ms, 0);
	return 0;
}

static void
handle_gone(struct transport_loop *l)
{
	if (--l->n_handles == 0)
		l->gone(l->owner);
}

static void
on_watched_closed(uv_handle_t *handle)
{
	struct polled *w = (struct polled *)(void *)handle;
	struct transport_loop *l = w->loop;

	free(w);
	handle_gone(l);
}

static void
on_timer_closed(uv_handle_t *handle)
{
	handle_gone(handle->data);
}

static void
unwatch(struct polled *w)
{
	struct transport_loop *l = w->loop;

	if (w->prev)
		w->prev->next = w->next;
	else
		l->polled = w->next;
	if (w->next)
		w->next->prev = w->prev;
	uv_poll_stop(&w->poll);
	uv_close((uv_handle_t *)&w->poll, on_watched_closed);
}

static struct polled *
watch(struct transport_loop *l, curl_socket_t fd)
{
	struct polled *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	if (uv_poll_init_socket(l->loop, &w->poll, fd) < 0) {
		free(w);
		return NULL;
	}
	l->n_handles++;
	w->loop = l;
	w->fd = fd;
	w->heard_ms = uv_now(l->loop);
	w->next = l->polled;
	if (w->next)
		w->next->prev = w;
	l->polled = w;
	curl_multi_assign(l->multi, fd, w);
	return w;
}

static int
on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
	struct transport_loop *l = ctx;
	struct polled *w = socket_ctx;
	int events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (w) {
			curl_multi_assign(l->multi, fd, NULL);
			unwatch(w);
		}
		return 0;
	}
	if (!w)
		w = watch(l, fd);
	if (what & CURL_POLL_IN)
		events |= UV_READABLE;
	if (what & CURL_POLL_OUT)
		events |= UV_WRITABLE;
	/* An error returned to libcurl would make it give up all later transfers as well. */
	if (!w || uv_poll_start(&w->poll, events, on_ready) < 0)
		l->broke = true;
	return 0;
}

int
transport_loop_init(struct transport_loop *loop, uv_loop_t *uv)
{
	loop->multi = curl_multi_init();
	if (!loop->multi)
		return -ENOMEM;
	loop->loop = uv;
	curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
	curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
	curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
	curl_multi_setopt(loop->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
	uv_timer_init(uv, &loop->timeout);
	loop->timeout.data = loop;
	loop->n_handles = 1;
	return 0;
}

void
transport_loop_turn(struct transport_loop *loop)
{
	act(loop, CURL_SOCKET_TIMEOUT, 0);
}

bool
transport_loop_broke(struct transport_loop *loop)
{
	bool broke = loop->broke;

	loop->broke = false;
	return broke;
}

/* ---- silence ------------------------------------------------------------------------------ */

uint64_t
transport_loop_heard_ms(const struct transport_loop *loop)
{
	uint64_t oldest = TRANSPORT_LOOP_NONE;

	for (const struct polled *w = loop->polled; w; w = w->next)
		if (w->heard_ms < oldest)
			oldest = w->heard_ms;
	return oldest;
}

void
transport_loop_cut(struct transport_loop *loop, uint64_t heard_ms)
{
	for (const struct polled *w = loop->polled; w; w = w->next) {
		if (w->heard_ms > heard_ms)
			continue;
		loop->cut_ms = uv_now(loop->loop);
		loop->cuts++;
		shutdown(w->fd, SHUT_RDWR);
	}
}

bool
transport_loop_was_cut(const struct transport_loop *loop)
{
	return loop->cuts > 0 && uv_now(loop->loop) - loop->cut_ms <= CUT_TOLD_MS;
}

void
transport_loop_close(struct transport_loop *loop)
{
	loop->closing = true;
	curl_multi_cleanup(loop->multi); /* closes connections, which unwatches their sockets */
	while (loop->polled)
		unwatch(loop->polled);
	uv_close((uv_handle_t *)&loop->timeout, on_timer_closed);
}
