/*
 * WATCH: a stream of JSON lines, written by the connection's own thread.
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
 * a client: a slow one is overtaken by the ring and ended (warden.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/informer-sim/query.h"
#include "tools/informer-sim/warden.h"

#define BATCH 64
#define HANGUP_CHECK_MS 500

struct piece {
	const char *bytes;
	size_t len;
};

struct stream {
	struct sim_watch watch;
	struct sim_server *server;
	const struct sim_resource *resource;
	struct sim_query query;
	char *prefix; /* "namespace/", or "" */
	size_t prefix_len;

	bool initial;	/* the view is still being sent */
	bool end_mark;	/* and then the bookmark that says so */
	bool error;	/* own holds an ERROR line: send it and end */
	bool ended;
	struct sim_view view;
	uint64_t position;
	uint64_t after_rv; /* events up to here are not sent: the client asked from a future RV */
	uint64_t deadline_ms;
	uint64_t bookmark_ms; /* when the next one is due */

	struct sim_event events[BATCH];
	unsigned event_count;
	unsigned event_at;

	struct piece pieces[6]; /* the line being sent */
	unsigned piece_count;
	unsigned piece_at;
	size_t piece_offset;
	struct sim_buf own; /* bytes of the line that are no object's */
	char rv[24];
};

static uint64_t
now_ms(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000 + (uint64_t)at.tv_nsec / 1000000;
}

static void
stream_free(void *cls)
{
	struct stream *s = cls;

	sim_warden_remove(s->server, &s->watch);
	sim_events_done(s->events, s->event_count);
	sim_view_done(&s->view);
	sim_query_done(&s->query);
	sim_buf_done(&s->own);
	free(s->prefix);
	free(s);
}

/* ---- lines ---------------------------------------------------------------- */

static void
put(struct stream *s, const char *bytes, size_t len)
{
	s->pieces[s->piece_count++] = (struct piece){bytes, len};
}

static void
begin_line(struct stream *s)
{
	s->piece_count = s->piece_at = 0;
	s->piece_offset = 0;
}

/* rv 0: the object's own. The object stays referenced by its batch or view until the line is sent. */
static void
line(struct stream *s, enum sim_change change, const struct sim_object *object, uint64_t rv)
{
	static const char *const begin[] = {
		[SIM_ADDED] = "{\"type\":\"ADDED\",\"object\":",
		[SIM_MODIFIED] = "{\"type\":\"MODIFIED\",\"object\":",
		[SIM_DELETED] = "{\"type\":\"DELETED\",\"object\":",
	};

	begin_line(s);
	put(s, begin[change], strlen(begin[change]));
	put(s, s->resource->head, s->resource->head_len);
	if (rv == 0) {
		put(s, object->text, object->text_len);
	} else {
		size_t behind = object->rv_at + object->rv_len;
		int len = snprintf(s->rv, sizeof(s->rv), "%" PRIu64, rv);

		put(s, object->text, object->rv_at);
		put(s, s->rv, (size_t)len);
		put(s, object->text + behind, object->text_len - behind);
	}
	put(s, "}\n", 2);
}

static void
own_line(struct stream *s)
{
	begin_line(s);
	put(s, s->own.data, s->own.len);
}

