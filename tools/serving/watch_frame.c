/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths are told from the outside in; see watch_frame.h. */
#include "tools/serving/watch_frame.h"

#include "tools/serving/proto_encode.h"

enum { TYPE = 1, OBJECT, RAW = 1 }; /* fields of a WatchEvent, and of its object */

void
api_frame_head(struct api_buf *buf, const char *type, uint64_t document)
{
	_cleanup_(api_buf_done) struct api_buf event = {0};
	_cleanup_(api_buf_done) struct api_buf raw = {0};
	uint64_t length;

	api_proto_begin(&raw, RAW, document);
	api_proto_text(&event, TYPE, type);
	api_proto_begin(&event, OBJECT, raw.len + document);
	api_buf_put(&event, raw.data, raw.len);
	length = event.len + document;
	for (int shift = 24; shift >= 0; shift -= 8)
		api_buf_put(buf, &(char){(char)(length >> shift)}, 1);
	api_buf_put(buf, event.data, event.len);
}
