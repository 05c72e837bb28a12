/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Reflector's WATCH and WatchList, and the checks of a silent stream.
 */
#include "writer/reflect/reflector_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/log.h"

#define SHORT_WATCH_MS 1000u

void
reflector_stop_watch(struct reflector *r)
{
	const struct watch_stats *stats;

	clock_clear(r->source.clock, &r->silence_timer);
	resource_request_done(&r->probe);
	r->probing = false;
	if (!r->watch)
		return;
	stats = watch_stats(r->watch);
	r->status.events += stats->events;
	r->status.bookmarks += stats->bookmarks;
	r->status.bad_events += watch_progress(r->watch)->bad;
	watch_free(r->watch);
	r->watch = NULL;
}

/* Give up a WatchList and discard its drafts; use LIST. */
static void
list_instead(struct reflector *r, const char *why, bool remember)
{
	log_info("%s: WatchList: %s; listing", r->source.name, why);
	if (remember)
		r->no_watch_list_until_ms = reflector_now_ms(r) + r->timing.no_watch_list_ms;
	clock_clear(r->source.clock, &r->timer);
	reflector_stop_watch(r);
	r->list_why = RESULT_UNSUPPORTED;
	r->take(r, NEXT_LIST);
}

/* ---- silence -------------------------------------------------------------------- */

static void on_silence(void *context);

/* Replace a stream that is dead, though its connection did not fail. */
static void
rewatch(struct reflector *r, const char *why)
{
	log_warning("%s: %s; watching again", r->source.name, why);
	reflector_stop_watch(r);
	r->connection_suspect = true;
	reflector_watch_again(r);
}

/*
 * When the silence of a stream will be checked. The server may not know an unconfirmed RV yet. After the
 * first bookmark, bookmarks come every minute. An end mark does not count: without changes, no bookmark
 * follows it.
 */
static uint64_t
silence_due(const struct reflector *r, const struct watch_stats *stats)
{
	if (r->probing || (r->version_confirmed && !stats->bookmarked))
		return CLOCK_NEVER;
	return stats->heard_ms + r->timing.silence_ms;
}

static void
set_silence_timer(struct reflector *r)
{
	uint64_t now = reflector_now_ms(r), due;
	const struct watch_stats *stats = watch_stats(r->watch);

	due = stats->initial ? watch_progress(r->watch)->byte_ms + r->timing.quiet_ms : silence_due(r, stats);
	if (!stats->initial && r->watch_ends_ms < due)
		due = r->watch_ends_ms;
	/* A paused stream waits for informerd. */
	if (stats->paused && due <= now)
		due = now + r->timing.silence_ms;
	clock_set(r->source.clock, &r->silence_timer, due > now ? due - now : 0, on_silence, r);
}

/* The server answered whether it knows the RV. It knew an expired RV. */
static void
on_probed(void *owner, struct request_result *ended)
{
	struct reflector *r = owner;
	const struct watch_stats *stats = watch_stats(r->watch);

	r->probing = false;
	if (ended->kind == RESULT_TOO_LARGE) {
		log_warning("%s: the server does not know the resourceVersion of this cache yet (%s); was it "
			    "restored from a "
			    "backup, or is it another one? Listing",
			    r->source.name, ended->message ? ended->message : "");
		reflector_stop_watch(r);
		r->version_unavailable = true;
		r->list_why = RESULT_TOO_LARGE;
		r->take(r, NEXT_LISTING);
	} else if (ended->kind != RESULT_OK && ended->kind != RESULT_EXPIRED) {
		clock_set(r->source.clock, &r->silence_timer, r->timing.silence_ms, on_silence, r);
	} else if ((stats->bookmarked || !stats->opened) && !stats->paused &&
		   reflector_now_ms(r) - stats->heard_ms >= r->timing.silence_ms) {
		rewatch(r, stats->opened ? "the server answers, but its bookmarks have stopped"
					 : "the server answers, but not to the WATCH");
	} else {
		log_debug("%s: silent, and the server knows the resourceVersion", r->source.name);
		r->version_confirmed = true;
		set_silence_timer(r);
	}
}

/*
 * Ask whether the server knows the RV. A server does not refuse a watch at a future RV, but stays silent. A
 * list of one item `NotOlderThan` that RV gets 504 ResourceVersionTooLarge after about 3 s. The request uses
 * its own connection: the silent stream's may be dead.
 */
static void
ask_whether_it_is_known(struct reflector *r)
{
	static const struct resource_request_owner calls = {.what = "list", .on_end = on_probed};
	char version[RESOURCE_VERSION_MAX + 1];
	struct request_params params = {.resource_version = version,
					.resource_version_match = "NotOlderThan",
					.limit = 1,
					.fresh_connection = true};

	reflector_last_version(r, version);
	log_debug("%s: nothing heard for %" PRIu64 " s; asking whether resourceVersion %s is known",
		  r->source.name, r->timing.silence_ms / 1000, version);
	r->probe = (struct resource_request){.source = &r->source, .calls = &calls, .owner = r};
	r->probing = resource_request_ask(&r->probe, &params) == 0;
	if (r->probing)
		set_silence_timer(r); /* still check that the stream ends */
	else
		clock_set(r->source.clock, &r->silence_timer, r->timing.silence_ms, on_silence, r);
}

