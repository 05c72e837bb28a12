/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a watch: {"type":...,"object":...} in the shape that was asked for, or the frames of one in
 * protobuf.
 */
#ifndef TOOLS_SERVING_WATCH_LINE_H
#define TOOLS_SERVING_WATCH_LINE_H

#include "tools/serving/shape.h"
#include "tools/serving/shared_frame.h"
#include "tools/serving/status_document.h"

/* In what a watch's lines are written. */
struct api_form {
	const struct api_resource *resource;
	struct api_shape shape;
};

/* Which of the frames of one change a line is; equal lines have equal numbers. */
uint64_t api_line_form(const struct api_form *form, enum api_change change, bool columns);

/*
 * Append the line of an object.
 *
 * rv       that it shows; 0: its own
 * columns  of a Table: with their definitions, as the first line of a watch has them
 */
void api_line_object(const struct api_form *form, enum api_change change, struct api_object *object,
		     uint64_t rv, bool columns, struct api_buf *buf);
/* Append a bookmark. end_mark: of all that was there at the beginning. */
void api_line_bookmark(const struct api_form *form, uint64_t rv, bool end_mark, bool columns,
		       struct api_buf *buf);
/* Append an ERROR line. */
void api_line_error(const struct api_form *form, const struct api_status *status, struct api_buf *buf);

/*
 * Append the frame of a document: four bytes of length, the highest first, and a WatchEvent, in which the
 * document stands.
 *
 * Source    k8s.io/apimachinery/pkg/runtime/serializer/protobuf (LengthDelimitedFramer), pkg/apis/meta/v1
 */
void api_frame_put(struct api_buf *buf, const char *type, const struct api_buf *document);

#endif
