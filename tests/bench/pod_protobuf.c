/* SPDX-License-Identifier: Apache-2.0 */
/* Pods through informer-sim's encoder; see pod_protobuf.h. */
#include "tests/bench/pod_protobuf.h"

#include <stdlib.h>

#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"
#include "tools/serving/watch_line.h"

enum { METADATA = 1, ITEMS, VERSION = 2 }; /* fields of a list, and of its metadata */

static void
append(struct bytes *to, const struct api_buf *from)
{
	if (bytes_append(to, from->data, from->len) < 0)
		abort();
}

void
pod_protobuf_list(const struct pods *p, enum pods_naming naming, size_t count, struct bytes *out)
{
	struct api_buf list = {0}, metadata = {0}, pod = {0}, head = {0};
	struct bytes text = {0};

	api_proto_text(&metadata, VERSION, "1");
	api_proto_bytes(&list, METADATA, metadata.data, metadata.len);
	for (size_t i = 0; i < count; i++) {
		text.length = 0;
		api_buf_reset(&pod);
		pods_make(p, naming, i, count, 0, &text);
		if (api_proto_json("v1", "Pod", (const char *)text.data, text.length, &pod) < 0)
			abort();
		api_proto_bytes(&list, ITEMS, pod.data, pod.len);
	}
	api_proto_envelope(&head, "v1", "PodList", list.len);
	append(out, &head);
	api_buf_put(&list, API_PROTO_TRAILER, API_PROTO_TRAILER_LENGTH);
	append(out, &list);
	api_buf_done(&head);
	api_buf_done(&pod);
	api_buf_done(&metadata);
	api_buf_done(&list);
	bytes_done(&text);
}

void
pod_protobuf_changes(const struct pods *p, enum pods_naming naming, size_t count, struct bytes *out)
{
	struct api_buf document = {0}, frame = {0};
	struct bytes text = {0};

	for (size_t i = 0; i < count; i++) {
		text.length = 0;
		api_buf_reset(&document);
		api_buf_reset(&frame);
		pods_make(p, naming, i, count, 1, &text);
		if (api_proto_document("v1", "Pod", (const char *)text.data, text.length, &document) < 0)
			abort();
		api_frame_put(&frame, "MODIFIED", &document);
		append(out, &frame);
	}
	api_buf_done(&frame);
	api_buf_done(&document);
	bytes_done(&text);
}
