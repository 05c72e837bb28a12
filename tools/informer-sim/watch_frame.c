/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths are told from the outside in; see watch_frame.h. */
#include "tools/informer-sim/watch_frame.h"

#include <errno.h>
#include <string.h>

#include "tools/informer-sim/doc.h"
#include "tools/informer-sim/proto_document.h"
#include "tools/informer-sim/proto_encode.h"

enum { TYPE = 1, OBJECT, RAW = 1 }; /* fields of a WatchEvent, and of its object */

void
sim_frame_head(struct sim_buf *buf, const char *type, uint64_t document)
{
	_cleanup_(sim_buf_done) struct sim_buf event = {0};
	_cleanup_(sim_buf_done) struct sim_buf raw = {0};
	uint64_t length;

	sim_proto_begin(&raw, RAW, document);
	sim_proto_text(&event, TYPE, type);
	sim_proto_begin(&event, OBJECT, raw.len + document);
	sim_buf_put(&event, raw.data, raw.len);
	length = event.len + document;
	for (int shift = 24; shift >= 0; shift -= 8)
		sim_buf_put(buf, &(char){(char)(length >> shift)}, 1);
	sim_buf_put(buf, event.data, event.len);
}

/* One event, with which a text begins; *ret_end: the first byte behind it. -EINVAL: it is none. */
static int
put_event(struct sim_buf *buf, const char *text, size_t *ret_end)
{
	_cleanup_(sim_doc_done) struct sim_doc doc = {0};
	_cleanup_(sim_buf_done) struct sim_buf json = {0};
	_cleanup_(sim_buf_done) struct sim_buf document = {0};
	_cleanup_(sim_freep) char *type = NULL;
	_cleanup_(sim_freep) char *version = NULL;
	_cleanup_(sim_freep) char *kind = NULL;
	struct sim_doc_error error;
	struct sim_node *object;
	size_t mark;

	if (sim_doc_parse(&doc, text, strlen(text), ret_end, &error) < 0 ||
	    !(object = sim_get(doc.root, "object")))
		return -EINVAL;
	type = sim_text_dup(sim_get(doc.root, "type"));
	version = sim_text_dup(sim_get(object, "apiVersion"));
	kind = sim_text_dup(sim_get(object, "kind"));
	sim_print(object, &json, NULL, &mark);
	if (sim_proto_document(version, kind, json.data, json.len, &document) < 0)
		sim_buf_put(&document, json.data, json.len);
	sim_frame_head(buf, type, document.len);
	sim_buf_put(buf, document.data, document.len);
	return 0;
}

void
sim_frames_of_line(struct sim_buf *buf, const char *line)
{
	size_t end;

	for (; line[strspn(line, " \t\r\n")]; line += end)
		if (put_event(buf, line, &end) < 0) {
			sim_buf_puts(buf, line);
			return;
		}
}
