/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one WATCH for the Reflector, from the request to its end. Events go from the decoder into the
 * DeltaFIFO as they come, those of a WatchList's state into staging first. The end is reported once.
 */
#include "writer/reflect/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "shm-layout/resource_version.h"
#include "shm-layout/root.h"
#include "writer/base/log.h"
#include "writer/fifo/staging.h"

struct watch {
	struct resource_request request;
	const struct watch_events *events;
	void *context;

	struct staging staging; /* of a WatchList, until its end mark */
	/* the watch began at no RV: the state's ADDED events, whose RVs are in no order, may still come */
	bool unordered;
	char asked[RESOURCE_VERSION_MAX + 1];	/* the RV */
	struct watch_stats stats;
};

bool
watch_can_resume(const char *version, size_t length)
{
	return length > 0 && !(length == 1 && version[0] == '0');
}

static int
lost(struct watch *w, const char *why)
{
	w->request.progress.bad++;
	return resource_request_end(&w->request, RESULT_LOST, "an event cannot be kept: %s", why);
}

/* ---- the decoder's reports ---------------------------------------------------- */

static uint32_t
known(void *context, const char *ns, size_t ns_length, const char *name, size_t name_length)
{
	const struct watch *w = context;

	return delta_fifo_find(w->request.source->fifo, ns, ns_length, name, name_length);
}

static bool
is(const char *type, size_t length, const char *name)
{
	return length == strlen(name) && memcmp(type, name, length) == 0;
}

static uint64_t
now_ms(const struct watch *w)
{
	return w->request.source->clock->now_ms(w->request.source->clock);
}

static void
heard(struct watch *w, bool bookmark)
{
	w->stats.heard_ms = now_ms(w);
	w->stats.bookmarked |= bookmark;
	w->events->on_heard(w->context, bookmark);
}

/* Ignore an event of an unknown type; the RV stays. */
static int
ignore(struct watch *w, const char *type, size_t type_length, struct draft d)
{
	w->request.progress.bad++;
	log_warning("%s: an event of the unknown type \"%.*s\" is ignored", w->request.source->name,
		    (int)(type_length < 40 ? type_length : 40), type);
	delta_fifo_discard(w->request.source->fifo, d.ref);
	return 0;
}

static size_t
backlog(const struct watch *w)
{
	const struct delta_fifo *fifo = w->request.source->fifo;

	return delta_fifo_queued(fifo) + delta_fifo_waiting(fifo);
}

static void
pause_behind_a_backlog(struct watch *w)
{
	if (backlog(w) <= WATCH_QUEUE_MAX)
		return;
	w->stats.paused = true;
	resource_request_hold(&w->request);
}

/* Stage a part of a WatchList's state, or a change of it. */
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
	w->request.progress.items = w->staging.count;
	return r;
}

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct watch *w = context;
	struct delta_fifo *fifo = w->request.source->fifo;
	bool added = is(type, type_length, "ADDED"), deleted = is(type, type_length, "DELETED");
	const struct object *o = delta_fifo_object(fifo, d.ref);
	char version[RESOURCE_VERSION_MAX];
	size_t length = o->version_length;
	int r;

	if (w->stats.initial)
		return stage(w, type, type_length, d);
	if (!added && !deleted && !is(type, type_length, "MODIFIED"))
		return ignore(w, type, type_length, d);
	if (length == 0 || length > sizeof(version)) {
		delta_fifo_discard(fifo, d.ref);
		return lost(w, "its object has no usable metadata.resourceVersion");
	}
	memcpy(version, object_version(o), length); /* queueing may discard the draft */
	w->unordered = w->unordered && added;
	r = deleted ? delta_fifo_delete(fifo, d.ref) : delta_fifo_put(fifo, d.ref);
	if (r < 0)
		return r;
	if (!w->unordered)
		delta_fifo_set_version(fifo, version, length);
	w->stats.events++;
	heard(w, false);
	pause_behind_a_backlog(w);
	return 0;
}

/* From here on the share of a turn counts events. */
static void
count_events(struct watch *w)
{
	w->request.counted = &w->stats.events;
	w->request.share = WATCH_TURN_EVENTS;
}

