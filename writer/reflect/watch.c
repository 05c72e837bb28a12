/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one WATCH for the Reflector, from the request to its end: events go from the decoder into the
 * DeltaFIFO as they come, those of a WatchList's beginning into staging first. Why it ended is told once.
 */
#include "writer/reflect/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "shm-layout/path.h"
#include "shm-layout/resource_version.h"
#include "shm-layout/root.h"
#include "shm-layout/value.h"
#include "writer/base/log.h"
#include "shm-layout/time_ns.h"
#include "writer/reflect/turn_share.h"
#include "writer/fifo/staging.h"

struct watch {
	struct source source;
	const struct watch_events *events;
	void *context;

	struct decoder *decoder;
	struct staging staging;	/* of a WatchList, until its end mark */
	void *request;		/* under way, or NULL */
	struct turn_share share;	/* in events; before the end mark in bytes */
	struct answer answer;
	/* what an event in the stream said, when the stream was ended for it */
	struct request_result end;
	bool ended;		/* `end` is valid */
	/* it began at no RV, and may be at the ADDED events of the state still: theirs are in no order */
	bool unordered;
	char asked[RESOURCE_VERSION_MAX + 1];	/* the RV */
	struct watch_stats stats;
};

bool
watch_can_resume(const char *version, size_t length)
{
	return length > 0 && !(length == 1 && version[0] == '0');
}

/* Stops decoder and transport; `end` says why. */
#define ENDED (-ECANCELED)

static int
end_with(struct watch *w)
{
	w->ended = true;
	return ENDED;
}

static int
lost(struct watch *w, const char *why)
{
	w->stats.bad_events++;
	request_result_set(&w->end, RESULT_LOST, "an event cannot be kept: %s", why);
	return end_with(w);
}

/* ---- the decoder's reports ---------------------------------------------------- */

static bool
draft_version(struct watch *w, uint32_t ref, const char **ret_version, size_t *ret_length)
{
	struct value body = value_of_object(&w->source.arena->view, ref);
	struct value metadata = value_field(body, "metadata", 8, shape_fingerprint("metadata", 8));
	struct value version = value_field(metadata, "resourceVersion", 15,
					   shape_fingerprint("resourceVersion", 15));

	return value_string(version, ret_version, ret_length) && *ret_length > 0 &&
	       *ret_length <= RESOURCE_VERSION_MAX;
}

static bool
is(const char *type, size_t length, const char *name)
{
	return length == strlen(name) && memcmp(type, name, length) == 0;
}

static uint64_t
now_ms(const struct watch *w)
{
	return w->source.clock->now_ms(w->source.clock);
}

static void
heard(struct watch *w, bool bookmark)
{
	w->stats.heard_ms = now_ms(w);
	w->stats.bookmarked |= bookmark;
	w->events->on_heard(w->context, bookmark);
}

/* Not one of those that change the store: nothing is lost with it, and the RV does not move. */
static int
ignore(struct watch *w, const char *type, size_t type_length, struct draft d)
{
	w->stats.bad_events++;
	log_warning("%s: an event of the unknown type \"%.*s\" is ignored", w->source.name,
		    (int)(type_length < 40 ? type_length : 40), type);
	draft_discard(w->source.arena, w->source.intern, d);
	return 0;
}

/* A part of a WatchList's state, or of what happened to it meanwhile. */
static int
stage(struct watch *w, const char *type, size_t type_length, struct draft d)
{
	int r;

	if (is(type, type_length, "ADDED"))
		r = staging_add(&w->staging, d.ref);
	else if (is(type, type_length, "MODIFIED"))
		r = staging_change(&w->staging, d.ref);
	else if (is(type, type_length, "DELETED"))
		r = staging_delete(&w->staging, d.ref);
	else
		return ignore(w, type, type_length, d);
	if (r < 0)
		draft_discard(w->source.arena, w->source.intern, d);
	w->stats.staged = w->staging.count;
	return r;
}

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct watch *w = context;
	int (*queue)(struct delta_fifo *, uint32_t) = NULL;
	char version[RESOURCE_VERSION_MAX];
	const char *text;
	size_t length;
	int r;

	if (w->stats.initial)
		return stage(w, type, type_length, d);
	if (is(type, type_length, "ADDED"))
		queue = delta_fifo_add;
	else if (is(type, type_length, "MODIFIED"))
		queue = delta_fifo_update;
	else if (is(type, type_length, "DELETED"))
		queue = delta_fifo_delete;
	if (!queue)
		return ignore(w, type, type_length, d);
	if (!draft_version(w, d.ref, &text, &length)) {
		draft_discard(w->source.arena, w->source.intern, d);
		return lost(w, "its object has no usable metadata.resourceVersion");
	}
	memcpy(version, text, length); /* queueing may discard the draft */
	w->unordered = w->unordered && queue == delta_fifo_add;
	r = queue(w->source.fifo, d.ref);
	if (r < 0) {
		draft_discard(w->source.arena, w->source.intern, d);
		return r;
	}
	if (!w->unordered)
		delta_fifo_set_version(w->source.fifo, version, length);
	w->stats.events++;
	heard(w, false);
	return 0;
}

