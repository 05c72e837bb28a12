/*
 * Reflector.
 */
#include "writer/reflector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/backoff.h"
#include "writer/freshness.h"
#include "writer/list.h"
#include "writer/log.h"
#include "writer/watch.h"

#define PAGE_ITEMS	     500u
#define SHORT_WATCH_MS	     1000u
#define REPEAT_LOG_MS	     60000u /* the same failure is not logged more often */

enum next_step { NEXT_LIST, NEXT_WATCH };

struct reflector {
	struct feed feed;
	char *refusal_hint;
	struct reflector_timing timing;

	struct list *list;		/* at most one of the three is under way … */
	struct watch *watch;
	struct freshness *freshness;	/* … but for this one, which runs beside a silent watch */
	struct clock_timer timer;	/* backing off, or the progress of a list */
	struct clock_timer silence;
	enum next_step next;
	struct backoff backoff;

	bool version_unavailable;	/* the server cannot list at the last RV: list at "" */
	bool list_at_latest;		/* the list under way has RV "" */
	bool paginated;			/* a list at RV 0 came in pages: so will others */
	bool stream_was_broken;		/* the last watch, from the same RV, ended in bytes that are no JSON, or do not fit */
	char list_version[RESOURCE_VERSION_MAX + 1]; /* asked for */

	struct reflector_status status;
	char *last_error;
	char last_reason[OUTCOME_REASON_MAX + 1];
	uint64_t logged_ms;
	char *logged_error;
	uint64_t progress_bytes;	/* at the last line of progress */
	struct watch_stats watch_base;	/* sums of the watches before this one */
};

static void start_list(struct reflector *r);
static void start_watch(struct reflector *r);

static uint64_t
now_ms(const struct reflector *r)
{
	return r->feed.clock->now_ms(r->feed.clock);
}

static void
enter(struct reflector *r, enum reflector_state state)
{
	if (r->status.state != state)
		r->status.state_since_ms = now_ms(r);
	r->status.state = state;
}

static void
last_version(const struct reflector *r, char version[RESOURCE_VERSION_MAX + 1])
{
	size_t length;
	const char *text = delta_fifo_version(r->feed.fifo, &length);

	memcpy(version, text, length);
	version[length] = '\0';
}

/* ---- failures ---------------------------------------------------------------- */

static void
note_success(struct reflector *r)
{
	free(r->last_error);
	r->last_error = NULL;
	r->last_reason[0] = '\0';
	r->status.last_code = 0;
	if (r->feed.on_success)
		r->feed.on_success(r->feed.context);
}

static void
note_failure(struct reflector *r, const char *doing, const struct outcome *outcome)
{
	const char *hint = outcome->code == 403 ? r->refusal_hint : NULL;
	const char *message = outcome->message ? outcome->message : "no reason is known";
	char *text = NULL;

	if (asprintf(&text, "%s: %s%s%s", doing, message, hint ? "; " : "", hint ? hint : "") < 0)
		text = NULL;
	free(r->last_error);
	r->last_error = text;
	snprintf(r->last_reason, sizeof(r->last_reason), "%s", outcome->reason);
	r->status.last_code = outcome->code;
	r->status.failures++;
	if (r->feed.on_failure)
		r->feed.on_failure(r->feed.context, outcome->code, outcome->reason, text ? text : "out of memory");
}

/* One line for a failure, and none for its repetitions within a minute. */
static void
log_failure(struct reflector *r, bool refused, uint64_t wait_ms)
{
	const char *error = r->last_error ? r->last_error : "out of memory";

	if (r->logged_error && strcmp(r->logged_error, error) == 0 && now_ms(r) - r->logged_ms < REPEAT_LOG_MS)
		return;
	free(r->logged_error);
	r->logged_error = strdup(error);
	r->logged_ms = now_ms(r);
	if (refused)
		log_error("%s: %s; trying again in %.1f s, other resources go on", r->feed.name, error, (double)wait_ms / 1000);
	else
		log_warning("%s: %s; trying again in %.1f s", r->feed.name, error, (double)wait_ms / 1000);
}

