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
	api_query_done(&s->query);
	api_buf_done(&s->own);
	api_buf_done(&s->between);
	api_buf_done(&s->message);
	api_object_unref(s->bare);
	api_buf_done(&s->head);
	free(s->prefix);
	free(s);
}

/* ---- what comes next ------------------------------------------------------ */

static bool
selected(const struct sim_stream *s, const struct api_object *object)
{
	return !strncmp(object->key, s->prefix, s->prefix_len) && api_query_matches(&s->query, object);
}

static bool
next_initial(struct sim_stream *s)
{
	struct api_object *object;

	while ((object = sim_view_next(&s->view))) {
		if (strncmp(object->key, s->prefix, s->prefix_len) != 0)
			break; /* keys are in order */
		if (!api_query_matches(&s->query, object))
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
		if (n == 0 && !api_resource_served(s->resource)) {
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
	struct api_status *status = &request->api.status;

	if (sim_store_position(s->server->store, s->resource, rv, &s->position, &floor) < 0) {
		api_status_set(status, 410, "Expired", "too old resource version: %" PRIu64 " (%" PRIu64 ")",
			       rv, floor);
		sim_watch_error(s, status);
		api_status_done(status);
	}
	s->after_rv = rv;
}

enum MHD_Result
sim_handle_watch(struct sim_request *request)
{
	struct MHD_Response *response;
	struct api_buf name = {0};
	const char *rv, *type;
	struct sim_stream *s;
	struct api_query query;
	struct api_buf prefix = {0};
	uint64_t now, timeout_ms, interval_ms;

	request->verb = "WATCH";
	if (api_query_parse(&request->api, &query) < 0)
		return sim_reply_status(request);
	query.initial &= !request->plain;
	s = api_alloc(sizeof(*s));
	*s = (struct sim_stream){.server = request->server,
				 .resource = request->api.resource,
				 .query = query,
				 .shape = request->api.shape};
	s->newer = request->newer;
	s->unencodable = request->unencodable && request->api.shape.protobuf;
	if (s->shape.protobuf)
		api_buf_puts(&request->note, " in protobuf");
	if (s->shape.kind == API_PLAIN)
		api_buf_put(&s->head, s->resource->head, s->resource->head_len);
	else
		api_shape_partial_head(&s->shape, &s->head);
	if (request->api.namespace_)
		api_buf_printf(&prefix, "%s/", request->api.namespace_);
	s->prefix_len = prefix.len;
	s->prefix = api_buf_take(&prefix);

	if (query.initial && query.rv && sim_request_await(request, query.rv) < 0) {
		sim_watch_error(s, &request->api.status);
		api_status_done(&request->api.status);
	} else if (query.initial || !query.rv) {
		open_initial(s);
	} else {
		open_at(s, request);
	}
	sim_request_print(request, &name);
	s->name = api_buf_take(&name);
	s->verb = api_request_verb(&request->api);
	s->namespace_ = request->api.namespace_
				? api_strndup(request->api.namespace_, strlen(request->api.namespace_))
				: NULL;
	rv = api_request_query(&request->api, "resourceVersion");
	s->asked_rv = rv ? api_strndup(rv, strlen(rv)) : NULL;
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

	s->watch.socket = api_request_socket(&request->api);
	s->watch.resource = s->resource;
	atomic_init(&s->watch.position, s->position);
	sim_slow_watches_add(s->server, &s->watch);
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, (size_t)256 * 1024, read_stream, s,
						     stream_free);
	if (!response)
		stream_free(s);
	type = request->api.shape.protobuf ? API_PROTOBUF_TYPE ";stream=watch" : "application/json";
	return sim_reply_response(request, 200, type, response);
}