/* The end mark: the state is whole as of this RV. */
static int
end_initial(struct watch *w, const char *version)
{
	int r;

	if (resource_version_is_less(version, strlen(version), w->asked, strlen(w->asked))) {
		request_result_set(&w->end, RESULT_TOO_LARGE,
				   "the state is of resourceVersion %s, older than %s", version, w->asked);
		return end_with(w);
	}
	r = staging_settle(&w->staging);
	w->stats.staged = w->staging.count;
	if (r == 0)
		r = staging_replace(&w->staging, version);
	if (r < 0) {
		request_result_set(&w->end, r == -ENOMEM ? RESULT_NO_SPACE : RESULT_FAILED,
				   "the list cannot be queued: %s", strerror(-r));
		return end_with(w);
	}
	w->stats.initial = false;
	w->stats.bookmarks++;
	w->stats.heard_ms = now_ms(w);
	w->share.share = WATCH_TURN_EVENTS;
	w->events->on_listed(w->context);
	return 0;
}

static bool
is_end_mark(const cJSON *metadata)
{
	const cJSON *annotations = cJSON_GetObjectItemCaseSensitive(metadata, "annotations");
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(annotations, "k8s.io/initial-events-end"));

	return text && strcmp(text, "true") == 0;
}

static int
on_bookmark(struct watch *w, const cJSON *object)
{
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");
	const char *version = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(metadata, "resourceVersion"));

	if (!version || !*version || strlen(version) > RESOURCE_VERSION_MAX) {
		w->stats.bad_events++;
		log_warning("%s: a bookmark without a usable resourceVersion is ignored", w->source.name);
		return 0;
	}
	if (w->stats.initial && is_end_mark(metadata))
		return end_initial(w, version);
	if (w->stats.initial) {
		request_result_set(&w->end, RESULT_UNSUPPORTED,
				   "a bookmark came before the end mark: the server takes a WatchList for a "
				   "plain WATCH");
		return end_with(w);
	}
	w->unordered = false;
	delta_fifo_set_version(w->source.fifo, version, strlen(version));
	w->stats.bookmarks++;
	heard(w, true);
	return 0;
}

static int
on_other(void *context, const char *type, size_t type_length, const char *json, size_t length)
{
	struct watch *w = context;
	cJSON *object = cJSON_ParseWithLength(json, length);
	struct kube_status status;
	int r = 0;

	if (!object)
		return lost(w, "what came with a bookmark or an error cannot be read");
	if (is(type, type_length, "BOOKMARK")) {
		r = on_bookmark(w, object);
	} else {
		r = kube_status_from_json(object, 0, &status);
		if (r == 0) {
			request_result_from_status(&w->end, &status);
			w->end.in_stream = true;
			kube_status_done(&status);
			r = end_with(w);
		}
	}
	cJSON_Delete(object);
	return r;
}

/* What tells of none of our objects is dropped, and moves nothing; anything else would be missed. */
static int
on_bad_object(void *context, const char *why)
{
	struct watch *w = context;

	if (!decoder_is_foreign(w->decoder))
		return lost(w, why);
	if (w->stats.bad_events++ < 10)
		log_warning("%s: an event is dropped: %s", w->source.name, why);
	return 0;
}

/* ---- the transport's reports --------------------------------------------------- */

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct watch *w = ctx;

	answer_begin(&w->answer, response);
	w->stats.byte_ms = now_ms(w);
	w->stats.waited_ms = w->stats.byte_ms - w->stats.started_ms;
	if (w->source.on_contact)
		w->source.on_contact(w->source.context);
	w->stats.opened = answer_is_success(&w->answer);
	if (w->stats.opened && w->source.wire)
		wire_begin(w->source.wire, w->source.name, &w->answer, w->decoder);
	if (w->stats.opened)
		w->events->on_open(w->context);
}

/*
 * Where the time of a long list goes is worth two looks at the clock for each buffer; the source's clock
 * stands still meanwhile.
 */
static int
feed_timed(struct watch *w, const void *data, size_t length)
{
	uint64_t before = time_ns(CLOCK_MONOTONIC);
	int r = decoder_feed(w->decoder, data, length);

	w->stats.decoded_ns += time_ns(CLOCK_MONOTONIC) - before;
	return r;
}

