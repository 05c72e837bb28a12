/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of one change: made once for each form and kept for all. */
#include "tests/room.h"
#include "tools/serving/shared_frame.h"

static unsigned
count(const struct api_frames *frames)
{
	unsigned n = 0;

	for (const struct api_frame *frame = frames->first; frame; frame = frame->next)
		n++;
	return n;
}

/* A kept frame is found by its form, with its own reference. */
TEST_CASE(a_frame_is_found_by_its_form)
{
	struct api_frames *frames = api_frames_new(NULL);
	struct api_frame *one = api_frame_new("one", 3), *two = api_frame_new("two!", 4), *found;

	assert_null(api_frames_find(frames, 1));
	api_frames_keep(frames, one, 1);
	api_frames_keep(frames, two, 2);
	api_frame_unref(one);
	api_frame_unref(two);
	found = api_frames_find(frames, 1);
	assert_int_equal(found->len, 3);
	assert_memory_equal(found->bytes, "one", 3);
	assert_int_equal(count(frames), 2);
	api_frames_unref(frames);
	assert_memory_equal(found->bytes, "one", 3); /* still referenced */
	api_frame_unref(found);
}