static void
on_backoff_over(void *context)
{
	struct reflector *r = context;

	if (r->next == NEXT_LIST)
		start_list(r);
	else
		start_watch(r);
}

static void
back_off(struct reflector *r, enum next_step next, const char *doing, const struct outcome *outcome)
{
	uint64_t wait = backoff_next(&r->backoff, r->feed.clock, (uint64_t)outcome->retry_after_s * 1000);
	bool refused = outcome->kind == OUTCOME_REFUSED;

	note_failure(r, doing, outcome);
	log_failure(r, refused, wait);
	r->next = next;
	r->status.next_try_ms = now_ms(r) + wait;
	enter(r, refused ? REFLECTOR_REFUSED : REFLECTOR_BACKING_OFF);
	clock_set(r->feed.clock, &r->timer, wait, on_backoff_over, r);
}

/* ---- LIST --------------------------------------------------------------------- */

static void
on_progress(void *context)
{
	struct reflector *r = context;
	struct list_progress p;
	double seconds = (double)r->timing.progress_ms / 1000;
	char remaining[48] = "";

	list_get_progress(r->list, &p);
	if (p.remaining > 0)
		snprintf(remaining, sizeof(remaining), " of about %" PRIu64, p.items + (uint64_t)p.remaining);
	log_info("%s: listing: %" PRIu64 "%s objects so far, %.1f MB/s", r->feed.name, p.items, remaining,
		 (double)(p.bytes - r->progress_bytes) / 1e6 / seconds);
	r->progress_bytes = p.bytes;
	clock_set(r->feed.clock, &r->timer, r->timing.progress_ms, on_progress, r);
}

static void
on_list_done(void *context, struct list *list, const struct outcome *outcome)
{
	struct reflector *r = context;
	struct list_progress p;
	char version[RESOURCE_VERSION_MAX + 1];

	list_get_progress(list, &p);
	clock_clear(r->feed.clock, &r->timer);
	r->status.bad_events += p.bad_items;
	if (outcome->kind == OUTCOME_OK) {
		last_version(r, version);
		log_info("%s: listed %" PRIu64 " objects at resourceVersion %s in %" PRIu64 " ms (%u page%s, %" PRIu64 " KB)",
			 r->feed.name, p.items, version, now_ms(r) - p.started_ms, p.pages, p.pages == 1 ? "" : "s",
			 p.bytes / 1000);
		if (p.pages > 1 && strcmp(r->list_version, "0") == 0)
			r->paginated = true;
		r->version_unavailable = false;
		r->stream_was_broken = false;
	}
	r->list = NULL;
	list_free(list);
	if (outcome->kind == OUTCOME_OK) {
		note_success(r);
		start_watch(r);
	} else if ((outcome->kind == OUTCOME_EXPIRED || outcome->kind == OUTCOME_TOO_LARGE) && !r->list_at_latest) {
		log_info("%s: the server cannot list at resourceVersion %s (%s); listing at the latest", r->feed.name,
			 r->list_version, outcome->message ? outcome->message : "");
		r->version_unavailable = true;
		start_list(r);
	} else {
		back_off(r, NEXT_LIST, "LIST failed", outcome);
	}
}

static void
start_list(struct reflector *r)
{
	struct list_params params = { .resource_version = r->list_version };
	struct outcome outcome = { 0 };
	int error;

	last_version(r, r->list_version);
	if (r->version_unavailable)
		r->list_version[0] = '\0';
	else if (r->list_version[0] == '\0')
		memcpy(r->list_version, "0", 2);
	r->list_at_latest = r->list_version[0] == '\0';
	/* At an explicit RV the watch cache answers in one piece, unless it was seen not to. */
	if (r->list_at_latest || strcmp(r->list_version, "0") == 0 || r->paginated)
		params.limit = PAGE_ITEMS;

	enter(r, REFLECTOR_LISTING);
	r->status.lists++;
	r->progress_bytes = 0;
	log_debug("%s: listing at resourceVersion \"%s\", limit %u", r->feed.name, r->list_version, params.limit);
	error = list_start(&r->feed, &params, on_list_done, r, &r->list);
	if (error < 0) {
		outcome_set(&outcome, OUTCOME_FAILED, "%s", strerror(-error));
		back_off(r, NEXT_LIST, "LIST failed", &outcome);
		outcome_done(&outcome);
		return;
	}
	clock_set(r->feed.clock, &r->timer, r->timing.progress_ms, on_progress, r);
}

