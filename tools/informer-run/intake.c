/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the library's callbacks into events; see intake.h. */
#include "tools/informer-run/intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/informer-run/loop.h"
#include "tools/informer-run/say.h"

#define KEY_MAX 512

/*
 * amid          between on_resync_begin and on_resync_end
 * failed        the loss of an event was reported
 * lacks_memory  an event was lost for lack of memory
 * resync        number of the last RESYNC
 * told          the last cursor passed to the supervisor
 */
struct intake {
	struct informer *informer;
	struct informer_handler *handler;
	const struct handler_settings *settings;
	struct supervisor *supervisor;
	bool amid;
	bool failed;
	bool lacks_memory;
	bool troubled;
	uint64_t resync;
	struct informer_cursor told;
};

static struct informer_cursor
cursor_of(const struct intake *intake)
{
	struct informer_cursor cursor = {0};

	informer_handler_cursor(intake->handler, &cursor);
	return cursor;
}

/*
 * r: 0, or why there is no event. An expired object is no loss: the arena was taken back during the call, and
 * the library tells the change again from the next arena.
 */
static void
offer(struct intake *intake, int r, struct event *event)
{
	if (r == INFORMER_E_EXPIRED)
		return;
	if (r == 0)
		r = supervisor_offer(intake->supervisor, event, loop_now());
	if (r == 0)
		return;
	/* later events are delivered but not acknowledged, so the lost one comes again after a restart */
	supervisor_lose(intake->supervisor);
	intake->lacks_memory |= r == -ENOMEM;
	if (!intake->failed)
		say(intake->settings->name, "an event was lost: %s; nothing more is acknowledged, %s",
		    informer_strerror(r),
		    r == -ENOMEM ? "informer-run ends, and the event comes with the next start"
				 : "restart informer-run");
	intake->failed = true;
}

/* The JSON of an object, allocated. Returns 0, -ENOMEM, or the library's error. */
static int
json_of(const struct informer_object *object, char **ret_json, size_t *ret_length)
{
	struct text text = TEXT_INIT(-1);
	int r = change_object(object, &text);

	if (r == 0)
		r = text.error;
	if (r < 0) {
		text_done(&text);
		return r;
	}
	*ret_json = text.data;
	*ret_length = text.length;
	return 0;
}

/* Returns 0, -ENOMEM, -ENAMETOOLONG, or the library's error. */
static int
event_of(struct intake *intake, enum change_type type, const struct informer_object *object,
	 const struct informer_object *old, struct event **ret_event)
{
	char key[KEY_MAX];
	size_t length;
	struct event *event;
	int r = informer_object_key(object, key, sizeof(key), &length);

	if (r < 0)
		return r;
	if (length >= sizeof(key))
		return -ENAMETOOLONG;
	event = event_new(type, key);
	if (!event)
		return -ENOMEM;
	event->cursor = cursor_of(intake);
	event->seq = change_seq(type, object, &event->cursor);
	r = json_of(object, &event->object, &event->object_length);
	if (r == 0 && old)
		r = json_of(old, &event->old, &event->old_length);
	if (r < 0)
		event_free(event);
	else
		*ret_event = event;
	return r;
}

static void
on_add(void *context, const struct informer_object *object, bool is_initial)
{
	struct intake *intake = context;
	struct event *event = NULL;
	int r = event_of(intake, CHANGE_ADDED, object, NULL, &event);

	if (event) {
		event->initial = is_initial;
		event->advances = !is_initial && !intake->amid;
	}
	offer(intake, r, event);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *object)
{
	struct intake *intake = context;
	struct event *event = NULL;
	int r = event_of(intake, CHANGE_MODIFIED, object, old, &event);

	if (event)
		event->advances = !intake->amid;
	offer(intake, r, event);
}

static void
on_delete(void *context, const struct informer_object *object, bool final_state_known)
{
	struct intake *intake = context;
	struct event *event = NULL;
	int r = event_of(intake, CHANGE_DELETED, object, NULL, &event);

	if (event) {
		event->final_unknown = !final_state_known;
		event->advances = !intake->amid;
	}
	offer(intake, r, event);
}

