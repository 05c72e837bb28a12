/* SPDX-License-Identifier: Apache-2.0 */
/* What comes next, event by event, and what it looks like to one who selects; see api_watch.h. */
#include "tools/serving/api_watch_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/selector.h"

/* What a line is, before it is written. */
struct step {
	enum { STEP_OBJECT, STEP_BOOKMARK, STEP_ERROR } kind;
	enum api_change change;
	uint64_t rv;               /* that is shown; 0: the object's own */
	struct api_object *object; /* a reference; NULL but for an OBJECT */
	struct api_frames *frames; /* the same */
	bool columns;              /* the first line of a Table */
	bool end_mark;             /* of a BOOKMARK */
};

static void
step_done(struct step *step)
{
	api_object_unref(step->object);
	api_frames_unref(step->frames);
	*step = (struct step){0};
}

/* ---- whom a change concerns ----------------------------------------------- */

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
 * Was the state before selected, of which only the one behind is known? -1: nobody can tell. Of what is gone
 * in a state that is selected no harm is done by telling so.
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

static void
show(struct api_watch *w, enum api_change change, struct api_object *object, uint64_t rv,
     struct api_frames *frames, struct step *step)
{
	*step = (struct step){.kind = STEP_OBJECT,
			      .change = change,
			      .rv = rv,
			      .object = api_object_ref(object),
			      .frames = frames ? api_frames_ref(frames) : NULL,
			      .columns = !w->headed};
	w->headed = true;
}

static void
bookmark(struct api_watch *w, uint64_t rv, bool end_mark, struct step *step)
{
	*step = (struct step){.kind = STEP_BOOKMARK, .rv = rv, .end_mark = end_mark, .columns = !w->headed};
	w->headed = true;
}

/* ---- the state it begins with --------------------------------------------- */

/* 0; -EAGAIN: the view is not ready. */
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

static bool
next_initial(struct api_watch *w, struct step *step)
{
	struct api_object *object;

	while ((object = w->store->view_next(w->view))) {
		_cleanup_(api_object_unrefp) struct api_object *mine = object;

		if (!in_namespace(w, mine))
			break; /* keys are in order */
		if (!api_query_matches(&w->query, mine))
			continue;
		show(w, API_ADDED, mine, 0, NULL, step);
		return true;
	}
	if (w->store->view_error && w->store->view_error(w->view) < 0) {
		watch_close_view(w);
		watch_expire(w, w->told_rv, 0);
		return false;
	}
	watch_close_view(w);
	if (w->end_mark)
		bookmark(w, w->told_rv, true, step);
	return w->end_mark;
}

/* ---- live ----------------------------------------------------------------- */

/* What one change is to this client; false: nothing, or it cannot be told and the watch fails. */
static bool
tell(struct api_watch *w, const struct api_event *event, struct step *step)
{
	bool after = event->change != API_DELETED && selected(w, event->object);
	struct api_object *last = event->prev ? event->prev : event->object;
	int before;

	if (event->unknown)
		before = after ? event->change == API_MODIFIED : was_selected(w, event);
	else
		before = (event->prev || event->change == API_DELETED) && selected(w, last);
	if (before < 0) {
		watch_expire(w, w->told_rv, event->rv);
		return false;
	}
	if (after)
		show(w, before ? API_MODIFIED : API_ADDED, event->object, 0, event->frames, step);
	else if (before)
		show(w, API_DELETED, last, event->rv, event->frames, step);
	return after || before;
}

static bool
next_event(struct api_watch *w, struct step *step)
{
	bool told = false;

	while (!told && !w->failing && w->at < w->count) {
		const struct api_event *event = &w->batch[w->at++];

		if (event->rv < w->after_rv || (event->rv == w->after_rv && !event->again))
			continue;
		w->ahead = false;
		told = tell(w, event, step);
		if (!w->failing)
			w->told_rv = event->rv;
	}
	if (w->at == w->count) {
		api_events_done(w->batch, w->count);
		w->at = w->count = 0;
	}
	return told;
}

/* Its position is gone: go on from its RV, where the store can, or say that it cannot. */
static void
lost(struct api_watch *w)
{
	uint64_t floor = 0, position = 0;

	if (!w->tell_lost) {
		w->end = "its place in the history is gone";
		w->over = true;
	} else if (w->store->position(w->store->ctx, w->form.resource, w->told_rv, &position, &floor) < 0 ||
		   position <= w->position) {
		watch_expire(w, w->told_rv, floor);
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

/* Fetch a batch. Returns how many; 0: nothing, or it is over. */
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

static enum api_watch_said
live(struct api_watch *w, uint64_t now, struct step *step)
{
	int n;

	do {
		if (next_event(w, step))
			return API_WATCH_LINE;
		if (w->failing || w->ending)
			return API_WATCH_WAIT;
		n = fetch(w, now);
	} while (n != 0 && !w->over);
	if (w->over || !bookmark_due(w, now))
		return API_WATCH_WAIT;
	bookmark(w, w->told_rv, false, step);
	return API_WATCH_LINE;
}

/* ---- what comes next ------------------------------------------------------ */

static enum api_watch_said
take_step(struct api_watch *w, uint64_t now_ms, struct step *ret_step)
{
	*ret_step = (struct step){0};
	if (w->view && !w->placed && place(w) == -EAGAIN)
		return API_WATCH_WAIT;
	if (w->view && next_initial(w, ret_step))
		return API_WATCH_LINE;
	if (!w->over && !w->failing && live(w, now_ms, ret_step) == API_WATCH_LINE)
		return API_WATCH_LINE;
	if (w->failing) {
		w->failing = false;
		w->over = true;
		ret_step->kind = STEP_ERROR;
		return API_WATCH_LINE;
	}
	if (w->ending && !w->over) {
		w->over = true;
		if (w->query.bookmarks && !w->ahead) {
			bookmark(w, w->told_rv, false, ret_step);
			return API_WATCH_LINE;
		}
	}
	return w->over ? API_WATCH_END : API_WATCH_WAIT;
}

static struct api_frame *
write_line(struct api_watch *w, const struct step *step)
{
	_cleanup_(api_buf_done) struct api_buf buf = {0};
	bool columns = step->columns && w->form.shape.kind == API_TABLE;
	uint64_t form = api_line_form(&w->form, step->change, columns);
	struct api_frame *frame = step->frames ? api_frames_find(step->frames, form) : NULL;

	if (frame)
		return frame;
	switch (step->kind) {
	case STEP_OBJECT:
		api_line_object(&w->form, step->change, step->object, step->rv, columns, &buf);
		break;
	case STEP_BOOKMARK:
		api_line_bookmark(&w->form, step->rv, step->end_mark, columns, &buf);
		break;
	case STEP_ERROR:
		api_line_error(&w->form, w->failure, &buf);
		break;
	}
	frame = api_frame_new(buf.data, buf.len);
	if (step->frames)
		api_frames_keep(step->frames, frame, form);
	return frame;
}

enum api_watch_said
api_watch_next(struct api_watch *w, uint64_t now_ms, struct api_frame **ret_frame)
{
	_cleanup_(step_done) struct step step = {0};
	enum api_watch_said said = take_step(w, now_ms, &step);

	if (said == API_WATCH_LINE)
		*ret_frame = write_line(w, &step);
	return said;
}