/* ---- silence -------------------------------------------------------------------- */

static void
stop_watch(struct reflector *r)
{
	struct watch_stats stats;

	clock_clear(r->feed.clock, &r->silence);
	freshness_free(r->freshness);
	r->freshness = NULL;
	if (!r->watch)
		return;
	watch_get_stats(r->watch, &stats);
	r->watch_base.events += stats.events;
	r->watch_base.bookmarks += stats.bookmarks;
	r->watch_base.bad_events += stats.bad_events;
	watch_free(r->watch);
	r->watch = NULL;
}

static void on_silence(void *context);

static void
on_freshness(void *context, enum freshness_answer answer, const struct outcome *outcome)
{
	struct reflector *r = context;

	freshness_free(r->freshness);
	r->freshness = NULL;
	switch (answer) {
	case FRESHNESS_KNOWN:
		log_debug("%s: silent, and the server knows the resourceVersion", r->feed.name);
		break;
	case FRESHNESS_UNKNOWN:
		clock_set(r->feed.clock, &r->silence, r->timing.silence_ms, on_silence, r);
		break;
	case FRESHNESS_AHEAD:
		log_warning("%s: the server does not know the resourceVersion of this cache yet (%s); was it restored from a "
			    "backup, or is it another one? Listing",
			    r->feed.name, outcome->message ? outcome->message : "");
		stop_watch(r);
		r->version_unavailable = true;
		start_list(r);
		break;
	}
}

static void
on_silence(void *context)
{
	struct reflector *r = context;
	char version[RESOURCE_VERSION_MAX + 1];

	last_version(r, version);
	log_debug("%s: nothing heard for %" PRIu64 " s; asking whether resourceVersion %s is known", r->feed.name,
		  r->timing.silence_ms / 1000, version);
	if (freshness_start(&r->feed, version, on_freshness, r, &r->freshness) < 0)
		clock_set(r->feed.clock, &r->silence, r->timing.silence_ms, on_silence, r);
}

/* ---- WATCH ---------------------------------------------------------------------- */

static void
on_open(void *context)
{
	struct reflector *r = context;

	if (r->last_error)
		log_info("%s: watching again", r->feed.name);
	note_success(r);
}

static void
on_heard(void *context)
{
	struct reflector *r = context;

	/* Whoever sends events knows the RV. */
	clock_clear(r->feed.clock, &r->silence);
	r->stream_was_broken = false;
}

static void
on_watch_end(void *context, struct watch *watch, const struct outcome *outcome)
{
	struct reflector *r = context;
	struct outcome short_watch = { 0 };
	struct watch_stats stats;
	bool too_short;

	watch_get_stats(watch, &stats);
	too_short = now_ms(r) - stats.started_ms < SHORT_WATCH_MS && stats.events + stats.bookmarks == 0;
	stop_watch(r);
	switch (outcome->kind) {
	case OUTCOME_OK:
		if (!too_short) {
			start_watch(r);
			break;
		}
		outcome_set(&short_watch, OUTCOME_FAILED, "the server ended the stream at once and without an event");
		back_off(r, NEXT_WATCH, "WATCH failed", &short_watch);
		outcome_done(&short_watch);
		break;
	case OUTCOME_TOO_LARGE:
		r->version_unavailable = true;
		/* fall through */
	case OUTCOME_EXPIRED:
	case OUTCOME_LOST:
		back_off(r, NEXT_LIST, "WATCH ended, listing again", outcome);
		break;
	case OUTCOME_BROKEN:
	case OUTCOME_NO_SPACE:
		/*
		 * What was broken, or did not fit, comes again from the same RV. When it does so again, a list goes around it; the
		 * deletions that make room may stand behind it in the stream.
		 */
		back_off(r, r->stream_was_broken ? NEXT_LIST : NEXT_WATCH, "WATCH failed", outcome);
		r->stream_was_broken = true;
		break;
	case OUTCOME_REFUSED:
	case OUTCOME_THROTTLED:
	case OUTCOME_FAILED:
		back_off(r, NEXT_WATCH, "WATCH failed", outcome);
		break;
	}
}

