/* SPDX-License-Identifier: Apache-2.0 */
/* A field that no client knows follows the fields of each object, and all lengths around it grow. */
#include "tests/room.h"
#include "tools/informer-sim/newer_field.h"
#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"
#include "tools/serving/watch_line.h"

#define POD "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"nodeName\":\"n\"}}"
#define FIELD "\xd0\x7d\x01"

static void
put_message(struct api_buf *buf, const char *kind, const char *json)
{
	api_buf_put(buf, "", 0);
	assert_int_equal(api_proto_json("v1", kind, json, strlen(json), buf), 0);
}

static void
assert_same(struct api_buf *got, struct api_buf *want)
{
	assert_int_equal(got->len, want->len);
	assert_memory_equal(got->data, want->data, want->len);
	api_buf_done(got);
	api_buf_done(want);
}

/* The document of a pod, and of the pod with the field. */
static void
make_pods(struct api_buf *plain, struct api_buf *grown)
{
	_cleanup_(api_buf_done) struct api_buf pod = {0};

	put_message(&pod, "Pod", POD);
	api_proto_wrap(plain, "v1", "Pod", &pod);
	api_buf_put(&pod, FIELD, 3);
	api_proto_wrap(grown, "v1", "Pod", &pod);
}

TEST_CASE(an_object_has_the_newer_field)
{
	struct api_buf got = {0}, want = {0};

	make_pods(&got, &want);
	sim_newer_object(&got);
	assert_same(&got, &want);
}

/* Each item of a list has the field, the list has not. A length of 128 or more takes two bytes. */
TEST_CASE(each_item_has_the_newer_field)
{
	_cleanup_(api_buf_done) struct api_buf pod = {0};
	_cleanup_(api_buf_done) struct api_buf meta = {0};
	_cleanup_(api_buf_done) struct api_buf list = {0};
	_cleanup_(api_buf_done) struct api_buf longer = {0};
	struct api_buf got = {0}, want = {0};

	put_message(&pod, "Pod", POD);
	api_proto_text(&meta, 2, "7"); /* its resourceVersion */
	api_proto_bytes(&list, 1, meta.data, meta.len);
	api_proto_bytes(&longer, 1, meta.data, meta.len);
	for (unsigned i = 0; i < 20; i++) {
		api_proto_bytes(&list, 2, pod.data, pod.len);
		api_proto_begin(&longer, 2, pod.len + 3);
		api_buf_put(&longer, pod.data, pod.len);
		api_buf_put(&longer, FIELD, 3);
	}
	api_proto_wrap(&got, "v1", "PodList", &list);
	api_proto_wrap(&want, "v1", "PodList", &longer);
	sim_newer_list(&got);
	assert_same(&got, &want);
}

/* A frame's object has the field. A bookmark and an error are unchanged. */
TEST_CASE(a_frames_object_has_the_newer_field)
{
	struct api_buf plain = {0}, grown = {0}, got = {0}, want = {0};

	make_pods(&plain, &grown);
	api_frame_put(&got, "MODIFIED", &plain);
	api_frame_put(&want, "MODIFIED", &grown);
	sim_newer_frame(&got);
	assert_true(sim_frame_is(got.data, got.len, "MODIFIED"));
	assert_false(sim_frame_is(got.data, got.len, "MOD"));
	assert_same(&got, &want);
	for (unsigned i = 0; i < 2; i++) {
		api_frame_put(&got, i ? "ERROR" : "BOOKMARK", &plain);
		api_buf_put(&want, got.data, got.len);
		sim_newer_frame(&got);
		assert_same(&got, &want);
	}
	api_buf_done(&plain);
	api_buf_done(&grown);
}