static void
on_silence(void *context)
{
	struct reflector *r = context;
	const struct watch_stats *stats = watch_stats(r->watch);
	uint64_t now = reflector_now_ms(r);

	if (!stats->paused && stats->initial && now >= watch_progress(r->watch)->byte_ms + r->timing.quiet_ms)
		list_instead(r, "nothing came for a while, and no end mark", stats->opened);
	else if (!stats->paused && now >= r->watch_ends_ms && !stats->initial)
		rewatch(r, "the server did not end the stream when it should have");
	else if (!stats->paused && !stats->initial && now >= silence_due(r, stats))
		ask_whether_it_is_known(r);
	else
		set_silence_timer(r);
}

/* ---- the streams' reports --------------------------------------------------------- */

static void
on_open(void *context)
{
	struct reflector *r = context;

	if (r->status.state == REFLECTOR_LISTING)
		return; /* a WatchList succeeds at its end mark */
	if (r->last_error)
		log_info("%s: watching again", r->source.name);
	reflector_note_success(r);
}

static void
on_heard(void *context, bool bookmark)
{
	struct reflector *r = context;

	/* A server that sends events knows the RV. */
	r->version_confirmed = true;
	r->stream_was_broken = false;
	r->internal_errors_since_ms = 0;
	if (bookmark)
		set_silence_timer(r); /* after the first bookmark, check for silence */
}

static void
on_listed(void *context)
{
	struct reflector *r = context;

	reflector_log_listed(r, "listed by watching", watch_progress(r->watch));
	clock_clear(r->source.clock, &r->timer);
	r->version_unavailable = false;
	r->watch_list_was_cut = false;
	on_heard(r, false);
	reflector_note_success(r);
	r->status.state = REFLECTOR_WATCHING;
	set_silence_timer(r);
}

/* A WatchList ended before its mark. */
static void
after_watch_list(struct reflector *r, const struct request_result *ended)
{
	switch (ended->kind) {
	case RESULT_EXPIRED:
	case RESULT_TOO_LARGE:
		if (r->list_at_latest) {
			reflector_back_off(r, NEXT_LISTING, "WatchList failed", ended);
			break;
		}
		r->version_unavailable = true;
		r->list_why = ended->kind;
		reflector_start_watch_list(r);
		break;
	case RESULT_OK:
		reflector_back_off_for(r, r->watch_list_was_cut ? NEXT_LIST : NEXT_LISTING,
				       "WatchList failed", "the server ended the stream before the end mark");
		r->watch_list_was_cut = !r->watch_list_was_cut;
		break;
	case RESULT_THROTTLED:
	case RESULT_NO_SPACE:
		reflector_back_off(r, NEXT_LISTING, "WatchList failed", ended);
		break;
	case RESULT_UNSUPPORTED:
		list_instead(r, ended->message ? ended->message : "not supported", true);
		break;
	case RESULT_OTHER_SYNTAX:
		list_instead(r, ended->message ? ended->message : "in JSON", false);
		break;
	case RESULT_REFUSED:
	case RESULT_FAILED:
	case RESULT_BROKEN:
	case RESULT_LOST:
	case RESULT_OTHER_CLUSTER:
	case RESULT_DIFFERS:
		if (ended->error == -ECONNREFUSED || ended->error == -EHOSTUNREACH)
			reflector_back_off(r, NEXT_LISTING, "WatchList failed", ended);
		else
			list_instead(r, ended->message ? ended->message : "it failed", false);
		break;
	}
}

/*
 * The server sends internal errors within streams. Watch again for internal_errors_ms; then list, since the
 * RV may be the cause.
 */
static enum next_step
after_internal_error(struct reflector *r)
{
	uint64_t now = reflector_now_ms(r);

	if (r->internal_errors_since_ms == 0)
		r->internal_errors_since_ms = now;
	if (now - r->internal_errors_since_ms < r->timing.internal_errors_ms)
		return NEXT_WATCH;
	r->internal_errors_since_ms = 0;
	return NEXT_LISTING;
}

/* True if a WATCH can resume at the last RV. */
static bool
can_resume(const struct reflector *r)
{
	char version[RESOURCE_VERSION_MAX + 1];

	reflector_last_version(r, version);
	return watch_can_resume(version, strlen(version));
}

/* True if the server had begun to serve the watch. If not, the Reflector waits before the next one. */
static bool
has_lived(const struct reflector *r)
{
	const struct watch_stats *stats = watch_stats(r->watch);
	bool told = stats->events + stats->bookmarks > 0;

	return stats->opened &&
	       ((told && can_resume(r)) ||
		reflector_now_ms(r) - watch_progress(r->watch)->started_ms >= SHORT_WATCH_MS);
}

