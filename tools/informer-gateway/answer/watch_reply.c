/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers a WATCH with a stream. Lines are made when the client takes bytes. Without a line the stream sleeps
 * until the store wakes it, or until its next bookmark or its end is due. Watches that begin with the same
 * list share its bytes (list_body.h), then continue separately.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/answer/list_body.h"
#include "tools/informer-gateway/answer/routing.h"
#include "tools/serving/answer.h"
#include "tools/serving/api_watch.h"

#define TIMEOUT_MS 1800000u /* default: between this and its double, at random, as upstream */

struct watcher {
	struct gw_exchange *x;
	struct gw_router *router;
	struct gw_store *store; /* the route's store */
	struct api_watch *watch;
	struct api_frame *frame; /* the frame being sent */
	size_t offset;
	uv_timer_t timer;               /* for the next bookmark or the end */
	struct gw_body_reader *initial; /* the initial events; NULL: none, or sent */
	bool ending;
};

static uint64_t
now_ms(const struct watcher *w)
{
	return uv_now(gw_front_loop(w->router->front));
}

static void
on_due(uv_timer_t *timer)
{
	struct watcher *w = timer->data;

	gw_stream_wake(w->x);
}

static void
on_store(void *ctx)
{
	struct watcher *w = ctx;

	gw_stream_wake(w->x);
}

/* Get the next line. Returns 1; without a line, the result for the stream's read. */
static ssize_t
next(struct watcher *w)
{
	uint64_t now = now_ms(w), until;

	switch (api_watch_next(w->watch, now, &w->frame)) {
	case API_WATCH_LINE:
		w->offset = 0;
		return 1;
	case API_WATCH_END:
		return GW_STREAM_END;
	case API_WATCH_WAIT:
		break;
	}
	until = api_watch_wait_until(w->watch);
	uv_timer_start(&w->timer, on_due, until > now ? until - now : 0, 0);
	return 0;
}

static ssize_t
read_lines(struct watcher *w, char *out, size_t max)
{
	size_t done = 0;

	while (done < max) {
		ssize_t said = w->frame ? 1 : next(w);
		size_t n;

		if (said <= 0)
			return done ? (ssize_t)done : said;
		n = w->frame->len - w->offset < max - done ? w->frame->len - w->offset : max - done;
		memcpy(out + done, w->frame->bytes + w->offset, n);
		done += n;
		w->offset += n;
		if (w->offset < w->frame->len)
			continue;
		api_frame_unref(w->frame);
		w->frame = NULL;
	}
	return (ssize_t)done;
}

/* Begin behind the snapshot `behind`, or, if `behind` is 0, as the query says. */
static int open_watch(struct watcher *w, struct gw_body_shown behind);

static ssize_t
read_watch(void *ctx, char *out, size_t max)
{
	struct watcher *w = ctx;
	struct gw_body_shown behind;
	ssize_t n;

	if (w->initial) {
		n = w->ending ? GW_STREAM_BROKEN : gw_body_read(w->initial, out, max);
		if (n != GW_STREAM_END)
			return n;
		behind = gw_body_shown(w->initial);
		gw_body_leave(w->initial);
		w->initial = NULL;
		if (open_watch(w, behind) < 0)
			return GW_STREAM_BROKEN;
	}
	return read_lines(w, out, max);
}

static void
end_watch(void *ctx)
{
	struct watcher *w = ctx;

	w->ending = true;
	if (w->watch)
		api_watch_end(w->watch, "the gateway ends");
}

static void
on_timer_closed(uv_handle_t *timer)
{
	free(timer->data);
}

static void
watch_closed(void *ctx)
{
	struct watcher *w = ctx;

	gw_body_leave(w->initial);
	api_watch_free(w->watch);
	api_frame_unref(w->frame);
	w->store->close(w->store); /* the store may call w until here */
	w->x->route->store = NULL;
	w->router->counters.watching--;
	uv_close((uv_handle_t *)&w->timer, on_timer_closed);
}

static const struct gw_stream_ops watch_ops = {read_watch, end_watch, watch_closed};

static int
open_watch(struct watcher *w, struct gw_body_shown behind)
{
	const struct api_watch_options options = {
		.begun_rv = behind.rv,
		.begun_position = behind.position,
		.bookmark_ms = w->router->options.bookmark_ms,
		.timeout_ms = TIMEOUT_MS + randombytes_uniform(TIMEOUT_MS),
		.tell_lost = true,
	};

	return api_watch_open(&w->x->api, &w->x->route->query, &w->store->api, &options, now_ms(w),
			      &w->watch);
}

/* A watch that sends only an error event with x->api.status. Takes the status. */
static int
open_failed(struct watcher *w)
{
	int r = open_watch(w, (struct gw_body_shown){.rv = 1});

	if (r == 0)
		api_watch_fail(w->watch, &w->x->api.status);
	return r;
}

/* Whether the watch begins with all objects, so that it shares that list with other watches. */
static bool
begins_like_others(const struct api_query *query)
{
	return query->initial && api_selector_empty(query->fields);
}

void
gw_answer_watch(struct gw_exchange *x)
{
	struct gw_route *route = x->route;
	struct gw_router *router = route->router;
	struct watcher *w = api_alloc(sizeof(*w));
	int r;

	*w = (struct watcher){.x = x, .router = router, .store = route->store};
	uv_timer_init(gw_front_loop(router->front), &w->timer);
	w->timer.data = w;
	router->counters.watches++;
	router->counters.watching++;
	gw_read_warn(x);
	w->store->watch(w->store, x->api.namespace_, &route->query, on_store, w);
	if (!x->api.status.code && begins_like_others(&route->query)) {
		gw_body_answer(x, true, &watch_ops, w, &w->initial);
		return;
	}
	r = x->api.status.code ? open_failed(w) : open_watch(w, (struct gw_body_shown){0});
	if (r == 0) {
		gw_reply_stream(x, 200, api_answer_type(&x->api, true), &watch_ops, w);
		return;
	}
	watch_closed(w);
	gw_reply_status(x);
}
