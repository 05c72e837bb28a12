/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one request of list.c, watch.c or the Reflector's question about an RV. The loop's clock stands still
 * during a turn, so amounts with equal time add up. Turns within one millisecond count as one, which only
 * costs an unnecessary pause.
 */
#include "writer/reflect/resource_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/time_ns.h"

#define BODY_MAX 65536u /* of an error; the rest is dropped */
#define STOPPED (-ECANCELED)

static uint64_t
now_ms(const struct resource_request *q)
{
	return q->source->clock->now_ms(q->source->clock);
}

static bool
is_success(const struct resource_request *q)
{
	return q->status >= 200 && q->status < 300;
}

/* ---- the turn's budget ---- */

static void
update(struct resource_request *q, bool was_paused)
{
	bool paused = q->resting || q->held;
	const struct lister_watcher *lw = q->source->lister_watcher;

	if (paused != was_paused && q->handle)
		(paused ? lw->pause : lw->resume)(lw->context, q->handle);
}

static void
rested(void *context)
{
	struct resource_request *q = context;

	q->resting = false;
	q->used = 0;
	update(q, true);
}

static void
use_share(struct resource_request *q, uint64_t amount)
{
	if (now_ms(q) != q->turn_ms)
		q->used = 0;
	q->turn_ms = now_ms(q);
	q->used += amount;
	if (q->used < (q->share ? q->share : RESOURCE_REQUEST_TURN_BYTES) || q->resting)
		return;
	q->resting = true;
	clock_set(q->source->clock, &q->rest, 0, rested, q);
	update(q, q->held);
}

void
resource_request_hold(struct resource_request *q)
{
	bool was_paused = q->resting || q->held;

	q->held = true;
	update(q, was_paused);
}

void
resource_request_release(struct resource_request *q)
{
	bool was_paused = q->resting || q->held;

	q->held = false;
	update(q, was_paused);
}

/* ---- the result ---- */

int
resource_request_end(struct resource_request *q, enum request_result_kind kind, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	request_result_vset(&q->stopped, kind, format, arguments);
	va_end(arguments);
	return STOPPED;
}

int
resource_request_end_by(struct resource_request *q, const struct kube_status *status)
{
	request_result_from_status(&q->stopped, status);
	q->stopped.in_stream = true;
	return STOPPED;
}

/* Set the result of an answer without success, or of one that the transport or decoder broke off. */
static void
failed(const struct resource_request *q, int result, const char *message, struct request_result *ended)
{
	struct kube_status status;

	if (result == -ENOSPC) {
		request_result_set(ended, RESULT_NO_SPACE,
				   "the arena is full: raise arena.maxBytes, the size of its tmpfs, or the "
				   "memory limit");
	} else if (result == -ENOMEM || (result == 0 && kube_status_parse(q->body ? q->body : "", q->length,
									  q->status, &status) < 0)) {
		request_result_set(ended, RESULT_NO_SPACE, "out of memory");
	} else if (result < 0) {
		ended->error = result;
		request_result_set(ended, RESULT_FAILED, "%s",
				   message && *message ? message : strerror(-result));
	} else {
		if (q->status < 300 || q->status >= 400) {
			request_result_from_status(ended, &status);
		} else {
			request_result_set(ended, RESULT_FAILED,
					   "the server redirects to another address (%d), which is not "
					   "followed: name the API server itself",
					   q->status);
			ended->code = q->status;
		}
		kube_status_done(&status);
	}
	if (q->retry_after_s > 0 && (unsigned long)q->retry_after_s > ended->retry_after_s)
		ended->retry_after_s = (unsigned)q->retry_after_s;
}

static void
unreadable(const struct resource_request *q, struct request_result *ended)
{
	bool foreign = q->content_type[0] != '\0' && strncmp(q->content_type, "application/json", 16) != 0 &&
		       strcmp(q->content_type, TRANSPORT_PROTOBUF_TYPE) != 0;
	uint64_t offset = 0;
	const char *error = decoder_error(q->decoder, &offset);

	if (foreign)
		request_result_set(ended, RESULT_BROKEN,
				   "the answer is %s and no %s in JSON: does a proxy or a login page stand "
				   "before the API server? (byte %" PRIu64 ": %s)",
				   q->content_type, q->calls->what, offset, error);
	else
		request_result_set(ended, RESULT_BROKEN, "the %s cannot be read at byte %" PRIu64 ": %s",
				   q->calls->what, offset, error);
}

