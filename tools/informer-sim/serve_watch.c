/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WATCH: a stream of lines or frames, written by the connection's thread. api_watch.h decides what comes
 * next; a fault may change it first (watch_fault.h). Clients have no queue: the ring overtakes a slow client,
 * whose watch is cut (slow_watches.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/client_wait.h"
#include "tools/informer-sim/sim_clock.h"
#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/newer_field.h"
#include "tools/informer-sim/reply.h"
#include "tools/informer-sim/watch_fault.h"
#include "tools/informer-sim/watch_place.h"
#include "tools/serving/answer.h"

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
	sim_slow_watches_remove(s->server, &s->watch); /* after the journal's line */
	free(s->name);
	free(s->namespace_);
	free(s->asked_rv);
	sim_watch_drop(s);
	api_watch_free(s->api);
	api_buf_done(&s->between);
	api_buf_done(&s->grown);
	api_buf_done(&s->spoiled);
	free(s);
}

/* ---- the next line -------------------------------------------------------- */

static void
take_line(struct sim_stream *s)
{
	enum api_watch_said said = api_watch_next(s->api, sim_now_ms(), &s->frame);

	if (said == API_WATCH_END) {
		s->ended = true;
		s->end = s->end ? s->end : s->api->end;
	}
	if (s->frame && s->unencodable && !sim_frame_is(s->frame->bytes, s->frame->len, "ERROR")) {
		sim_watch_drop(s);
		s->ended = true;
		s->end = "it cannot be encoded";
	}
	atomic_store_explicit(&s->watch.position, sim_watch_position(s->api), memory_order_relaxed);
}

static void
put(struct sim_stream *s, const char *bytes, size_t len)
{
	s->pieces[s->piece_count++] = (struct sim_piece){bytes, len};
}

/* Prepare the next line to send; a fault may replace it or end the stream. False: no line. */
static bool
next_line(struct sim_stream *s)
{
	bool faulty = sim_faults_any(s->server->faults) || s->fault.kind;

	s->piece_count = s->piece_at = 0;
	s->piece_offset = 0;
	sim_watch_drop(s);
	if (s->ended || s->broken)
		return false;
	s->rules = sim_faults_version(s->server->faults);
	api_buf_reset(&s->between);
	take_line(s);
	if (faulty && !s->ended && sim_watch_ask(s))
		take_line(s);
	if (s->between.len)
		put(s, s->between.data, s->between.len);
	if (s->frame && s->newer) {
		api_buf_reset(&s->grown);
		api_buf_put(&s->grown, s->frame->bytes, s->frame->len);
		sim_newer_frame(&s->grown);
		put(s, s->grown.data, s->grown.len);
	} else if (s->frame) {
		put(s, s->frame->bytes, s->frame->len);
	}
	if (faulty)
		sim_watch_spoil(s);
	s->sent += s->piece_count > 0;
	return s->piece_count > 0;
}

static void
wait_for_more(struct sim_stream *s)
{
	uint64_t now = sim_now_ms(), until = api_watch_wait_until(s->api);
	unsigned most;

	until = until > now ? until - now : 0;
	most = sim_faults_any(s->server->faults) ? FAULT_CHECK_MS : HANGUP_CHECK_MS;
	atomic_store(&s->watch.rules, s->rules);
	atomic_store(&s->watch.doing, SIM_WAITING);
	sim_store_wait(s->server->store, s->resource, sim_watch_position(s->api),
		       until < most ? (unsigned)until : most);
	atomic_store(&s->watch.doing, SIM_BUSY);
	/* a quiet watch writes nothing, so it checks for a hang-up */
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

/* The real server's timeout of a watch that sets none: between 30 and 60 minutes. */
static uint64_t
draw_timeout(struct sim_server *server)
{
	uint64_t timeout_ms;

	pthread_mutex_lock(&server->lock);
	timeout_ms = 1800000u + sim_rng_below(&server->rng, 1800000);
	pthread_mutex_unlock(&server->lock);
	return timeout_ms;
}

static int
open_watch(struct sim_request *request, struct api_query *query, uint64_t now, struct api_watch **ret_watch)
{
	struct api_watch_options options = {.bookmark_ms = request->server->options.bookmark_interval *
							   1000ull,
					    .timeout_ms = query->timeout ? 0 : draw_timeout(request->server)};
	bool late;
	int r;

	query->initial &= !request->plain;
	late = sim_request_await(request, api_query_least_rv(query)) < 0;
	r = api_watch_open(&request->api, query, &request->server->served, &options, now, ret_watch);
	if (r < 0)
		return r;
	if (late)
		api_watch_fail(*ret_watch, &request->api.status);
	return 0;
}

static char *
copy(const char *text)
{
	return text ? api_strndup(text, strlen(text)) : NULL;
}

enum MHD_Result
sim_handle_watch(struct sim_request *request)
{
	bool protobuf = request->api.shape.protobuf;
	struct MHD_Response *response;
	struct api_buf name = {0};
	struct sim_stream *s;
	struct api_query query;
	struct api_watch *watch;
	uint64_t now;

	request->verb = "WATCH";
	if (api_query_parse(&request->api, &query) < 0)
		return sim_reply_status(request);
	now = sim_now_ms();
	if (open_watch(request, &query, now, &watch) < 0)
		return sim_reply_status(request);
	sim_request_print(request, &name);
	s = api_alloc(sizeof(*s));
	*s = (struct sim_stream){.server = request->server,
				 .resource = request->api.resource,
				 .api = watch,
				 .unencodable = request->unencodable && protobuf,
				 .newer = request->newer && protobuf,
				 .opened_ms = now,
				 .name = api_buf_take(&name),
				 .verb = sim_request_verb(&request->api),
				 .namespace_ = copy(request->api.namespace_),
				 .asked_rv = copy(api_request_query(&request->api, "resourceVersion")),
				 .fault = request->fault};
	if (protobuf)
		api_buf_puts(&request->note, " in protobuf");
	s->watch.socket = sim_request_socket(&request->api);
	s->watch.resource = s->resource;
	atomic_init(&s->watch.position, sim_watch_position(watch));
	sim_slow_watches_add(s->server, &s->watch);
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, (size_t)256 * 1024, read_stream, s,
						     stream_free);
	if (!response)
		stream_free(s);
	return sim_reply_response(request, 200, api_answer_type(&request->api, true), response);
}
