/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are put together from an object's text, which is parsed by nobody but Tables; see watch_line.h. */
#include "tools/serving/watch_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"
#include "tools/serving/proto_object.h"

enum { TYPE = 1, OBJECT, RAW = 1 }; /* fields of a WatchEvent, and of its object */

#define END_MARK ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}"

/* Resources of several versions share their changes, so that the resource is part of it; its lowest bits are
 * 0. */
uint64_t
api_line_form(const struct api_form *form, enum api_change change, bool columns)
{
	const struct api_shape *shape = &form->shape;
	unsigned flags = (unsigned)shape->kind | (unsigned)shape->rows << 2 | (unsigned)change << 4 |
			 (unsigned)shape->protobuf << 6 | (unsigned)shape->bare << 7 |
			 (unsigned)columns << 8 | (unsigned)(strcmp(shape->version, "v1") != 0) << 9;

	return (uint64_t)(uintptr_t)form->resource << 8 | flags;
}

/* A Table with one row, or for a bookmark none. */
static void
table(const struct api_form *form, const struct api_object *object, uint64_t rv, bool columns,
      struct api_buf *buf)
{
	char meta[128];

	snprintf(meta, sizeof(meta), "\"resourceVersion\":\"%" PRIu64 "\"", rv || !object ? rv : object->rv);
	api_table_head(&form->shape, form->resource, meta, columns, buf);
	if (object)
		api_table_row(&form->shape, form->resource, object, rv, buf);
	api_buf_puts(buf, "]}");
}

void
api_frame_head(struct api_buf *buf, const char *type, uint64_t document)
{
	_cleanup_(api_buf_done) struct api_buf raw = {0};
	_cleanup_(api_buf_done) struct api_buf head = {0};
	uint64_t length;

	api_proto_begin(&raw, RAW, document);
	api_proto_text(&head, TYPE, type);
	api_proto_begin(&head, OBJECT, raw.len + document);
	api_buf_put(&head, raw.data, raw.len);
	length = head.len + document;
	for (int shift = 24; shift >= 0; shift -= 8)
		api_buf_put(buf, &(char){(char)(length >> shift)}, 1);
	api_buf_put(buf, head.data, head.len);
}

/* A frame of a message without its envelope. */
static void
frame(const struct api_form *form, const char *type, const char *message, size_t len, struct api_buf *buf)
{
	_cleanup_(api_buf_done) struct api_buf envelope = {0};

	api_proto_envelope(&envelope, api_proto_version(&form->shape, form->resource),
			   api_proto_kind(&form->shape, form->resource), len);
	api_frame_head(buf, type, envelope.len + len + API_PROTO_TRAILER_LENGTH);
	api_buf_put(buf, envelope.data, envelope.len);
	api_buf_put(buf, message, len);
	api_buf_put(buf, API_PROTO_TRAILER, API_PROTO_TRAILER_LENGTH);
}

static void
object_in_protobuf(const struct api_form *form, const char *type, struct api_object *object, uint64_t rv,
		   struct api_buf *buf)
{
	_cleanup_(api_buf_done) struct api_buf message = {0};
	const char *bytes;
	size_t len;

	if (rv == 0) {
		bytes = api_proto_object(&form->shape, form->resource, object, &len);
		frame(form, type, bytes, len, buf);
		return;
	}
	api_proto_object_at(&form->shape, form->resource, object, rv, &message);
	frame(form, type, message.data, message.len, buf);
}

void
api_line_object(const struct api_form *form, enum api_change change, struct api_object *object, uint64_t rv,
		bool columns, struct api_buf *buf)
{
	static const char *const types[] = {
		[API_ADDED] = "ADDED", [API_MODIFIED] = "MODIFIED", [API_DELETED] = "DELETED"};
	_cleanup_(api_object_unrefp) struct api_object *shown = api_shape_object(&form->shape, object);

	if (form->shape.protobuf) {
		object_in_protobuf(form, types[change], shown, rv, buf);
		return;
	}
	api_buf_printf(buf, "{\"type\":\"%s\",\"object\":", types[change]);
	if (form->shape.kind == API_TABLE)
		table(form, shown, rv, columns, buf);
	else
		api_shape_print(&form->shape, form->resource, shown, rv, buf);
	api_buf_puts(buf, "}\n");
}

static void
bookmark_in_protobuf(const struct api_form *form, uint64_t rv, bool end_mark, struct api_buf *buf)
{
	_cleanup_(api_buf_done) struct api_buf json = {0};
	_cleanup_(api_buf_done) struct api_buf message = {0};
	bool partial = form->shape.kind != API_PLAIN;

	api_buf_printf(&json, "{\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s}}", rv,
		       end_mark ? END_MARK : "");
	api_proto_json(partial ? "meta.k8s.io/v1" : form->resource->api_version,
		       api_proto_kind(&form->shape, form->resource), json.data, json.len, &message);
	frame(form, "BOOKMARK", message.data, message.len, buf);
}

/* As upstream prints an empty object of the kind. */
static void
bookmark_object(const struct api_form *form, uint64_t rv, bool end_mark, struct api_buf *buf)
{
	bool plain = form->shape.kind == API_PLAIN;

	if (plain)
		api_buf_put(buf, form->resource->head, form->resource->head_len);
	else
		api_shape_partial_head(&form->shape, buf);
	api_buf_printf(buf, "%s{\"resourceVersion\":\"%" PRIu64 "\"%s}", plain ? "\"metadata\":" : "", rv,
		       end_mark ? END_MARK : "");
	if (plain && !strcmp(form->resource->plural, "pods") && !form->resource->group[0])
		api_buf_puts(buf, ",\"spec\":{\"containers\":null},\"status\":{}");
	api_buf_puts(buf, "}");
}

void
api_line_bookmark(const struct api_form *form, uint64_t rv, bool end_mark, bool columns, struct api_buf *buf)
{
	if (form->shape.protobuf) {
		bookmark_in_protobuf(form, rv, end_mark, buf);
		return;
	}
	api_buf_puts(buf, "{\"type\":\"BOOKMARK\",\"object\":");
	if (form->shape.kind == API_TABLE)
		table(form, NULL, rv, columns, buf);
	else
		bookmark_object(form, rv, end_mark, buf);
	api_buf_puts(buf, "}\n");
}

void
api_line_error(const struct api_form *form, const struct api_status *status, struct api_buf *buf)
{
	_cleanup_(api_buf_done) struct api_buf document = {0};

	if (form->shape.protobuf) {
		api_status_encode(status, &document);
		api_frame_head(buf, "ERROR", document.len);
		api_buf_put(buf, document.data, document.len);
		return;
	}
	api_buf_puts(buf, "{\"type\":\"ERROR\",\"object\":");
	api_status_print(status, buf);
	api_buf_puts(buf, "}\n");
}
