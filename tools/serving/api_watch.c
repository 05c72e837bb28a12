/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a watch, and the line that selectors make of a change; see api_watch.h. */
#include "tools/serving/api_watch_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/selector.h"

/* ---- parts ---------------------------------------------------------------- */

static void
close_view(struct api_watch *w)
{
	if (w->view)
		w->store->view_close(w->view);
	w->view = NULL;
}

/* Fail with 410. */
static void
expire(struct api_watch *w, uint64_t rv, uint64_t floor)
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

/* ---- selection ------------------------------------------------------------ */

static bool
in_namespace(const struct api_watch *w, const struct api_object *object)
{
	return !w->namespace_ || (object->namespace_len == w->namespace_len &&
				  !memcmp(object->key, w->namespace_, w->namespace_len));
}

static bool
selected(const struct api_watch *w, const struct api_object *object)
{
	return in_namespace(w, object) && api_query_matches(&w->query, object);
}

/*
 * Whether the unknown state before the event was selected: 1, 0, or -1 if unknown. A deleted object whose
 * last state is selected counts as selected: an extra DELETED does no harm.
 */
static int
was_selected(const struct api_watch *w, const struct api_event *event)
{
	const struct api_object *object = event->object;
	int labels = api_selector_before(w->query.labels, object),
	    fields = api_selector_before(w->query.fields, object);

	if (!in_namespace(w, object) || labels == 0 || fields == 0)
		return 0;
	if (event->change == API_DELETED && selected(w, object))
		return 1;
	return labels < 0 || fields < 0 ? -1 : 1;
}

/* ---- lines ---------------------------------------------------------------- */

/* Whether the next line is a Table's first line, which has the column definitions. */
static bool
take_columns(struct api_watch *w)
{
	bool columns = !w->headed && w->form.shape.kind == API_TABLE;

	w->headed = true;
	return columns;
}

/* rv as for api_line_object(); frames as in api_event */
static struct api_frame *
show(struct api_watch *w, enum api_change change, struct api_object *object, uint64_t rv,
     struct api_frames *frames)
{
	_cleanup_(api_buf_done) struct api_buf buf = {0};
	bool columns = take_columns(w);
	uint64_t form = api_line_form(&w->form, change, columns);
	struct api_frame *frame = frames ? api_frames_find(frames, form) : NULL;

	if (frame)
		return frame;
	api_line_object(&w->form, change, object, rv, columns, &buf);
	frame = api_frame_new(buf.data, buf.len);
	if (frames)
		api_frames_keep(frames, frame, form);
	return frame;
}

static struct api_frame *
bookmark(struct api_watch *w, bool end_mark)
{
	_cleanup_(api_buf_done) struct api_buf buf = {0};

	api_line_bookmark(&w->form, w->told_rv, end_mark, take_columns(w), &buf);
	return api_frame_new(buf.data, buf.len);
}

static struct api_frame *
error(const struct api_watch *w)
{
	_cleanup_(api_buf_done) struct api_buf buf = {0};

	api_line_error(&w->form, w->failure, &buf);
	return api_frame_new(buf.data, buf.len);
}

/* ---- initial events ------------------------------------------------------- */

/* Returns 0; -EAGAIN: the view is not ready. */
static int
place(struct api_watch *w)
{
	_cleanup_(api_buf_done) struct api_buf prefix = {0};
	int r = w->store->view_ready ? w->store->view_ready(w->view) : 0;

	if (r == -EAGAIN)
		return r;
	api_object_key(&prefix, w->namespace_, "");
	if (r == 0)
		w->store->view_seek(w->view, prefix.data);
	w->placed = true;
	return 0;
}

static struct api_frame *
next_initial(struct api_watch *w)
{
	struct api_object *object;

	while ((object = w->store->view_next(w->view))) {
		_cleanup_(api_object_unrefp) struct api_object *mine = object;

		if (!in_namespace(w, mine))
			break; /* objects are sorted by key */
		if (!api_query_matches(&w->query, mine))
			continue;
		return show(w, API_ADDED, mine, 0, NULL);
	}
	if (w->store->view_error && w->store->view_error(w->view) < 0) {
		close_view(w);
		expire(w, w->told_rv, 0);
		return NULL;
	}
	close_view(w);
	return w->end_mark ? bookmark(w, true) : NULL;
}

/* ---- live ----------------------------------------------------------------- */

/* The line of a change for this client; NULL: none, or the state before is unknown and the watch fails. */
static struct api_frame *
tell(struct api_watch *w, const struct api_event *event)
{
	bool after = event->change != API_DELETED && selected(w, event->object);
	struct api_object *last = event->prev ? event->prev : event->object;
	int before;

	if (event->unknown)
		before = after ? event->change == API_MODIFIED : was_selected(w, event);
	else
		before = (event->prev || event->change == API_DELETED) && selected(w, last);
	if (before < 0) {
		expire(w, w->told_rv, event->rv);
		return NULL;
	}
	if (after)
		return show(w, before ? API_MODIFIED : API_ADDED, event->object, 0, event->frames);
	return before ? show(w, API_DELETED, last, event->rv, event->frames) : NULL;
}

