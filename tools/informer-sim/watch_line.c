/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are put together from pieces where they stand: an object's text is not copied; see watch_line.h. */
#include "tools/informer-sim/watch_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/informer-sim/proto_document.h"
#include "tools/informer-sim/proto_object.h"
#include "tools/informer-sim/watch_frame.h"

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
table(struct sim_stream *s, const struct sim_object *object, uint64_t rv)
{
	char meta[128];

	snprintf(meta, sizeof(meta), "\"resourceVersion\":\"%" PRIu64 "\"", rv || !object ? rv : object->rv);
	sim_key_chunks_head(&s->shape, s->resource, meta, !s->headed, &s->own);
	s->headed = true;
	if (object)
		sim_key_chunks_row(&s->shape, s->resource, object, rv, &s->own);
	sim_buf_puts(&s->own, "]}");
}

/* A frame of a message without its envelope: whole in s->own, or its bytes apart where they lie ready. */
static void
frame(struct sim_stream *s, const char *type, const char *message, size_t len)
{
	_cleanup_(sim_buf_done) struct sim_buf envelope = {0};
	size_t more = s->newer ? SIM_PROTO_NEWER_LENGTH : 0;

	sim_proto_envelope(&envelope, sim_proto_version(&s->shape, s->resource),
			   sim_proto_kind(&s->shape, s->resource), len + more);
	sim_buf_reset(&s->own);
	sim_frame_head(&s->own, type, envelope.len + len + more + SIM_PROTO_TRAILER_LENGTH);
	sim_buf_put(&s->own, envelope.data, envelope.len);
	begin_line(s);
	put(s, s->own.data, s->own.len);
	put(s, message, len);
	put(s, SIM_PROTO_NEWER, more);
	put(s, SIM_PROTO_TRAILER, SIM_PROTO_TRAILER_LENGTH);
}

static void
show_in_protobuf(struct sim_stream *s, const char *type, struct sim_object *object, uint64_t rv)
{
	size_t len;
	const char *bytes;

	if (rv == 0) {
		bytes = sim_proto_object(&s->shape, s->resource, object, &len);
		frame(s, type, bytes, len);
		return;
	}
	sim_buf_reset(&s->message);
	sim_proto_object_at(&s->shape, s->resource, object, rv, &s->message);
	frame(s, type, s->message.data, s->message.len);
}

void
sim_watch_line(struct sim_stream *s, enum sim_change change, struct sim_object *object, uint64_t rv)
{
	static const char *const types[] = {
		[SIM_ADDED] = "ADDED", [SIM_MODIFIED] = "MODIFIED", [SIM_DELETED] = "DELETED"};
	static const char *const begin[] = {
		[SIM_ADDED] = "{\"type\":\"ADDED\",\"object\":",
		[SIM_MODIFIED] = "{\"type\":\"MODIFIED\",\"object\":",
		[SIM_DELETED] = "{\"type\":\"DELETED\",\"object\":",
	};

	bool partial = s->shape.kind != SIM_PLAIN;
	struct sim_object *bare = s->shape.bare ? sim_object_bare(s->resource, object) : NULL;
	const char *text;
	size_t len, at;

	if (bare) {
		sim_object_unref(s->bare);
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
	if (s->shape.kind == SIM_TABLE) {
		sim_buf_reset(&s->own);
		sim_buf_puts(&s->own, begin[change]);
		table(s, object, rv);
		sim_buf_puts(&s->own, "}\n");
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
	_cleanup_(sim_buf_done) struct sim_buf json = {0};
	bool partial = s->shape.kind != SIM_PLAIN;

	sim_buf_printf(&json, "{\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s}}", rv,
		       end_mark ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
	sim_buf_reset(&s->message);
	sim_proto_json(partial ? "meta.k8s.io/v1" : s->resource->api_version,
		       sim_proto_kind(&s->shape, s->resource), json.data, json.len, &s->message);
	frame(s, "BOOKMARK", s->message.data, s->message.len);
}

void
sim_watch_said(struct sim_stream *s, const char *text)
{
	sim_buf_reset(&s->between);
	if (s->shape.protobuf)
		sim_frames_of_line(&s->between, text);
	else
		sim_buf_puts(&s->between, text);
}

void
sim_watch_bookmark(struct sim_stream *s, uint64_t rv, bool end_mark)
{
	if (s->shape.protobuf) {
		bookmark_in_protobuf(s, rv, end_mark);
		return;
	}
	sim_buf_reset(&s->own);
	sim_buf_puts(&s->own, "{\"type\":\"BOOKMARK\",\"object\":");
	if (s->shape.kind == SIM_TABLE) {
		table(s, NULL, rv);
	} else {
		sim_buf_put(&s->own, s->head.data, s->head.len);
		sim_buf_printf(&s->own, "%s{\"resourceVersion\":\"%" PRIu64 "\"%s}",
			       s->shape.kind == SIM_PLAIN ? "\"metadata\":" : "", rv,
			       end_mark ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
		if (s->shape.kind == SIM_PLAIN && !strcmp(s->resource->plural, "pods") &&
		    !s->resource->group[0])
			sim_buf_puts(&s->own, ",\"spec\":{\"containers\":null},\"status\":{}");
		sim_buf_puts(&s->own, "}");
	}
	sim_buf_puts(&s->own, "}\n");
	sim_watch_own_line(s);
}

void
sim_watch_error(struct sim_stream *s, const struct sim_status *status)
{
	_cleanup_(sim_buf_done) struct sim_buf document = {0};

	s->error = true;
	sim_buf_reset(&s->own);
	if (s->shape.protobuf) {
		sim_status_encode(status, &document);
		sim_frame_head(&s->own, "ERROR", document.len);
		sim_buf_put(&s->own, document.data, document.len);
		return;
	}
	sim_buf_puts(&s->own, "{\"type\":\"ERROR\",\"object\":");
	sim_status_print(status, &s->own);
	sim_buf_puts(&s->own, "}\n");
}