static void
after_watch(struct reflector *r, const struct request_result *ended, bool lived)
{
	switch (ended->kind) {
	case RESULT_OK:
		if (lived) {
			reflector_watch_again(r);
			break;
		}
		reflector_back_off_for(r, NEXT_WATCH, "WATCH failed",
				       can_resume(r)
					       ? "the server ended the stream at once and without an event"
					       : "the server ended the stream at once and left no "
						 "resourceVersion to go on from");
		break;
	case RESULT_TOO_LARGE:
		r->version_unavailable = true;
		/* fall through */
	case RESULT_EXPIRED:
	case RESULT_LOST:
	case RESULT_OTHER_CLUSTER:
	case RESULT_DIFFERS:
		reflector_back_off(r, NEXT_LISTING, "WATCH ended, listing again", ended);
		break;
	case RESULT_BROKEN:
	case RESULT_NO_SPACE:
		/*
		 * The first time, watch again: deletions that make room may follow in the stream. A broken
		 * or too large event comes again from the same RV; then list.
		 */
		reflector_back_off(r, r->stream_was_broken ? NEXT_LISTING : NEXT_WATCH, "WATCH failed",
				   ended);
		r->stream_was_broken = true;
		break;
	case RESULT_THROTTLED:
		reflector_back_off(r, NEXT_WATCH, "WATCH failed", ended);
		break;
	case RESULT_OTHER_SYNTAX:
		reflector_watch_again(r);
		break;
	case RESULT_REFUSED:
	case RESULT_UNSUPPORTED:
	case RESULT_FAILED:
		if (!ended->in_stream && lived) {
			reflector_note_break(r, ended);
			reflector_watch_again(r);
		} else if (!ended->in_stream)
			reflector_back_off(r, NEXT_WATCH, "WATCH failed", ended);
		else if (ended->internal)
			reflector_back_off(r, after_internal_error(r), "WATCH failed", ended);
		else
			reflector_back_off(r, NEXT_LISTING, "WATCH ended, listing again", ended);
		break;
	}
}

static void
on_watch_end(void *context, const struct request_result *ended)
{
	struct reflector *r = context;
	bool initial = watch_stats(r->watch)->initial, lived = has_lived(r);

	clock_clear(r->source.clock, &r->timer);
	reflector_stop_watch(r);
	if (initial)
		after_watch_list(r, ended);
	else
		after_watch(r, ended, lived);
}

/* ---- start ------------------------------------------------------------------------- */

static int
start_stream(struct reflector *r, struct request_params *params)
{
	static const struct watch_events events = { on_open, on_heard, on_listed, on_watch_end };
	int error;

	params->watch = true;
	params->fresh_connection = r->connection_suspect;
	r->connection_suspect = false;
	params->timeout_s = r->timing.watch_timeout_s +
			    r->source.clock->chance(r->source.clock, r->timing.watch_timeout_s);
	r->watch_ends_ms = reflector_now_ms(r) + (uint64_t)params->timeout_s * 1000u + r->timing.overdue_ms;
	error = watch_start(&r->source, params, &events, r, &r->watch);
	if (error == 0)
		set_silence_timer(r);
	return error;
}

void
reflector_start_watch(struct reflector *r)
{
	char version[RESOURCE_VERSION_MAX + 1];
	struct request_params params = {.resource_version = version};
	int error;

	reflector_last_version(r, version);
	r->status.state = REFLECTOR_WATCHING;
	r->status.watches++;
	r->version_confirmed = false;
	error = start_stream(r, &params);
	log_debug("%s: watching from resourceVersion %s for %u s", r->source.name, version, params.timeout_s);
	if (error < 0)
		reflector_back_off_for(r, NEXT_WATCH, "WATCH failed", strerror(-error));
}

void
reflector_watch_again(struct reflector *r)
{
	if (can_resume(r)) {
		reflector_start_watch(r);
		return;
	}
	log_debug("%s: there is no resourceVersion to go on from", r->source.name);
	r->list_why = RESULT_UNSUPPORTED;
	r->take(r, NEXT_LISTING);
}

bool
reflector_may_watch_list(const struct reflector *r)
{
	const struct wire *wire = r->source.wire;
	bool cheap = r->choices.watch_list_in_json || !wire || wire_comes_in_protobuf(wire);

	return r->choices.watch_list && cheap && reflector_now_ms(r) >= r->no_watch_list_until_ms;
}

void
reflector_start_watch_list(struct reflector *r)
{
	struct request_params params = {.resource_version = r->list_version,
					.resource_version_match = "NotOlderThan",
					.initial_events = true};
	int error;

	reflector_begin_list(r, r->choices.version == REFLECTOR_VERSION_ANY);
	r->status.watch_lists++;
	error = start_stream(r, &params);
	log_debug("%s: WatchList at resourceVersion \"%s\" for %u s", r->source.name, r->list_version,
		  params.timeout_s);
	if (error < 0) {
		clock_clear(r->source.clock, &r->timer);
		reflector_back_off_for(r, NEXT_LISTING, "WatchList failed", strerror(-error));
	}
}
