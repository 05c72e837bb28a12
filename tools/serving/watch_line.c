/* SPDX-License-Identifier: Apache-2.0 */
/* Builds lines from an object's text. Only Tables parse that text; see watch_line.h. */
#include "tools/serving/watch_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"
#include "tools/serving/proto_object.h"

enum { TYPE = 1, OBJECT, RAW = 1 }; /* fields of WatchEvent, and of its object */

#define END_MARK ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}"

/*
 * Includes the resource, because all versions of a resource share their changes. Its pointer's low 2 bits are
 * 0, so the 10 bits of flags do not overlap it.
 */
uint64_t
api_line_form(const struct api_form *form, enum api_change change, bool columns)
{
	const struct api_shape *shape = &form->shape;
	unsigned flags = (unsigned)shape->kind | (unsigned)shape->rows << 2 | (unsigned)change << 4 |
			 (unsigned)shape->protobuf << 6 | (unsigned)shape->bare << 7 |
			 (unsigned)columns << 8 | (unsigned)(strcmp(shape->version, "v1") != 0) << 9;

	return (uint64_t)(uintptr_t)form->resource << 8 | flags;
}

void
api_frame_put(struct api_buf *buf, const char *type, const struct api_buf *document)
{
	_cleanup_(api_buf_done) struct api_buf raw = {0};
	_cleanup_(api_buf_done) struct api_buf event = {0};

	api_proto_bytes(&raw, RAW, document->data, document->len);
	api_proto_text(&event, TYPE, type);
	api_proto_bytes(&event, OBJECT, raw.data, raw.len);
	for (int shift = 24; shift >= 0; shift -= 8)
		api_buf_put(buf, &(char){(char)(event.len >> shift)}, 1);
	api_buf_put(buf, event.data, event.len);
}

/* Append a frame of a message that has no envelope yet. */
static void
frame(const struct api_form *form, const char *type, const struct api_buf *message, struct api_buf *buf)
{
	_cleanup_(api_buf_done) struct api_buf document = {0};

	api_proto_wrap(&document, api_proto_version(&form->shape, form->resource),
		       api_proto_kind(&form->shape, form->resource), message);
	api_frame_put(buf, type, &document);
}

void
api_line_object(const struct api_form *form, enum api_change change, struct api_object *object, uint64_t rv,
		bool columns, struct api_buf *buf)
{
	static const char *const types[] = {
		[API_ADDED] = "ADDED", [API_MODIFIED] = "MODIFIED", [API_DELETED] = "DELETED"};
	_cleanup_(api_object_unrefp) struct api_object *shown = api_shape_object(&form->shape, object);
	_cleanup_(api_buf_done) struct api_buf message = {0};

	if (form->shape.protobuf) {
		api_proto_object(&form->shape, form->resource, shown, rv, &message);
		frame(form, types[change], &message, buf);
		return;
	}
	api_buf_printf(buf, "{\"type\":\"%s\",\"object\":", types[change]);
	api_shape_print(&form->shape, form->resource, shown, rv, columns, buf);
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
	frame(form, "BOOKMARK", &message, buf);
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
		api_table(&form->shape, form->resource, NULL, rv, columns, buf);
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
		api_frame_put(buf, "ERROR", &document);
		return;
	}
	api_buf_puts(buf, "{\"type\":\"ERROR\",\"object\":");
	api_status_print(status, buf);
	api_buf_puts(buf, "}\n");
}
