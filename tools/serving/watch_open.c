/* SPDX-License-Identifier: Apache-2.0 */
/* How a watch begins and ends, and what others ask it; see api_watch.h. */
#include "tools/serving/api_watch_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
watch_close_view(struct api_watch *w)
{
	if (w->view)
		w->store->view_close(w->view);
	w->view = NULL;
}

void
watch_expire(struct api_watch *w, uint64_t rv, uint64_t floor)
{
	struct api_status status = {0};

	api_status_set(&status, 410, "Expired", "too old resource version: %" PRIu64 " (%" PRIu64 ")", rv,
		       floor);
	api_watch_fail(w, &status);
}

void
watch_drop_batch(struct api_watch *w)
{
	api_events_done(w->batch, w->count);
	w->at = w->count = 0;
}

uint64_t
api_watch_wait_until(const struct api_watch *w)
{
	if (w->view && !w->placed)
		return 0;
	return w->query.bookmarks && w->bookmark_ms < w->deadline_ms ? w->bookmark_ms : w->deadline_ms;
}

/* ---- from outside --------------------------------------------------------- */

void
api_watch_end(struct api_watch *w, const char *why)
{
	if (w->over || w->end)
		return;
	w->end = why;
	/* what it has not told of the state's beginning it does not: no bookmark could say so */
	w->over = w->view != NULL;
	w->ending = true;
	watch_close_view(w);
}

void
api_watch_fail(struct api_watch *w, struct api_status *status)
{
	watch_close_view(w);
	if (!w->failure)
		w->failure = api_alloc(sizeof(*w->failure));
	else
		api_status_done(w->failure);
	*w->failure = *status;
	*status = (struct api_status){0};
	w->failing = true;
	w->over = false;
	if (!w->end)
		w->end = "error";
}

/* ---- opening -------------------------------------------------------------- */

static int
open_initial(struct api_watch *w)
{
	int r = w->store->view(w->store->ctx, w->form.resource, 0, &w->view, &w->told_rv, &w->position);

	if (r < 0)
		return r;
	w->end_mark = w->query.initial && w->query.bookmarks;
	if (w->query.from_now)
		watch_close_view(w); /* its place in the history is all that is wanted */
	else if (w->store->view_choose)
		r = w->store->view_choose(w->view, w->namespace_, &w->query);
	return r;
}

static int
open_at(struct api_watch *w)
{
	uint64_t floor = 0, rv = w->query.rv;
	int r = w->store->position(w->store->ctx, w->form.resource, rv, &w->position, &floor);

	if (r == -EAGAIN)
		return r;
	if (r < 0)
		watch_expire(w, rv, floor);
	w->after_rv = w->told_rv = rv;
	w->ahead = w->store->rv(w->store->ctx, w->form.resource) < rv;
	return 0;
}

int
api_watch_open(struct api_request *request, struct api_query *query, const struct api_store *store,
	       const struct api_watch_options *options, uint64_t now_ms, struct api_watch **ret_watch)
{
	struct api_watch *w = api_alloc(sizeof(*w));
	uint64_t timeout = query->timeout ? query->timeout * 1000ull : options->timeout_ms;
	int r = 0;

	*w = (struct api_watch){.store = store,
				.form = {.resource = request->resource, .shape = request->shape},
				.query = *query,
				.tell_lost = options->tell_lost,
				.interval_ms = options->bookmark_ms,
				.bookmark_ms = now_ms + options->bookmark_ms,
				.deadline_ms = now_ms + timeout};
	*query = (struct api_query){0};
	w->query.next_token = NULL; /* the request's */
	if (timeout > WATCH_BEFORE_END_MS && w->bookmark_ms > w->deadline_ms - WATCH_BEFORE_END_MS)
		w->bookmark_ms = w->deadline_ms - WATCH_BEFORE_END_MS;
	if (request->namespace_) {
		w->namespace_len = strlen(request->namespace_);
		w->namespace_ = api_strndup(request->namespace_, w->namespace_len);
	}
	if (options->begun_rv) {
		w->after_rv = w->told_rv = options->begun_rv;
		w->position = options->begun_position;
	} else {
		r = w->query.initial || !w->query.rv ? open_initial(w) : open_at(w);
	}
	if (r < 0) {
		api_watch_free(w);
		(void)(r == -ENOBUFS ? api_status_no_room(&request->status)
				     : api_status_not_ready(&request->status));
		return -EAGAIN;
	}
	*ret_watch = w;
	return 0;
}

void
api_watch_free(struct api_watch *w)
{
	if (!w)
		return;
	watch_drop_batch(w);
	watch_close_view(w);
	api_query_done(&w->query);
	if (w->failure)
		api_status_done(w->failure);
	free(w->failure);
	free(w->namespace_);
	free(w);
}
