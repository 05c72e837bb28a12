/* SPDX-License-Identifier: Apache-2.0 */
/* A change's frames: a list with a reference to each frame; see shared_frame.h. */
#include "tools/serving/shared_frame.h"

#include <stdlib.h>
#include <string.h>

struct api_frame *
api_frame_new(const char *bytes, size_t len)
{
	struct api_frame *frame = api_alloc(sizeof(*frame) + len);

	*frame = (struct api_frame){.refs = 1, .len = len};
	if (len)
		memcpy(frame->bytes, bytes, len);
	return frame;
}

void
api_frame_unref(struct api_frame *frame)
{
	if (frame && --frame->refs == 0)
		free(frame);
}

struct api_frames *
api_frames_new(struct api_share *share)
{
	struct api_frames *frames = api_alloc(sizeof(*frames));

	*frames = (struct api_frames){.refs = 1, .share = share};
	return frames;
}

struct api_frames *
api_frames_ref(struct api_frames *frames)
{
	frames->refs++;
	return frames;
}

void
api_frames_unref(struct api_frames *frames)
{
	struct api_frame *frame;

	if (!frames || --frames->refs > 0)
		return;
	while ((frame = frames->first)) {
		frames->first = frame->next;
		if (frames->share)
			api_share_give_back(frames->share, frame->len);
		api_frame_unref(frame);
	}
	free(frames);
}

struct api_frame *
api_frames_find(const struct api_frames *frames, uint64_t form)
{
	struct api_frame *frame = frames->first;

	while (frame && frame->form != form)
		frame = frame->next;
	if (frame)
		frame->refs++;
	return frame;
}

void
api_frames_keep(struct api_frames *frames, struct api_frame *frame, uint64_t form)
{
	frame->form = form;
	frame->next = frames->first;
	frame->refs++;
	frames->first = frame;
	if (frames->share)
		api_share_add(frames->share, frame->len);
}
