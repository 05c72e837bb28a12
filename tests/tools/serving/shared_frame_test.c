/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of one change, made by whoever comes first and kept for all. */
#include <pthread.h>

#include "tests/room.h"
#include "tools/serving/shared_frame.h"

static unsigned
count(const struct api_frames *frames)
{
	unsigned n = 0;

	for (const struct api_frame *frame = atomic_load(&frames->first); frame; frame = frame->next)
		n++;
	return n;
}

/* What was kept is found by its form, with a reference of its own. */
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
	assert_memory_equal(found->bytes, "one", 3); /* still ours */
	api_frame_unref(found);
}

/* A second frame of a form is not kept: all see the same one. */
TEST_CASE(the_first_of_a_form_stays)
{
	struct api_frames *frames = api_frames_new(NULL);
	struct api_frame *one = api_frame_new("one", 3), *other = api_frame_new("one", 3), *found;

	api_frames_keep(frames, one, 7);
	api_frames_keep(frames, other, 7);
	found = api_frames_find(frames, 7);
	assert_ptr_equal(found, one);
	assert_int_equal(count(frames), 1);
	api_frame_unref(found);
	api_frame_unref(one);
	api_frame_unref(other);
	api_frames_unref(frames);
}

enum { THREADS = 4, FORMS = 200 };

static void *
make_all(void *arg)
{
	struct api_frames *frames = arg;

	for (unsigned form = 0; form < FORMS; form++) {
		struct api_frame *frame = api_frames_find(frames, form);
		char text[16];

		snprintf(text, sizeof(text), "%u", form);
		if (!frame) {
			frame = api_frame_new(text, strlen(text));
			api_frames_keep(frames, frame, form);
		}
		if (memcmp(frame->bytes, text, strlen(text)) != 0)
			return frames;
		api_frame_unref(frame);
	}
	api_frames_unref(frames);
	return NULL;
}

/* Threads that make the same frames at once leave one of each, whole. */
TEST_CASE(threads_share_what_they_make)
{
	struct api_frames *frames = api_frames_new(NULL);
	pthread_t threads[THREADS];
	void *wrong;

	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_all, api_frames_ref(frames)), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	assert_int_equal(count(frames), FORMS);
	api_frames_unref(frames);
}
