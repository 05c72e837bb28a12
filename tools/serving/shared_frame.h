/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame: the bytes of one line of a watch (or of a protobuf frame), made once and shared by all watches that
 * send it. A change keeps its frames, one for each form in use. So a thousand watches of one form cost one
 * encoding, and a change without watches costs none.
 *
 * Threads   one at a time
 */
#ifndef TOOLS_SERVING_SHARED_FRAME_H
#define TOOLS_SERVING_SHARED_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "tools/serving/budget.h"
#include "tools/serving/buf.h"

enum api_change { API_ADDED, API_MODIFIED, API_DELETED };

struct api_frame {
	unsigned refs;
	uint64_t form; /* the form of the frame: api_line_form() */
	struct api_frame *next;
	size_t len;
	char bytes[];
};

/* A frame of these bytes, with one reference. */
struct api_frame *api_frame_new(const char *bytes, size_t len);
/* NULL is fine. */
void api_frame_unref(struct api_frame *frame);

/* The frames of one change. */
struct api_frames {
	unsigned refs;
	struct api_share *share; /* counts their bytes; NULL: not counted */
	struct api_frame *first;
};

/* Returns an empty set, with one reference. */
struct api_frames *api_frames_new(struct api_share *share);
struct api_frames *api_frames_ref(struct api_frames *frames);
/* NULL is fine. */
void api_frames_unref(struct api_frames *frames);

/* Returns the frame of a form, with a reference; NULL: not made yet. */
struct api_frame *api_frames_find(const struct api_frames *frames, uint64_t form);
/* Store a frame of a form that api_frames_find() did not have; the caller keeps its reference. */
void api_frames_keep(struct api_frames *frames, struct api_frame *frame, uint64_t form);

#endif