static void
set_result(struct resource_request *q, int result, const char *message, struct request_result *ended)
{
	const struct source *s = q->source;
	bool read = q->decoder && is_success(q);
	int cut;

	if (q->stopped.kind != RESULT_OK) {
		*ended = q->stopped;
		q->stopped = (struct request_result){0};
		return;
	}
	if (!q->decoder && is_success(q))
		return;
	if (q->decoder && s->wire && wire_falls_back(s->wire, s->name, q->status, result, q->decoder)) {
		request_result_set(ended, RESULT_OTHER_SYNTAX, "protobuf is given up: %s", s->wire->why);
		return;
	}
	cut = read && result == 0 ? decoder_finish(q->decoder) : 0;
	if (cut == -EBADMSG && q->calls->cut)
		request_result_set(ended, RESULT_FAILED, "%s", q->calls->cut);
	else if (cut == -EBADMSG || (read && result == -EBADMSG))
		unreadable(q, ended);
	else if (cut < 0 || result < 0 || !read)
		failed(q, cut < 0 ? cut : result, message, ended);
}

/* ---- the transport's reports ---- */

static void
heard(struct resource_request *q)
{
	q->progress.byte_ms = now_ms(q);
	if (q->source->on_contact)
		q->source->on_contact(q->source->context);
}

static void
on_response(void *context, const struct transport_response *response)
{
	struct resource_request *q = context;
	const char *type = response->content_type;

	q->status = response->status;
	q->retry_after_s = response->retry_after_s;
	if (type)
		snprintf(q->content_type, sizeof(q->content_type), "%.*s", (int)strcspn(type, "; \t"), type);
	heard(q);
	q->progress.waited_ms += now_ms(q) - q->asked_ms;
	if (!is_success(q))
		return;
	if (q->decoder && q->source->wire)
		wire_begin(q->source->wire, q->source->name, q->content_type, q->decoder);
	if (q->calls->on_open)
		q->calls->on_open(q->owner);
}

static int
keep_body(struct resource_request *q, const void *data, size_t length)
{
	char *grown;

	length = length < BODY_MAX - q->length ? length : BODY_MAX - q->length;
	grown = realloc(q->body, q->length + length + 1);
	if (!grown)
		return -ENOMEM;
	q->body = grown;
	memcpy(q->body + q->length, data, length);
	q->length += length;
	return 0;
}

static int
on_data(void *context, const void *data, size_t length)
{
	struct resource_request *q = context;
	const uint64_t *counted = q->counted;
	uint64_t before = counted ? *counted : 0, began;
	int r;

	q->progress.bytes += length;
	heard(q);
	if (!is_success(q))
		return keep_body(q, data, length);
	if (!q->decoder)
		return STOPPED;
	/* The source's clock stands still during a turn: measure decoding by the system's. */
	began = time_ns(CLOCK_MONOTONIC);
	arena_open_reserve(q->source->arena, q->in_reserve);
	r = decoder_feed(q->decoder, data, length);
	arena_open_reserve(q->source->arena, false);
	q->progress.decoded_ns += time_ns(CLOCK_MONOTONIC) - began;
	if (r == 0)
		use_share(q, counted ? *counted - before : length);
	return r;
}

/* Reset: no request runs, and nothing of an answer is kept. */
static void
clear(struct resource_request *q)
{
	q->handle = NULL;
	clock_clear(q->source->clock, &q->rest);
	request_result_done(&q->stopped);
	free(q->body);
	q->body = NULL;
	q->length = 0;
	q->status = 0;
	q->retry_after_s = 0;
	q->content_type[0] = '\0';
	q->resting = q->held = false;
	q->used = 0;
}

static void
on_done(void *context, int result, const char *message)
{
	struct resource_request *q = context;
	struct request_result ended = {0};

	set_result(q, result, message, &ended);
	clear(q);
	q->calls->on_end(q->owner, &ended);
	request_result_done(&ended);
}

/* ---- public functions ---- */

static const struct transport_callbacks callbacks = {on_response, on_data, on_done};

int
resource_request_read(struct resource_request *q, enum decoder_mode mode, const struct decoder_events *events)
{
	const struct source *s = q->source;

	q->decoder = decoder_new(mode, s->arena, s->intern, s->schema, events, q->owner, 0);
	if (!q->decoder)
		return -ENOMEM;
	decoder_expect_type(q->decoder, s->api_version, s->kind);
	return 0;
}

int
resource_request_ask(struct resource_request *q, const struct request_params *params)
{
	const struct source *s = q->source;
	struct request_params asked = *params;

	q->asked_ms = now_ms(q);
	if (q->decoder)
		decoder_reset(q->decoder);
	asked.protobuf = q->decoder && s->wire && wire_wants_protobuf(s->wire);
	return s->lister_watcher->ask(s->lister_watcher->context, &asked, &callbacks, q, &q->handle);
}

void
resource_request_done(struct resource_request *q)
{
	if (!q->source)
		return;
	if (q->handle)
		q->source->lister_watcher->cancel(q->source->lister_watcher->context, q->handle);
	clear(q);
	decoder_free(q->decoder);
	q->decoder = NULL;
}
