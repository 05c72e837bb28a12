/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Reflector's public functions, LIST, and the choice of the next step when one has ended.
 */
#include "writer/reflect/reflector_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/log.h"

#define PAGE_ITEMS 500u
#define WATCH_TIMEOUT_S 300u

/* ---- LIST --------------------------------------------------------------------- */

static void start_list(struct reflector *r, bool keys_only);
static void start_listing(struct reflector *r, bool no_room);

static void
on_keys_done(void *context, const struct request_result *ended)
{
	struct reflector *r = context;
	uint64_t deleted = list_progress(r->list)->items;

	clock_clear(r->source.clock, &r->timer);
	list_free(r->list);
	r->list = NULL;
	if (ended->kind != RESULT_OK) {
		reflector_back_off(r, NEXT_LISTING, "LIST for its keys failed", ended);
		return;
	}
	if (deleted > 0)
		log_info("%s: %" PRIu64 " objects that the server no longer has make room for its list",
			 r->source.name, deleted);
	/* the content has no RV now: only a list at the latest RV is never older than the content */
	r->version_unavailable = true;
	r->list_why = RESULT_NO_SPACE;
	start_listing(r, false);
}

static void
on_list_done(void *context, const struct request_result *ended)
{
	struct reflector *r = context;
	const struct resource_request_progress *p = list_progress(r->list);

	clock_clear(r->source.clock, &r->timer);
	r->status.bad_events += p->bad;
	if (ended->kind == RESULT_OK) {
		reflector_log_listed(r, "listed", p);
		if (p->pages > 1 && strcmp(r->list_version, "0") == 0)
			r->paginated = true;
		r->version_unavailable = false;
		r->stream_was_broken = false;
	}
	list_free(r->list);
	r->list = NULL;
	if (ended->kind == RESULT_OK) {
		reflector_note_success(r);
		reflector_start_watch(r);
	} else if ((ended->kind == RESULT_EXPIRED || ended->kind == RESULT_TOO_LARGE) && !r->list_at_latest) {
		log_info("%s: the server cannot list at resourceVersion %s (%s); listing at the latest",
			 r->source.name, r->list_version, ended->message ? ended->message : "");
		r->version_unavailable = true;
		r->list_why = ended->kind;
		start_list(r, false);
	} else {
		reflector_back_off(r, NEXT_LISTING, "LIST failed", ended);
	}
}

/*
 * May a list without an RV to start from be an old state from the server's cache? By default not if there are
 * objects (a writer ended amid a list): they would be set back.
 */
static bool
may_be_old(const struct reflector *r)
{
	return r->choices.version == REFLECTOR_VERSION_ANY ||
	       (r->choices.version == REFLECTOR_VERSION_DEFAULT && delta_fifo_known(r->source.fifo) == 0);
}

static void
start_list(struct reflector *r, bool keys_only)
{
	unsigned limit = r->choices.page_size;
	int error;

	reflector_begin_list(r, may_be_old(r));
	/* The watch cache answers a list at an explicit RV in one piece, unless it did not before. */
	if (limit == 0 && (r->list_at_latest || strcmp(r->list_version, "0") == 0 || r->paginated))
		limit = PAGE_ITEMS;
	r->status.lists++;
	log_debug("%s: listing%s at resourceVersion \"%s\", limit %u", r->source.name,
		  keys_only ? " for the keys" : "", r->list_version, limit);
	error = list_start(&r->source, r->list_version, limit, keys_only,
			   keys_only ? on_keys_done : on_list_done, r, &r->list);
	if (error < 0)
		reflector_back_off_for(r, NEXT_LISTING, "LIST failed", strerror(-error));
}

/*
 * List by WatchList if that is allowed, else by LIST. After a list that did not fit, first delete objects
 * that the server no longer has.
 */
static void
start_listing(struct reflector *r, bool no_room)
{
	bool keys_only = no_room && delta_fifo_known(r->source.fifo) > 0;

	if (!keys_only && reflector_may_watch_list(r))
		reflector_start_watch_list(r);
	else
		start_list(r, keys_only);
}

static void
take_step(struct reflector *r, enum next_step step)
{
	bool no_room = r->waits_for_room;

	r->waits_for_room = false;
	switch (step) {
	case NEXT_LISTING:
		start_listing(r, no_room);
		break;
	case NEXT_LIST:
		start_list(r, false);
		break;
	case NEXT_WATCH:
		reflector_watch_again(r);
		break;
	}
}

/* ---- public functions ------------------------------------------------------------- */

struct reflector *
reflector_new(const struct reflector_options *options)
{
	struct reflector *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->take = take_step;
	r->source = *options->source;
	r->timing = options->timing;
	r->choices = options->choices;
	if (r->timing.silence_ms == 0)
		r->timing.silence_ms = 90000;
	if (r->timing.progress_ms == 0)
		r->timing.progress_ms = 2000;
	if (r->timing.watch_timeout_s == 0)
		r->timing.watch_timeout_s = WATCH_TIMEOUT_S;
	r->backoff.pace = options->timing.backoff;
	if (r->timing.overdue_ms == 0)
		r->timing.overdue_ms = 30000;
	if (r->timing.quiet_ms == 0)
		r->timing.quiet_ms = 30000;
	if (r->timing.no_watch_list_ms == 0)
		r->timing.no_watch_list_ms = 3600000;
	if (r->timing.internal_errors_ms == 0)
		r->timing.internal_errors_ms = 30000;
	if (options->refusal_hint) {
		r->refusal_hint = strdup(options->refusal_hint);
		if (!r->refusal_hint) {
			free(r);
			return NULL;
		}
	}
	return r;
}

void
reflector_free(struct reflector *r)
{
	if (!r)
		return;
	clock_clear(r->source.clock, &r->timer);
	list_free(r->list);
	reflector_stop_watch(r);
	free(r->refusal_hint);
	free(r->last_error);
	free(r->logged_error);
	free(r);
}

void
reflector_start(struct reflector *r, const char *version, size_t length)
{
	if (!watch_can_resume(version, length) ||
	    delta_fifo_set_version(r->source.fifo, version, length) < 0) {
		start_listing(r, false);
		return;
	}
	log_info("%s: going on from resourceVersion %.*s, no list is needed", r->source.name, (int)length,
		 version);
	reflector_start_watch(r);
}

void
reflector_relist(struct reflector *r, enum request_result_kind why)
{
	if (r->status.state == REFLECTOR_IDLE)
		return;
	clock_clear(r->source.clock, &r->timer);
	list_free(r->list);
	r->list = NULL;
	reflector_stop_watch(r);
	r->list_why = why;
	/* the server's own cache may be wrong */
	r->version_unavailable |= why == RESULT_DIFFERS;
	r->waits_for_room = false;
	start_listing(r, false);
}

void
reflector_relax(struct reflector *r)
{
	reflector_tell_applied(r);
	if (r->watch)
		watch_relax(r->watch);
}