static struct api_frame *
next_event(struct api_watch *w)
{
	struct api_frame *told = NULL;

	while (!told && !w->failing && w->at < w->count) {
		const struct api_event *event = &w->batch[w->at++];

		if (event->rv < w->after_rv || (event->rv == w->after_rv && !event->again))
			continue;
		w->ahead = false;
		told = tell(w, event);
		if (!w->failing)
			w->told_rv = event->rv;
	}
	if (w->at == w->count)
		watch_drop_batch(w);
	return told;
}

/* The position is gone: continue from the last RV if the store can, else fail. */
static void
lost(struct api_watch *w)
{
	uint64_t floor = 0, position = 0;

	if (!w->tell_lost) {
		w->end = "its place in the history is gone";
		w->over = true;
	} else if (w->store->position(w->store->ctx, w->form.resource, w->told_rv, &position, &floor) < 0 ||
		   position <= w->position) {
		expire(w, w->told_rv, floor);
	} else {
		w->position = position;
	}
}

static bool
bookmark_due(struct api_watch *w, uint64_t now)
{
	if (!w->query.bookmarks || now < w->bookmark_ms)
		return false;
	w->bookmark_ms = now + w->interval_ms;
	if (now + WATCH_BEFORE_END_MS < w->deadline_ms &&
	    w->bookmark_ms > w->deadline_ms - WATCH_BEFORE_END_MS)
		w->bookmark_ms = w->deadline_ms - WATCH_BEFORE_END_MS;
	return !w->ahead;
}

/* Fetch a batch. Returns the number of events; negative: the position was lost, which lost() has handled. */
static int
fetch(struct api_watch *w, uint64_t now)
{
	uint64_t rv = 0;
	int n = w->store->events(w->store->ctx, w->form.resource, &w->position, w->batch, WATCH_BATCH, &rv);

	if (n < 0) {
		lost(w);
		return n;
	}
	w->count = (unsigned)n;
	w->ahead &= n > 0 || rv < w->after_rv;
	if (n == 0 && rv > w->told_rv)
		w->told_rv = rv;
	if (n == 0 && !api_resource_served(w->form.resource))
		w->end = "the resource is gone";
	else if (now >= w->deadline_ms)
		w->end = "timeout";
	w->over = w->end != NULL;
	return n;
}

static struct api_frame *
live(struct api_watch *w, uint64_t now)
{
	struct api_frame *frame;
	int n;

	do {
		frame = next_event(w);
		if (frame || w->failing || w->ending)
			return frame;
		n = fetch(w, now);
	} while (n != 0 && !w->over);
	return !w->over && bookmark_due(w, now) ? bookmark(w, false) : NULL;
}

/* ---- next line ------------------------------------------------------------ */

static struct api_frame *
next_line(struct api_watch *w, uint64_t now_ms)
{
	struct api_frame *frame = w->view ? next_initial(w) : NULL;

	if (!frame && !w->over && !w->failing)
		frame = live(w, now_ms);
	if (frame)
		return frame;
	if (w->failing) {
		w->failing = false;
		w->over = true;
		return error(w);
	}
	if (w->ending && !w->over) {
		w->over = true;
		return w->query.bookmarks && !w->ahead ? bookmark(w, false) : NULL;
	}
	return NULL;
}

enum api_watch_said
api_watch_next(struct api_watch *w, uint64_t now_ms, struct api_frame **ret_frame)
{
	if (w->view && !w->placed && place(w) == -EAGAIN)
		return API_WATCH_WAIT;
	*ret_frame = next_line(w, now_ms);
	return *ret_frame ? API_WATCH_LINE : w->over ? API_WATCH_END : API_WATCH_WAIT;
}

uint64_t
api_watch_wait_until(const struct api_watch *w)
{
	if (w->view && !w->placed)
		return 0;
	return w->query.bookmarks && w->bookmark_ms < w->deadline_ms ? w->bookmark_ms : w->deadline_ms;
}

/* ---- end ------------------------------------------------------------------ */

void
api_watch_end(struct api_watch *w, const char *why)
{
	if (w->over || w->end)
		return;
	w->end = why;
	/* a watch that ends within its initial events sends no bookmark, because no RV describes its state */
	w->over = w->view != NULL;
	w->ending = true;
	close_view(w);
}

void
api_watch_fail(struct api_watch *w, struct api_status *status)
{
	close_view(w);
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
		close_view(w); /* only the position is needed */
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
		expire(w, rv, floor);
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
	w->query.next_token = NULL; /* belongs to the request */
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
	close_view(w);
	api_query_done(&w->query);
	if (w->failure)
		api_status_done(w->failure);
	free(w->failure);
	free(w->namespace_);
	free(w);
}
