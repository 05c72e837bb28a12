/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WATCH: a stream of JSON lines, or of frames in protobuf, written by the connection's own thread.
 *
 *   opening -> initial -> (end mark) -> live -> end
 *           -> error line -> end
 *
 * initial   an ADDED for every object of a view, where the client gave no RV or 0,
 *           or asked for sendInitialEvents; the ring position belongs to that view
 * live      the ring's events from that position on
 *
 * With selectors an update may cross the selection: into it is an ADDED, out of
 * it a DELETED that shows the old object with the new RV. Nothing is queued for
 * a client: a slow one is overtaken by the ring and ended (slow_watches.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/client_wait.h"
#include "tools/informer-sim/sim_clock.h"
#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/protobuf.h"
#include "tools/informer-sim/reply.h"
#include "tools/informer-sim/watch_fault.h"
#include "tools/informer-sim/watch_line.h"

#define HANGUP_CHECK_MS 500
#define FAULT_CHECK_MS 20 /* while there are fault rules */

static void
stream_free(void *cls)
{
	struct sim_stream *s = cls;

	sim_journal_add(&s->server->journal, "%s ended after %" PRIu64 " %s: %s", s->name, s->sent,
			s->sent == 1 ? "event" : "events",
			s->watch.cut ? "too slow"
			: s->end     ? s->end
				     : "the client went");
	sim_slow_watches_remove(s->server, &s->watch); /* it is told before it is gone */
	free(s->name);
	free(s->namespace_);
	free(s->asked_rv);
	sim_events_done(s->events, s->event_count);
	sim_view_done(&s->view);
	sim_query_done(&s->query);
	sim_buf_done(&s->own);
	sim_buf_done(&s->between);
	sim_buf_done(&s->message);
	sim_object_unref(s->bare);
	sim_buf_done(&s->head);
	free(s->prefix);
	free(s);
}

/* ---- what comes next ------------------------------------------------------ */

static bool
selected(const struct sim_stream *s, const struct sim_object *object)
{
	return !strncmp(object->key, s->prefix, s->prefix_len) && sim_query_matches(&s->query, object);
}

static bool
next_initial(struct sim_stream *s)
{
	struct sim_object *object;

	while ((object = sim_view_next(&s->view))) {
		if (strncmp(object->key, s->prefix, s->prefix_len) != 0)
			break; /* keys are in order */
		if (!sim_query_matches(&s->query, object))
			continue;
		sim_watch_line(s, SIM_ADDED, object, 0);
		return true;
	}
	s->initial = false;
	if (s->end_mark)
		sim_watch_bookmark(s, s->view.rv, true);
	sim_view_done(&s->view);
	return s->end_mark;
}

/* The next event of the batch that concerns this client. */
static bool
next_event(struct sim_stream *s)
{
	while (s->event_at < s->event_count) {
		const struct sim_event *event = &s->events[s->event_at++];
		bool before, after;

		if (event->rv <= s->after_rv)
			continue;
		before = event->prev && selected(s, event->prev);
		after = event->change != SIM_DELETED && selected(s, event->object);
		if (after) {
			sim_watch_line(s, before ? SIM_MODIFIED : SIM_ADDED, event->object, 0);
			return true;
		}
		if (before) {
			sim_watch_line(s, SIM_DELETED, event->prev, event->rv);
			return true;
		}
	}
	return false;
}

static bool
bookmark_due(struct sim_stream *s, uint64_t now, uint64_t rv)
{
	if (!s->query.bookmarks || now < s->bookmark_ms)
		return false;
	s->bookmark_ms = now + (uint64_t)s->server->options.bookmark_interval * 1000;
	/* and one about two seconds before the end */
	if (now + 2000 < s->deadline_ms && s->bookmark_ms > s->deadline_ms - 2000)
		s->bookmark_ms = s->deadline_ms - 2000;
	return rv >= s->after_rv;
}

/* Prepare the next line, if there is one now. Sets ended where there will be none. */
static bool
any_line(struct sim_stream *s)
{
	uint64_t rv = 0, now;
	int n;

	if (s->error) {
		s->error = false;
		s->ended = true;
		if (!s->end)
			s->end = "error";
		sim_watch_own_line(s);
		return true;
	}
	if (s->ended)
		return false;
	if (s->initial)
		return next_initial(s) || any_line(s);
	for (;;) {
		if (next_event(s))
			return true;
		sim_events_done(s->events, s->event_count);
		s->event_count = s->event_at = 0;
		n = sim_store_events(s->server->store, s->resource, &s->position, s->events, SIM_WATCH_BATCH,
				     &rv);
		if (n < 0) {
			s->end = "its place in the history is gone";
			break;
		}
		atomic_store_explicit(&s->watch.position, s->position, memory_order_relaxed);
		s->event_count = (unsigned)n;
		if (n == 0)
			s->told_rv = rv > s->after_rv ? rv : s->after_rv;
		now = sim_now_ms();
		if (n == 0 && !sim_resource_served(s->resource)) {
			s->end = "the resource is gone";
			break;
		}
		if (now >= s->deadline_ms) {
			s->end = "timeout";
			break;
		}
		if (n == 0) {
			if (!bookmark_due(s, now, rv))
				return false;
			sim_watch_bookmark(s, rv, false);
			return true;
		}
	}
	s->ended = true;
	return false;
}

/*
 * The same with what goes wrong. A fault may put an ERROR line in the place of the one prepared, or end the
 * stream.
 */
static bool
next_line(struct sim_stream *s)
{
	bool faulty = sim_faults_any(s->server->faults) || s->fault.kind;

	if (s->ended || s->broken)
		return false;
	s->rules = sim_faults_version(s->server->faults);
	any_line(s);
	if (s->unencodable && !s->ended && s->piece_at < s->piece_count) {
		s->piece_at = s->piece_count;
		s->ended = true;
		s->end = "it cannot be encoded";
	}
	if (faulty && (!s->ended || s->piece_at < s->piece_count)) {
		sim_watch_ask(s, s->piece_at < s->piece_count);
		sim_watch_spoil(s);
		if (s->error)
			any_line(s);
	}
	s->sent += s->piece_at < s->piece_count;
	return s->piece_at < s->piece_count;
}

static void
wait_for_more(struct sim_stream *s)
{
	uint64_t now = sim_now_ms(), until = s->deadline_ms;
	unsigned most;

	if (s->query.bookmarks && s->bookmark_ms < until)
		until = s->bookmark_ms;
	until = until > now ? until - now : 0;
	most = sim_faults_any(s->server->faults) ? FAULT_CHECK_MS : HANGUP_CHECK_MS;
	atomic_store(&s->watch.rules, s->rules);
	atomic_store(&s->watch.doing, SIM_WAITING);
	sim_store_wait(s->server->store, s->resource, s->position, until < most ? (unsigned)until : most);
	atomic_store(&s->watch.doing, SIM_BUSY);
	/* a quiet watch writes nothing, so it must look whether its client is still there */
	if (!sim_store_stopped(s->server->store) && !sim_hung_up(s->watch.socket))
		return;
	s->ended = true;
	if (sim_store_stopped(s->server->store))
		s->end = "the server stops";
}

static ssize_t
read_lines(struct sim_stream *s, char *out, size_t max)
{
	size_t done = 0;

	for (;;) {
		if (s->frozen || s->fault.kind == SIM_FAULT_SLOW) {
			if (done)
				return (ssize_t)done;
			max = sim_watch_slow(s, max);
			if (max == 0)
				return MHD_CONTENT_READER_END_WITH_ERROR;
		}
		while (s->piece_at < s->piece_count && done < max) {
			const struct sim_piece *piece = &s->pieces[s->piece_at];
			size_t n = piece->len - s->piece_offset;

			if (n > max - done)
				n = max - done;
			memcpy(out + done, piece->bytes + s->piece_offset, n);
			done += n;
			s->piece_offset += n;
			if (s->piece_offset == piece->len) {
				s->piece_at++;
				s->piece_offset = 0;
			}
		}
		if (done == max || (!next_line(s) && done))
			return (ssize_t)done;
		if (s->piece_at < s->piece_count)
			continue;
		if (s->broken)
			return MHD_CONTENT_READER_END_WITH_ERROR;
		if (s->ended)
			return MHD_CONTENT_READER_END_OF_STREAM;
		wait_for_more(s);
	}
}

static ssize_t
read_stream(void *cls, uint64_t position, char *out, size_t max)
{
	struct sim_stream *s = cls;
	ssize_t n = read_lines(s, out, max);

	(void)position;
	if (n > 0)
		atomic_fetch_add(&s->watch.given, (uint64_t)n);
	return n;
}

/* ---- opening -------------------------------------------------------------- */

static void
open_initial(struct sim_stream *s)
{
	s->initial = true;
	s->end_mark = s->query.initial && s->query.bookmarks;
	sim_store_view(s->server->store, s->resource, 0, &s->view, &s->position);
	sim_view_seek(&s->view, s->prefix);
}

static void
open_at(struct sim_stream *s, struct sim_request *request)
{
	uint64_t floor = 0, rv = s->query.rv;
	struct sim_status *status = &request->status;

	if (sim_store_position(s->server->store, s->resource, rv, &s->position, &floor) < 0) {
		sim_status_set(status, 410, "Expired", "too old resource version: %" PRIu64 " (%" PRIu64 ")",
			       rv, floor);
		sim_watch_error(s, status);
		sim_status_done(status);
	}
	s->after_rv = rv;
}

enum MHD_Result
sim_handle_watch(struct sim_request *request)
{
	struct MHD_Response *response;
	struct sim_buf name = {0};
	const char *rv, *type;
	struct sim_stream *s;
	struct sim_query query;
	struct sim_buf prefix = {0};
	uint64_t now, timeout_ms, interval_ms;

	request->verb = "WATCH";
	if (sim_query_parse(request, &query) < 0)
		return sim_reply_status(request);
	query.initial &= !request->plain;
	s = sim_alloc(sizeof(*s));
	*s = (struct sim_stream){.server = request->server,
				 .resource = request->resource,
				 .query = query,
				 .shape = request->shape};
	s->newer = request->newer;
	s->unencodable = request->unencodable && request->shape.protobuf;
	if (s->shape.protobuf)
		sim_buf_puts(&request->note, " in protobuf");
	if (s->shape.kind == SIM_PLAIN)
		sim_buf_put(&s->head, s->resource->head, s->resource->head_len);
	else
		sim_shape_partial_head(&s->shape, &s->head);
	if (request->namespace_)
		sim_buf_printf(&prefix, "%s/", request->namespace_);
	s->prefix_len = prefix.len;
	s->prefix = sim_buf_take(&prefix);

	if (query.initial && query.rv && sim_query_await(request, query.rv) < 0) {
		sim_watch_error(s, &request->status);
		sim_status_done(&request->status);
	} else if (query.initial || !query.rv) {
		open_initial(s);
	} else {
		open_at(s, request);
	}
	sim_request_print(request, &name);
	s->name = sim_buf_take(&name);
	s->verb = sim_request_verb(request);
	s->namespace_ = request->namespace_ ? sim_strndup(request->namespace_, strlen(request->namespace_))
					    : NULL;
	rv = sim_request_query(request, "resourceVersion");
	s->asked_rv = rv ? sim_strndup(rv, strlen(rv)) : NULL;
	s->fault = request->fault;
	s->opened_ms = now = sim_now_ms();
	pthread_mutex_lock(&s->server->lock);
	timeout_ms = query.timeout ? query.timeout * 1000ull
				   : 1800000u + sim_rng_below(&s->server->rng, 1800000);
	pthread_mutex_unlock(&s->server->lock);
	interval_ms = s->server->options.bookmark_interval * 1000ull;
	s->deadline_ms = now + timeout_ms;
	s->bookmark_ms = now + interval_ms;
	if (timeout_ms > 2000 && s->bookmark_ms > s->deadline_ms - 2000)
		s->bookmark_ms = s->deadline_ms - 2000;

	s->watch.socket = sim_request_socket(request);
	s->watch.resource = s->resource;
	atomic_init(&s->watch.position, s->position);
	sim_slow_watches_add(s->server, &s->watch);
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, (size_t)256 * 1024, read_stream, s,
						     stream_free);
	if (!response)
		stream_free(s);
	type = request->shape.protobuf ? SIM_PROTOBUF_TYPE ";stream=watch" : "application/json";
	return sim_reply_response(request, 200, type, response);
}