static void
mark(struct intake *intake, enum change_type type)
{
	struct event *event = event_new(type, NULL);

	if (event) {
		event->cursor = cursor_of(intake);
		event->seq = event->cursor.seq;
		event->advances = type == CHANGE_RESYNC_END;
		event->resync = type == CHANGE_COALESCED ? 0 : intake->resync;
	}
	offer(intake, event ? 0 : -ENOMEM, event);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	if (kind == INFORMER_COALESCED)
		mark(context, CHANGE_COALESCED);
}

/*
 * A number that no RESYNC had in this or an earlier process: the time in ms, or the last number plus 1. If a
 * cut-off RESYNC and the next one had equal numbers, objects deleted in between would stay.
 */
static uint64_t
new_resync(uint64_t last)
{
	struct timespec now;
	uint64_t ms;

	clock_gettime(CLOCK_REALTIME, &now);
	ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	return ms > last ? ms : last + 1;
}

static void
on_resync_begin(void *context)
{
	struct intake *intake = context;

	intake->amid = true;
	intake->resync = new_resync(intake->resync);
	mark(intake, CHANGE_RESYNC);
}

static void
on_resync_end(void *context)
{
	struct intake *intake = context;

	intake->amid = false;
	mark(intake, CHANGE_RESYNC_END);
}

static void
tell(struct intake *intake)
{
	struct informer_cursor cursor = cursor_of(intake);

	if (memcmp(&cursor, &intake->told, sizeof(cursor)) == 0)
		return;
	intake->told = cursor;
	supervisor_told(intake->supervisor, &cursor, loop_now());
}

static void
on_synced(void *context)
{
	tell(context);
}

static void
on_error(void *context, const struct informer_watch_status *status)
{
	struct intake *intake = context;

	if (status->recovered && intake->troubled)
		say(intake->settings->name, "%s: informerd is up to date again", status->resource);
	else if (!status->recovered)
		say(intake->settings->name, "%s: informerd has trouble with the API server: %s%s%s",
		    status->resource, status->reason, *status->reason && *status->message ? ": " : "",
		    status->message);
	intake->troubled = !status->recovered;
}

int
intake_new(struct informer *informer, const struct handler_settings *settings, struct supervisor *supervisor,
	   struct intake **ret_intake)
{
	struct intake *intake = calloc(1, sizeof(*intake));
	const struct informer_handler_options options = {
		.size = sizeof(options),
		.resource = settings->resource,
		.namespace_ = settings->namespace_,
		.label_selector = settings->labels,
		.field_selector = settings->fields,
		.queue_entries = settings->queue_entries,
		.consumer = settings->consumer,
		.name = settings->name,
		.manual_ack = true,
		.context = intake,
		.on_add = on_add,
		.on_update = on_update,
		.on_delete = on_delete,
		.on_overflow = on_overflow,
		.on_resync_begin = on_resync_begin,
		.on_resync_end = on_resync_end,
		.on_synced = on_synced,
		.on_error = on_error,
	};
	char detail[512] = "";
	int r;

	if (!intake)
		return -ENOMEM;
	intake->informer = informer;
	intake->settings = settings;
	intake->supervisor = supervisor;
	r = informer_add_handler(informer, &options, &intake->handler);
	if (r == 0) {
		*ret_intake = intake;
		return 0;
	}
	informer_error_text(r, detail, sizeof(detail));
	say(settings->name, "%s", detail);
	free(intake);
	return r;
}

void
intake_free(struct intake *intake)
{
	if (!intake)
		return;
	informer_remove_handler(intake->handler);
	free(intake);
}

void
intake_hold(struct intake *intake, bool hold)
{
	informer_pause_handler(intake->handler, hold);
}

void
intake_acknowledge(struct intake *intake, const struct informer_cursor *cursor)
{
	informer_acknowledge(intake->handler, cursor);
}

void
intake_dispatched(struct intake *intake)
{
	if (!intake->amid && informer_handler_has_synced(intake->handler))
		tell(intake);
}

bool
intake_lacks_memory(const struct intake *intake)
{
	return intake->lacks_memory;
}

void
intake_stats(const struct intake *intake, struct intake_stats *ret_stats)
{
	struct informer_handler_stats stats = {.size = sizeof(stats)};

	informer_handler_stats(intake->handler, &stats);
	*ret_stats = (struct intake_stats){stats.waiting, stats.lag_seq, stats.synced, stats.subscribed};
}
