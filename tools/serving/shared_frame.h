/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: the bytes of one line of a watch (or of one frame in protobuf), made once and shared by all who
 * send them. Frames of one change are kept together with it, one for each form in which somebody wanted it,
 * so that a thousand watchers of one form cost one encoding, and whom nobody watches none.
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
	uint64_t form; /* which frame of its change it is: api_line_form() */
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
	struct api_share *share; /* that counts their bytes; NULL: nobody does */
	struct api_frame *first;
};

/* None yet, with one reference. */
struct api_frames *api_frames_new(struct api_share *share);
struct api_frames *api_frames_ref(struct api_frames *frames);
/* NULL is fine. */
void api_frames_unref(struct api_frames *frames);

/* The frame of a form, with a reference; NULL: nobody has made it yet. */
struct api_frame *api_frames_find(const struct api_frames *frames, uint64_t form);
/* Keep a frame of a form that api_frames_find() did not have; its reference stays the caller's. */
void api_frames_keep(struct api_frames *frames, struct api_frame *frame, uint64_t form);

#endif
