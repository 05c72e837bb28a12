/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths are told from the outside in; see watch_frame.h. */
#include "tools/serving/watch_frame.h"

#include <errno.h>
#include <string.h>

#include "tools/serving/doc.h"
#include "tools/serving/proto_document.h"
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

/* One event, with which a text begins; *ret_end: the first byte behind it. -EINVAL: it is none. */
static int
put_event(struct api_buf *buf, const char *text, size_t *ret_end)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_buf_done) struct api_buf json = {0};
	_cleanup_(api_buf_done) struct api_buf document = {0};
	_cleanup_(api_freep) char *type = NULL;
	_cleanup_(api_freep) char *version = NULL;
	_cleanup_(api_freep) char *kind = NULL;
	struct api_doc_error error;
	struct api_node *object;
	size_t mark;

	if (api_doc_parse(&doc, text, strlen(text), ret_end, &error) < 0 ||
	    !(object = api_get(doc.root, "object")))
		return -EINVAL;
	type = api_text_dup(api_get(doc.root, "type"));
	version = api_text_dup(api_get(object, "apiVersion"));
	kind = api_text_dup(api_get(object, "kind"));
	api_print(object, &json, NULL, &mark);
	if (api_proto_document(version, kind, json.data, json.len, &document) < 0)
		api_buf_put(&document, json.data, json.len);
	api_frame_head(buf, type, document.len);
	api_buf_put(buf, document.data, document.len);
	return 0;
}

void
api_frames_of_line(struct api_buf *buf, const char *line)
{
	size_t end;

	for (; line[strspn(line, " \t\r\n")]; line += end)
		if (put_event(buf, line, &end) < 0) {
			api_buf_puts(buf, line);
			return;
		}
}
