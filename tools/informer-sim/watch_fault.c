/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a watch; see watch_fault.h. */
#include "tools/informer-sim/watch_fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/client_wait.h"
#include "tools/informer-sim/sim_clock.h"
#include "tools/informer-sim/fault_act.h"
#include "tools/informer-sim/listen.h"
#include "tools/informer-sim/watch_place.h"
#include "tools/serving/doc.h"
#include "tools/serving/proto_document.h"
#include "tools/serving/watch_line.h"

void
sim_watch_drop(struct sim_stream *s)
{
	api_frame_unref(s->frame);
	s->frame = NULL;
}

/* Send nothing more. */
static void
stop(struct sim_stream *s, const char *end)
{
	sim_watch_drop(s);
	s->end = end;
}

/* Go back some events, as far as the ring has them. They are sent again. */
static void
repeat(struct sim_stream *s, uint64_t back)
{
	uint64_t at = sim_watch_position(s->api);

	back += s->frame != NULL;
	sim_watch_drop(s);
	while (back && at && !sim_store_lost(s->server->store, s->resource, at - 1)) {
		at--;
		back--;
	}
	sim_watch_repeat(s->api, at);
}

/* Append the event at the start of a text. *ret_end: offset behind it. -EINVAL: no event there. */
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
	api_frame_put(buf, type, &document);
	return 0;
}

/*
 * Translate a line of a JSON watch: append a frame for each of its events. An object of an unknown kind goes
 * into the frame as JSON. From the first text that is not an event, the rest is appended unchanged.
 */
static void
put_frames(struct api_buf *buf, const char *line)
{
	size_t end;

	for (; line[strspn(line, " \t\r\n")]; line += end)
		if (put_event(buf, line, &end) < 0) {
			api_buf_puts(buf, line);
			return;
		}
}

/* Send one more line before the next one; in protobuf, its frames. */
static void
say(struct sim_stream *s, const char *text)
{
	if (s->api->form.shape.protobuf)
		put_frames(&s->between, text);
	else
		api_buf_puts(&s->between, text);
}

/* Send a bookmark in place of the next line. */
static void
bookmark(struct sim_stream *s)
{
	_cleanup_(api_buf_done) struct api_buf line = {0};

	sim_watch_drop(s);
	api_line_bookmark(&s->api->form, s->api->told_rv, false, false, &line);
	s->frame = api_frame_new(line.data, line.len);
}

/* Do a fault. Returns whether the stream's next line must be taken again. */
static bool
act(struct sim_stream *s, const struct sim_fault *fault)
{
	struct api_status status = {0};

	switch (fault->kind) {
	case SIM_FAULT_REFUSE:
		sim_listen_refuse(s->server->listen, fault->ms);
		stop(s, "refuse");
		s->broken = true;
		break;
	case SIM_FAULT_CLOSE:
		stop(s, "close");
		s->broken = true;
		break;
	case SIM_FAULT_END:
		stop(s, "end");
		s->ended = true;
		break;
	case SIM_FAULT_STATUS:
	case SIM_FAULT_GONE:
	case SIM_FAULT_TOO_LARGE:
		sim_fault_status(s->server, fault, s->resource, s->verb, s->asked_rv, &status);
		stop(s, "error");
		api_watch_fail(s->api, &status);
		return true;
	case SIM_FAULT_RESTORE:
		sim_fault_restore(s->server, fault->amount);
		break;
	case SIM_FAULT_STALE:
		if (!s->api->view)
			repeat(s, fault->amount);
		break;
	case SIM_FAULT_SAY:
		say(s, fault->text);
		break;
	case SIM_FAULT_NEWER:
		s->newer = s->api->form.shape.protobuf;
		break;
	case SIM_FAULT_BOOKMARK:
		bookmark(s);
		break;
	case SIM_FAULT_FREEZE:
		s->frozen = true;
		s->fault = *fault;
		break;
	default:
		s->fault = *fault;
	}
	return false;
}

bool
sim_watch_ask(struct sim_stream *s)
{
	struct sim_fault_moment moment = {.verb = s->verb,
					  .resource = s->resource,
					  .namespace_ = s->namespace_,
					  .rv = s->asked_rv,
					  .page = 1,
					  .streaming = true,
					  .events = s->sent,
					  .elapsed_ms = sim_now_ms() - s->opened_ms,
					  .line = s->frame != NULL,
					  .seen = &s->seen};
	struct sim_fault fault = s->fault;

	/* a fault that came with the request */
	if (fault.kind == SIM_FAULT_END || fault.kind == SIM_FAULT_STALE) {
		s->fault = (struct sim_fault){0};
		return act(s, &fault);
	}
	return sim_faults_ask(s->server->faults, &moment, &fault) && act(s, &fault);
}

void
sim_watch_spoil(struct sim_stream *s)
{
	enum sim_fault_kind kind = s->fault.kind;
	struct api_buf whole = {0};
	size_t len;

	if ((kind != SIM_FAULT_MID_FRAME && kind != SIM_FAULT_TRUNCATE && kind != SIM_FAULT_INVALID) ||
	    s->piece_count == 0)
		return;
	for (unsigned i = 0; i < s->piece_count; i++)
		api_buf_put(&whole, s->pieces[i].bytes, s->pieces[i].len);
	s->fault = (struct sim_fault){0};
	len = whole.len / 2;
	if (kind == SIM_FAULT_INVALID) {
		/* invalid: wire type 7 at a frame's start, or this byte anywhere in JSON */
		if (s->api->form.shape.protobuf)
			whole.data[4] = 0x0f;
		else
			whole.data[len] = 0x01;
	} else {
		whole.len = len;
		s->broken = kind == SIM_FAULT_MID_FRAME;
		s->ended = kind == SIM_FAULT_TRUNCATE;
		s->end = s->broken ? "close mid-frame" : "truncate";
	}
	api_buf_done(&s->spoiled);
	s->spoiled = whole;
	s->pieces[0] = (struct sim_piece){whole.data, whole.len};
	s->piece_count = 1;
}

size_t
sim_watch_slow(struct sim_stream *s, size_t max)
{
	struct sim_fault *fault = &s->fault;

	if (s->frozen) {
		s->frozen = false;
		s->end = "freeze";
		if (fault->ms == 0)
			atomic_store(&s->watch.doing, SIM_FROZEN);
		if (!sim_fault_sleep(s->server, s->watch.socket, fault->ms)) {
			s->sent -= s->piece_at < s->piece_count; /* the waiting line was not sent */
			return 0;
		}
		s->end = NULL;
		*fault = (struct sim_fault){0};
	} else if (fault->kind == SIM_FAULT_SLOW) {
		if (!sim_fault_sleep(s->server, s->watch.socket, fault->ms))
			return 0;
		if (fault->amount)
			return max < fault->amount ? max : (size_t)fault->amount;
		*fault = (struct sim_fault){0};
	}
	return max;
}