/* The end mark: the state is complete at this RV. */
static int
end_initial(struct watch *w, const char *version)
{
	int r;

	if (resource_version_is_less(version, strlen(version), w->asked, strlen(w->asked)))
		return resource_request_end(&w->request, RESULT_TOO_LARGE,
					    "the state is of resourceVersion %s, older than %s", version,
					    w->asked);
	r = staging_replace(&w->staging, version, &w->request.progress.items);
	if (r < 0)
		return resource_request_end(&w->request, r == -ENOMEM ? RESULT_NO_SPACE : RESULT_FAILED,
					    "the list cannot be queued: %s", strerror(-r));
	w->stats.initial = false;
	w->stats.bookmarks++;
	w->stats.heard_ms = now_ms(w);
	count_events(w);
	w->events->on_listed(w->context);
	pause_behind_a_backlog(w);
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
		w->request.progress.bad++;
		log_warning("%s: a bookmark without a usable resourceVersion is ignored",
			    w->request.source->name);
		return 0;
	}
	if (w->stats.initial && is_end_mark(metadata))
		return end_initial(w, version);
	if (w->stats.initial)
		return resource_request_end(
			&w->request, RESULT_UNSUPPORTED,
			"a bookmark came before the end mark: the server takes a WatchList for a "
			"plain WATCH");
	w->unordered = false;
	delta_fifo_set_version(w->request.source->fifo, version, strlen(version));
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
			r = resource_request_end_by(&w->request, &status);
			kube_status_done(&status);
		}
	}
	cJSON_Delete(object);
	return r;
}

/*
 * An event that cannot concern our objects is dropped; the RV stays. Any other unreadable event ends the
 * watch as lost.
 */
static int
on_bad_object(void *context, const char *why)
{
	struct watch *w = context;

	if (!decoder_is_foreign(w->request.decoder))
		return lost(w, why);
	if (w->request.progress.bad++ < 10)
		log_warning("%s: an event is dropped: %s", w->request.source->name, why);
	return 0;
}

/* ---- the request's reports ------------------------------------------------------ */

static void
on_open(void *owner)
{
	struct watch *w = owner;

	w->stats.opened = true;
	w->events->on_open(w->context);
}

static void
on_end(void *owner, struct request_result *ended)
{
	struct watch *w = owner;

	if (ended->kind == RESULT_BROKEN)
		w->request.progress.bad++;
	if (w->stats.initial && !w->stats.opened &&
	    (ended->code == 422 || strcmp(ended->reason, "Invalid") == 0))
		ended->kind = RESULT_UNSUPPORTED;
	w->events->on_end(w->context, ended);
}

int
watch_start(const struct source *source, const struct request_params *params,
	    const struct watch_events *events, void *context, struct watch **ret_watch)
{
	static const struct decoder_events decoder_events = {
		.on_object = on_object,
		.on_other = on_other,
		.on_bad_object = on_bad_object,
		.known = known,
	};
	static const struct resource_request_owner calls = {
		"stream of events", "the server ended the stream in the middle of an event", on_open, on_end};
	struct watch *w = calloc(1, sizeof(*w));
	uint64_t now = source->clock->now_ms(source->clock);
	int r;

	if (!w)
		return -ENOMEM;
	w->request = (struct resource_request){.source = source, .calls = &calls, .owner = w};
	w->events = events;
	w->context = context;
	w->request.progress = (struct resource_request_progress){
		.started_ms = now, .byte_ms = now, .remaining = -1};
	w->stats.heard_ms = now;
	w->stats.initial = params->initial_events;
	w->unordered = !params->initial_events &&
		       !watch_can_resume(params->resource_version, strlen(params->resource_version));
	snprintf(w->asked, sizeof(w->asked), "%s", params->resource_version);
	staging_init(&w->staging, source->fifo);
	if (!w->stats.initial)
		count_events(w);
	r = resource_request_read(&w->request, DECODE_WATCH, &decoder_events);
	if (r == 0)
		r = resource_request_ask(&w->request, params);
	if (r < 0)
		watch_free(w);
	else
		*ret_watch = w;
	return r;
}

void
watch_free(struct watch *w)
{
	if (!w)
		return;
	resource_request_done(&w->request);
	staging_done(&w->staging);
	free(w);
}

void
watch_relax(struct watch *w)
{
	if (!w->stats.paused || backlog(w) > WATCH_QUEUE_MAX / 2)
		return;
	w->stats.paused = false;
	resource_request_release(&w->request);
}

const struct resource_request_progress *
watch_progress(const struct watch *w)
{
	return &w->request.progress;
}

const struct watch_stats *
watch_stats(const struct watch *w)
{
	return &w->stats;
}
