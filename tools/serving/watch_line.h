/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watch line: prints one line of a watch, {"type":...,"object":...} in the requested shape, or one protobuf
 * frame.
 */
#ifndef TOOLS_SERVING_WATCH_LINE_H
#define TOOLS_SERVING_WATCH_LINE_H

#include "tools/serving/shape.h"
#include "tools/serving/shared_frame.h"
#include "tools/serving/status_document.h"

/* The form of a watch's lines. */
struct api_form {
	const struct api_resource *resource;
	struct api_shape shape;
};

/* Number of a line's form among the frames of one change; equal lines have equal numbers. */
uint64_t api_line_form(const struct api_form *form, enum api_change change, bool columns);

/*
 * Append the line of an object.
 *
 * rv       the RV to show; 0: its own
 * columns  Table: with column definitions, as in a watch's first line
 */
void api_line_object(const struct api_form *form, enum api_change change, struct api_object *object,
		     uint64_t rv, bool columns, struct api_buf *buf);
/* Append a bookmark. end_mark: it ends the initial events. */
void api_line_bookmark(const struct api_form *form, uint64_t rv, bool end_mark, bool columns,
		       struct api_buf *buf);
/* Append an ERROR line. */
void api_line_error(const struct api_form *form, const struct api_status *status, struct api_buf *buf);

/*
 * Append a document's frame: its length in four bytes, big-endian, then a WatchEvent that contains the
 * document.
 *
 * Source    k8s.io/apimachinery/pkg/runtime/serializer/protobuf (LengthDelimitedFramer), pkg/apis/meta/v1
 */
void api_frame_put(struct api_buf *buf, const char *type, const struct api_buf *document);

#endif