static void
start_watch(struct reflector *r)
{
	static const struct watch_events events = { on_open, on_heard, on_watch_end };
	unsigned timeout = r->timing.watch_timeout_s;
	char version[RESOURCE_VERSION_MAX + 1];
	struct watch_params params = { .resource_version = version };
	struct outcome outcome = { 0 };
	int error;

	last_version(r, version);
	params.timeout_s = timeout + r->feed.clock->chance(r->feed.clock, timeout);
	enter(r, REFLECTOR_WATCHING);
	r->status.watches++;
	log_debug("%s: watching from resourceVersion %s for %u s", r->feed.name, version, params.timeout_s);
	error = watch_start(&r->feed, &params, &events, r, &r->watch);
	if (error < 0) {
		outcome_set(&outcome, OUTCOME_FAILED, "%s", strerror(-error));
		back_off(r, NEXT_WATCH, "WATCH failed", &outcome);
		outcome_done(&outcome);
		return;
	}
	clock_set(r->feed.clock, &r->silence, r->timing.silence_ms, on_silence, r);
}

/* ---- the outside ------------------------------------------------------------------ */

struct reflector *
reflector_new(const struct reflector_options *options)
{
	struct reflector *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->feed = *options->feed;
	r->timing = options->timing;
	if (r->timing.silence_ms == 0)
		r->timing.silence_ms = 90000;
	if (r->timing.progress_ms == 0)
		r->timing.progress_ms = 2000;
	if (r->timing.watch_timeout_s == 0)
		r->timing.watch_timeout_s = 300;
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
	clock_clear(r->feed.clock, &r->timer);
	list_free(r->list);
	stop_watch(r);
	free(r->refusal_hint);
	free(r->last_error);
	free(r->logged_error);
	free(r);
}

void
reflector_start(struct reflector *r, const char *version, size_t length)
{
	if (length == 0 || delta_fifo_set_version(r->feed.fifo, version, length) < 0) {
		start_list(r);
		return;
	}
	log_info("%s: going on from resourceVersion %.*s, no list is needed", r->feed.name, (int)length, version);
	start_watch(r);
}

void
reflector_relax(struct reflector *r)
{
	if (r->watch)
		watch_relax(r->watch);
}

const char *
reflector_state_name(enum reflector_state state)
{
	static const char *const names[] = { "idle", "listing", "watching", "backing-off", "refused" };

	return (size_t)state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

void
reflector_get_status(const struct reflector *r, struct reflector_status *ret)
{
	struct list_progress progress = { .remaining = -1 };
	struct watch_stats stats = { 0 };

	*ret = r->status;
	if (r->list)
		list_get_progress(r->list, &progress);
	if (r->watch)
		watch_get_stats(r->watch, &stats);
	ret->list_items = progress.items;
	ret->list_remaining = progress.remaining;
	ret->list_bytes = progress.bytes;
	ret->bad_events += progress.bad_items + r->watch_base.bad_events + stats.bad_events;
	ret->events = r->watch_base.events + stats.events;
	ret->bookmarks = r->watch_base.bookmarks + stats.bookmarks;
	ret->paused = stats.paused;
	ret->last_error = r->last_error ? r->last_error : "";
	ret->last_reason = r->last_reason;
}
