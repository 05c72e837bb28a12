/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are put together from pieces where they stand: an object's text is not copied; see watch_line.h. */
#include "tools/informer-sim/watch_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/serving/proto_document.h"
#include "tools/serving/proto_object.h"
#include "tools/serving/watch_frame.h"

static void
put(struct sim_stream *s, const char *bytes, size_t len)
{
	s->pieces[s->piece_count++] = (struct sim_piece){bytes, len};
}

static void
begin_line(struct sim_stream *s)
{
	s->piece_count = s->piece_at = 0;
	s->piece_offset = 0;
	s->shown = NULL;
}

/* A Table with one row, or for a bookmark none; the first one of a stream names the columns. */
static void
table(struct sim_stream *s, const struct api_object *object, uint64_t rv)
{
	char meta[128];

	snprintf(meta, sizeof(meta), "\"resourceVersion\":\"%" PRIu64 "\"", rv || !object ? rv : object->rv);
	api_table_head(&s->shape, s->resource, meta, !s->headed, &s->own);
	s->headed = true;
	if (object)
		api_table_row(&s->shape, s->resource, object, rv, &s->own);
	api_buf_puts(&s->own, "]}");
}

/* A frame of a message without its envelope: whole in s->own, or its bytes apart where they lie ready. */
static void
frame(struct sim_stream *s, const char *type, const char *message, size_t len)
{
	_cleanup_(api_buf_done) struct api_buf envelope = {0};
	size_t more = s->newer ? API_PROTO_NEWER_LENGTH : 0;

	api_proto_envelope(&envelope, api_proto_version(&s->shape, s->resource),
			   api_proto_kind(&s->shape, s->resource), len + more);
	api_buf_reset(&s->own);
	api_frame_head(&s->own, type, envelope.len + len + more + API_PROTO_TRAILER_LENGTH);
	api_buf_put(&s->own, envelope.data, envelope.len);
	begin_line(s);
	put(s, s->own.data, s->own.len);
	put(s, message, len);
	put(s, API_PROTO_NEWER, more);
	put(s, API_PROTO_TRAILER, API_PROTO_TRAILER_LENGTH);
}

static void
show_in_protobuf(struct sim_stream *s, const char *type, struct api_object *object, uint64_t rv)
{
	size_t len;
	const char *bytes;

	if (rv == 0) {
		bytes = api_proto_object(&s->shape, s->resource, object, &len);
		frame(s, type, bytes, len);
		return;
	}
	api_buf_reset(&s->message);
	api_proto_object_at(&s->shape, s->resource, object, rv, &s->message);
	frame(s, type, s->message.data, s->message.len);
}

void
sim_watch_line(struct sim_stream *s, enum sim_change change, struct api_object *object, uint64_t rv)
{
	static const char *const types[] = {
		[SIM_ADDED] = "ADDED", [SIM_MODIFIED] = "MODIFIED", [SIM_DELETED] = "DELETED"};
	static const char *const begin[] = {
		[SIM_ADDED] = "{\"type\":\"ADDED\",\"object\":",
		[SIM_MODIFIED] = "{\"type\":\"MODIFIED\",\"object\":",
		[SIM_DELETED] = "{\"type\":\"DELETED\",\"object\":",
	};

	bool partial = s->shape.kind != API_PLAIN;
	struct api_object *bare = s->shape.bare ? api_object_bare(s->resource, object) : NULL;
	const char *text;
	size_t len, at;

	if (bare) {
		api_object_unref(s->bare);
		s->bare = object = bare;
	}
	text = object->text + (partial ? object->meta_at : 0);
	len = partial ? object->meta_len : object->text_len;
	at = object->rv_at - (partial ? object->meta_at : 0);
	if (s->shape.protobuf) {
		show_in_protobuf(s, types[change], object, rv);
		s->shown = object;
		s->shown_change = change;
		s->shown_rv = rv;
		return;
	}
	if (s->shape.kind == API_TABLE) {
		api_buf_reset(&s->own);
		api_buf_puts(&s->own, begin[change]);
		table(s, object, rv);
		api_buf_puts(&s->own, "}\n");
		sim_watch_own_line(s);
		return;
	}
	begin_line(s);
	put(s, begin[change], strlen(begin[change]));
	put(s, s->head.data, s->head.len);
	if (rv == 0) {
		put(s, text, len);
	} else {
		size_t behind = at + object->rv_len;
		int digits = snprintf(s->rv, sizeof(s->rv), "%" PRIu64, rv);

		put(s, text, at);
		put(s, s->rv, (size_t)digits);
		put(s, text + behind, len - behind);
	}
	put(s, partial ? "}}\n" : "}\n", partial ? 3 : 2);
}

void
sim_watch_own_line(struct sim_stream *s)
{
	begin_line(s);
	put(s, s->own.data, s->own.len);
}

static void
bookmark_in_protobuf(struct sim_stream *s, uint64_t rv, bool end_mark)
{
	_cleanup_(api_buf_done) struct api_buf json = {0};
	bool partial = s->shape.kind != API_PLAIN;

	api_buf_printf(&json, "{\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s}}", rv,
		       end_mark ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
	api_buf_reset(&s->message);
	api_proto_json(partial ? "meta.k8s.io/v1" : s->resource->api_version,
		       api_proto_kind(&s->shape, s->resource), json.data, json.len, &s->message);
	frame(s, "BOOKMARK", s->message.data, s->message.len);
}

void
sim_watch_said(struct sim_stream *s, const char *text)
{
	api_buf_reset(&s->between);
	if (s->shape.protobuf)
		api_frames_of_line(&s->between, text);
	else
		api_buf_puts(&s->between, text);
}

void
sim_watch_bookmark(struct sim_stream *s, uint64_t rv, bool end_mark)
{
	if (s->shape.protobuf) {
		bookmark_in_protobuf(s, rv, end_mark);
		return;
	}
	api_buf_reset(&s->own);
	api_buf_puts(&s->own, "{\"type\":\"BOOKMARK\",\"object\":");
	if (s->shape.kind == API_TABLE) {
		table(s, NULL, rv);
	} else {
		api_buf_put(&s->own, s->head.data, s->head.len);
		api_buf_printf(&s->own, "%s{\"resourceVersion\":\"%" PRIu64 "\"%s}",
			       s->shape.kind == API_PLAIN ? "\"metadata\":" : "", rv,
			       end_mark ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
		if (s->shape.kind == API_PLAIN && !strcmp(s->resource->plural, "pods") &&
		    !s->resource->group[0])
			api_buf_puts(&s->own, ",\"spec\":{\"containers\":null},\"status\":{}");
		api_buf_puts(&s->own, "}");
	}
	api_buf_puts(&s->own, "}\n");
	sim_watch_own_line(s);
}

void
sim_watch_error(struct sim_stream *s, const struct api_status *status)
{
	_cleanup_(api_buf_done) struct api_buf document = {0};

	s->error = true;
	api_buf_reset(&s->own);
	if (s->shape.protobuf) {
		api_status_encode(status, &document);
		api_frame_head(&s->own, "ERROR", document.len);
		api_buf_put(&s->own, document.data, document.len);
		return;
	}
	api_buf_puts(&s->own, "{\"type\":\"ERROR\",\"object\":");
	api_status_print(status, &s->own);
	api_buf_puts(&s->own, "}\n");
}
