/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change's frames are a list that only grows, at its head: who reads it needs no lock. A frame that is kept
 * is entered with a reference of the list's own.
 */
#include "tools/serving/shared_frame.h"

#include <stdlib.h>
#include <string.h>

struct api_frame *
api_frame_new(const char *bytes, size_t len)
{
	struct api_frame *frame = api_alloc(sizeof(*frame) + len);

	*frame = (struct api_frame){.len = len};
	atomic_init(&frame->refs, 1);
	if (len)
		memcpy(frame->bytes, bytes, len);
	return frame;
}

static struct api_frame *
ref(struct api_frame *frame)
{
	atomic_fetch_add_explicit(&frame->refs, 1, memory_order_relaxed);
	return frame;
}

void
api_frame_unref(struct api_frame *frame)
{
	/* acq_rel: whoever frees has seen every other owner's last read */
	if (frame && atomic_fetch_sub_explicit(&frame->refs, 1, memory_order_acq_rel) == 1)
		free(frame);
}

struct api_frames *
api_frames_new(struct api_share *share)
{
	struct api_frames *frames = api_alloc(sizeof(*frames));

	atomic_init(&frames->refs, 1);
	atomic_init(&frames->first, NULL);
	frames->share = share;
	return frames;
}

struct api_frames *
api_frames_ref(struct api_frames *frames)
{
	atomic_fetch_add_explicit(&frames->refs, 1, memory_order_relaxed);
	return frames;
}

void
api_frames_unref(struct api_frames *frames)
{
	struct api_frame *frame, *next;

	if (!frames || atomic_fetch_sub_explicit(&frames->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (frame = atomic_load_explicit(&frames->first, memory_order_relaxed); frame; frame = next) {
		next = frame->next;
		if (frames->share)
			api_share_give_back(frames->share, frame->len);
		api_frame_unref(frame);
	}
	free(frames);
}

struct api_frame *
api_frames_find(const struct api_frames *frames, uint64_t form)
{
	struct api_frame *frame = atomic_load_explicit(&frames->first, memory_order_acquire);

	while (frame && frame->form != form)
		frame = frame->next;
	return frame ? ref(frame) : NULL;
}

void
api_frames_keep(struct api_frames *frames, struct api_frame *frame, uint64_t form)
{
	struct api_frame *first = atomic_load_explicit(&frames->first, memory_order_acquire);
	const struct api_frame *same;

	frame->form = form;
	ref(frame); /* the list's */
	do {
		for (same = first; same; same = same->next)
			if (same->form == form) {
				api_frame_unref(frame);
				return;
			}
		frame->next = first;
		/* release: who finds it sees its bytes */
	} while (!atomic_compare_exchange_weak_explicit(&frames->first, &first, frame, memory_order_release,
							memory_order_acquire));
	if (frames->share)
		api_share_add(frames->share, frame->len);
}