static int
on_data(void *ctx, const void *data, size_t length)
{
	struct watch *w = ctx;
	uint64_t before;
	bool initial;
	int r;

	w->stats.bytes += length;
	w->stats.byte_ms = now_ms(w);
	if (w->source.on_contact)
		w->source.on_contact(w->source.context);
	if (!answer_is_success(&w->answer))
		return answer_append(&w->answer, data, length);
	before = w->stats.events;
	initial = w->stats.initial;
	r = initial ? feed_timed(w, data, length) : decoder_feed(w->decoder, data, length);
	if (r < 0)
		return r;
	turn_share_use(&w->share, initial ? length : w->stats.events - before);
	if (!w->stats.initial &&
	    delta_fifo_queued(w->source.fifo) + delta_fifo_waiting(w->source.fifo) > WATCH_QUEUE_MAX) {
		w->stats.paused = true;
		turn_share_hold(&w->share);
	}
	return 0;
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct watch *w = ctx;
	struct request_result ended = { 0 };
	uint64_t offset = 0;
	const char *error;

	w->request = NULL;
	turn_share_stop(&w->share);
	if (w->ended) {
		ended = w->end;
		w->end = (struct request_result){ 0 };
	} else if (w->source.wire &&
		   wire_falls_back(w->source.wire, w->source.name, &w->answer, result, w->decoder)) {
		request_result_set(&ended, RESULT_OTHER_SYNTAX,
				   "protobuf is given up: %s", w->source.wire->why);
	} else if (result == 0 && answer_is_success(&w->answer) && decoder_finish(w->decoder) < 0) {
		request_result_set(&ended, RESULT_FAILED,
				   "the server ended the stream in the middle of an event");
	} else if (result == -EBADMSG) {
		error = decoder_error(w->decoder, &offset);
		answer_unreadable(&w->answer, "stream of events", offset, error, &ended);
		w->stats.bad_events++;
	} else if (result < 0 || !answer_is_success(&w->answer)) {
		answer_result(&w->answer, result, message, &ended);
		if (w->stats.initial && (w->answer.status == 422 || strcmp(ended.reason, "Invalid") == 0))
			ended.kind = RESULT_UNSUPPORTED;
	}
	w->events->on_end(w->context, w, &ended);
	request_result_done(&ended);
}

int
watch_start(const struct source *source, const struct watch_params *params, const struct watch_events *events,
	    void *context, struct watch **ret_watch)
{
	static const struct decoder_events decoder_events = {
		.on_object = on_object, .on_other = on_other, .on_bad_object = on_bad_object,
	};
	static const struct transport_callbacks callbacks = { on_response, on_data, on_done };
	struct watch_params asked = *params;
	struct watch *w = calloc(1, sizeof(*w));
	int r = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->source = *source;
	w->events = events;
	w->context = context;
	w->stats.started_ms = w->stats.byte_ms = w->stats.heard_ms = source->clock->now_ms(source->clock);
	w->stats.initial = params->initial_events;
	w->unordered = !params->initial_events &&
		       !watch_can_resume(params->resource_version, strlen(params->resource_version));
	snprintf(w->asked, sizeof(w->asked), "%s", params->resource_version);
	staging_init(&w->staging, source->fifo);
	turn_share_init(&w->share, &w->source, &w->request,
			w->stats.initial ? WATCH_TURN_BYTES : WATCH_TURN_EVENTS);
	w->decoder = decoder_new(DECODE_WATCH, source->arena, source->intern, source->schema, &decoder_events,
				 w, source->max_item_bytes);
	if (w->decoder)
		decoder_expect_type(w->decoder, source->api_version, source->kind);
	asked.protobuf = source->wire && wire_wants_protobuf(source->wire);
	if (w->decoder)
		r = source->lister_watcher->watch(source->lister_watcher->context, &asked, &callbacks, w,
						  &w->request);
	if (r < 0) {
		watch_free(w);
		return r;
	}
	*ret_watch = w;
	return 0;
}

void
watch_free(struct watch *w)
{
	if (!w)
		return;
	if (w->request)
		w->source.lister_watcher->cancel(w->source.lister_watcher->context, w->request);
	turn_share_stop(&w->share);
	decoder_free(w->decoder);
	staging_done(&w->staging);
	answer_done(&w->answer);
	request_result_done(&w->end);
	free(w);
}

void
watch_relax(struct watch *w)
{
	if (!w->stats.paused ||
	    delta_fifo_queued(w->source.fifo) + delta_fifo_waiting(w->source.fifo) > WATCH_QUEUE_MAX / 2)
		return;
	w->stats.paused = false;
	turn_share_release(&w->share);
}

void
watch_get_stats(const struct watch *w, struct watch_stats *ret)
{
	*ret = w->stats;
}