static void
bookmark_line(struct stream *s, uint64_t rv, bool end_mark)
{
	sim_buf_reset(&s->own);
	sim_buf_puts(&s->own, "{\"type\":\"BOOKMARK\",\"object\":");
	sim_buf_put(&s->own, s->resource->head, s->resource->head_len);
	sim_buf_printf(&s->own, "\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s}", rv,
		       end_mark ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
	if (!strcmp(s->resource->plural, "pods") && !s->resource->group[0])
		sim_buf_puts(&s->own, ",\"spec\":{\"containers\":null},\"status\":{}");
	sim_buf_puts(&s->own, "}}\n");
	own_line(s);
}

static void
error_line(struct stream *s, const struct sim_status *status)
{
	sim_buf_reset(&s->own);
	sim_buf_puts(&s->own, "{\"type\":\"ERROR\",\"object\":");
	sim_status_print(status, &s->own);
	sim_buf_puts(&s->own, "}\n");
	s->error = true;
}

/* ---- what comes next ------------------------------------------------------ */

static bool
selected(const struct stream *s, const struct sim_object *object)
{
	return !strncmp(object->key, s->prefix, s->prefix_len) && sim_query_matches(&s->query, object);
}

static bool
next_initial(struct stream *s)
{
	struct sim_object *object;

	while ((object = sim_view_next(&s->view))) {
		if (strncmp(object->key, s->prefix, s->prefix_len) != 0)
			break; /* keys are in order */
		if (!sim_query_matches(&s->query, object))
			continue;
		line(s, SIM_ADDED, object, 0);
		return true;
	}
	s->initial = false;
	if (s->end_mark)
		bookmark_line(s, s->view.rv, true);
	sim_view_done(&s->view);
	return s->end_mark;
}

/* The next event of the batch that concerns this client. */
static bool
next_event(struct stream *s)
{
	while (s->event_at < s->event_count) {
		const struct sim_event *event = &s->events[s->event_at++];
		bool before, after;

		if (event->rv <= s->after_rv)
			continue;
		before = event->prev && selected(s, event->prev);
		after = event->change != SIM_DELETED && selected(s, event->object);
		if (after) {
			line(s, before ? SIM_MODIFIED : SIM_ADDED, event->object, 0);
			return true;
		}
		if (before) {
			line(s, SIM_DELETED, event->prev, event->rv);
			return true;
		}
	}
	return false;
}

static bool
bookmark_due(struct stream *s, uint64_t now, uint64_t rv)
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
next_line(struct stream *s)
{
	uint64_t rv = 0, now;
	int n;

	if (s->error) {
		s->error = false;
		s->ended = true;
		own_line(s);
		return true;
	}
	if (s->ended)
		return false;
	if (s->initial)
		return next_initial(s) || next_line(s);
	for (;;) {
		if (next_event(s))
			return true;
		sim_events_done(s->events, s->event_count);
		s->event_count = s->event_at = 0;
		n = sim_store_events(s->server->store, s->resource, &s->position, s->events, BATCH, &rv);
		if (n < 0)
			break;
		atomic_store_explicit(&s->watch.position, s->position, memory_order_relaxed);
		s->event_count = (unsigned)n;
		now = now_ms();
		if (now >= s->deadline_ms)
			break;
		if (n == 0) {
			if (!bookmark_due(s, now, rv))
				return false;
			bookmark_line(s, rv, false);
			return true;
		}
	}
	s->ended = true;
	return false;
}

/* Has the client gone? A quiet watch writes nothing, so it must look. */
static bool
hung_up(const struct stream *s)
{
	struct pollfd fd = {.fd = s->watch.socket, .events = POLLRDHUP};

	return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static void
wait_for_more(struct stream *s)
{
	uint64_t now = now_ms(), until = s->deadline_ms;

	if (s->query.bookmarks && s->bookmark_ms < until)
		until = s->bookmark_ms;
	until = until > now ? until - now : 0;
	sim_store_wait(s->server->store, s->resource, s->position,
		       until < HANGUP_CHECK_MS ? (unsigned)until : HANGUP_CHECK_MS);
	if (sim_store_stopped(s->server->store) || hung_up(s))
		s->ended = true;
}

static ssize_t
read_stream(void *cls, uint64_t position, char *out, size_t max)
{
	struct stream *s = cls;
	size_t done = 0;

	(void)position;
	for (;;) {
		while (s->piece_at < s->piece_count && done < max) {
			const struct piece *piece = &s->pieces[s->piece_at];
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
		if (s->ended)
			return MHD_CONTENT_READER_END_OF_STREAM;
		wait_for_more(s);
	}
}

/* ---- opening -------------------------------------------------------------- */

static void
open_initial(struct stream *s)
{
	s->initial = true;
	s->end_mark = s->query.initial && s->query.bookmarks;
	sim_store_view(s->server->store, s->resource, 0, &s->view, &s->position);
	sim_view_seek(&s->view, s->prefix);
}

static void
open_at(struct stream *s, struct sim_request *request)
{
	uint64_t floor = 0, rv = s->query.rv;
	struct sim_status *status = &request->status;

	if (sim_store_position(s->server->store, s->resource, rv, &s->position, &floor) < 0) {
		sim_status_set(status, 410, "Expired", "too old resource version: %" PRIu64 " (%" PRIu64 ")", rv, floor);
		error_line(s, status);
		sim_status_done(status);
	}
	s->after_rv = rv;
}

enum MHD_Result
sim_handle_watch(struct sim_request *request)
{
	struct MHD_Response *response;
	const union MHD_ConnectionInfo *info;
	struct stream *s;
	struct sim_query query;
	struct sim_buf prefix = {0};
	uint64_t now, timeout_ms, interval_ms;

	request->verb = "WATCH";
	if (sim_query_parse(request, &query) < 0)
		return sim_reply_status(request);
	s = sim_alloc(sizeof(*s));
	*s = (struct stream){.server = request->server, .resource = request->resource, .query = query};
	if (request->namespace_)
		sim_buf_printf(&prefix, "%s/", request->namespace_);
	s->prefix_len = prefix.len;
	s->prefix = sim_buf_take(&prefix);

	if (query.initial && query.rv && sim_query_await(request, query.rv) < 0) {
		error_line(s, &request->status);
		sim_status_done(&request->status);
	} else if (query.initial || !query.rv) {
		open_initial(s);
	} else {
		open_at(s, request);
	}
	now = now_ms();
	pthread_mutex_lock(&s->server->lock);
	timeout_ms = query.timeout ? query.timeout * 1000ull : 1800000u + sim_rng_below(&s->server->rng, 1800000);
	pthread_mutex_unlock(&s->server->lock);
	interval_ms = s->server->options.bookmark_interval * 1000ull;
	s->deadline_ms = now + timeout_ms;
	s->bookmark_ms = now + interval_ms;
	if (timeout_ms > 2000 && s->bookmark_ms > s->deadline_ms - 2000)
		s->bookmark_ms = s->deadline_ms - 2000;

	info = MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	s->watch.socket = info ? info->connect_fd : -1;
	s->watch.resource = s->resource;
	atomic_init(&s->watch.position, s->position);
	sim_warden_add(s->server, &s->watch);
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, (size_t)256 * 1024, read_stream, s, stream_free);
	if (!response)
		stream_free(s);
	return sim_reply_response(request, 200, "application/json", response);
}
