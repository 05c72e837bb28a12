/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Reflector's state and figures, its log lines, and its failures with the wait that follows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/log.h"
#include "writer/reflect/reflector_internal.h"

#define REPEAT_LOG_MS  60000u /* between log lines for the same failure */
#define LONG_LIST_MS   10000u /* longer lists are logged with their phases */

uint64_t
reflector_now_ms(const struct reflector *r)
{
	return r->source.clock->now_ms(r->source.clock);
}

void
reflector_last_version(const struct reflector *r, char version[RESOURCE_VERSION_MAX + 1])
{
	size_t length;
	const char *text = delta_fifo_version(r->source.fifo, &length);

	memcpy(version, text, length);
	version[length] = '\0';
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
	static const struct resource_request_progress none = {.remaining = -1};
	const struct resource_request_progress *p = r->list    ? list_progress(r->list)
						    : r->watch ? watch_progress(r->watch)
							       : &none;
	const struct watch_stats *stats = r->watch ? watch_stats(r->watch) : NULL;

	*ret = r->status;
	ret->bad_events += p->bad;
	ret->list_remaining = -1;
	if (r->list || (stats && stats->initial)) {
		ret->list_items = p->items;
		ret->list_remaining = p->remaining;
		ret->list_bytes = p->bytes;
	}
	if (stats) {
		ret->events += stats->events;
		ret->bookmarks += stats->bookmarks;
		ret->paused = stats->paused;
	}
	ret->last_error = r->last_error ? r->last_error : "";
	ret->last_reason = r->last_reason;
}

/* ---- failures ---------------------------------------------------------------- */

void
reflector_note_success(struct reflector *r)
{
	free(r->last_error);
	r->last_error = NULL;
	r->last_reason[0] = '\0';
	r->status.last_code = 0;
	if (r->source.on_success)
		r->source.on_success(r->source.context);
}

static void
note_failure(struct reflector *r, const char *doing, const struct request_result *ended)
{
	const char *hint = ended->code == 403 ? r->refusal_hint : NULL;
	const char *message = ended->message ? ended->message : "no reason is known";
	char *text = NULL;

	if (asprintf(&text, "%s: %s%s%s", doing, message, hint ? "; " : "", hint ? hint : "") < 0)
		text = NULL;
	free(r->last_error);
	r->last_error = text;
	snprintf(r->last_reason, sizeof(r->last_reason), "%s", ended->reason);
	r->status.last_code = ended->code;
	r->status.failures++;
	r->list_why = ended->kind;
	if (r->source.on_failure)
		r->source.on_failure(r->source.context, ended->code, ended->reason,
				     text ? text : "out of memory");
}

/* One line for a failure, and none for its repetitions within a minute. */
static void
log_failure(struct reflector *r, bool refused, uint64_t wait_ms)
{
	const char *error = r->last_error ? r->last_error : "out of memory";

	if (r->logged_error && strcmp(r->logged_error, error) == 0 &&
	    reflector_now_ms(r) - r->logged_ms < REPEAT_LOG_MS)
		return;
	free(r->logged_error);
	r->logged_error = strdup(error);
	r->logged_ms = reflector_now_ms(r);
	if (refused)
		log_error("%s: %s; trying again in %.1f s, other resources go on", r->source.name, error,
			  (double)wait_ms / 1000);
	else
		log_warning("%s: %s; trying again in %.1f s", r->source.name, error, (double)wait_ms / 1000);
}

static void
on_backoff_over(void *context)
{
	struct reflector *r = context;

	r->take(r, r->next);
}

void
reflector_back_off(struct reflector *r, enum next_step next, const char *doing,
		   const struct request_result *ended)
{
	uint64_t wait = backoff_next(&r->backoff, r->source.clock, (uint64_t)ended->retry_after_s * 1000);
	bool refused = ended->kind == RESULT_REFUSED;

	note_failure(r, doing, ended);
	log_failure(r, refused, wait);
	r->next = next;
	r->waits_for_room = ended->kind == RESULT_NO_SPACE;
	r->failed_ms = reflector_now_ms(r);
	r->status.next_try_ms = reflector_now_ms(r) + wait;
	r->status.state = refused ? REFLECTOR_REFUSED : REFLECTOR_BACKING_OFF;
	clock_set(r->source.clock, &r->timer, wait, on_backoff_over, r);
}

void
reflector_back_off_for(struct reflector *r, enum next_step next, const char *doing, const char *why)
{
	struct request_result ended = {0};

	request_result_set(&ended, RESULT_FAILED, "%s", why);
	reflector_back_off(r, next, doing, &ended);
	request_result_done(&ended);
}

bool
reflector_waits_for_room(const struct reflector *r)
{
	return r->status.state == REFLECTOR_BACKING_OFF && r->waits_for_room;
}

void
reflector_retry(struct reflector *r)
{
	uint64_t now = reflector_now_ms(r), soonest;

	if (!reflector_waits_for_room(r))
		return;
	/* wait at least as long as after a first failure, even if a little room comes free often */
	soonest = r->failed_ms + backoff_pace_filled(r->backoff.pace).first_ms;
	soonest = soonest > now ? soonest : now;
	if (soonest >= r->status.next_try_ms)
		return;
	r->status.next_try_ms = soonest;
	clock_set(r->source.clock, &r->timer, soonest - now, on_backoff_over, r);
}

void
reflector_note_break(struct reflector *r, const struct request_result *ended)
{
	uint64_t now = reflector_now_ms(r);

	r->status.failures++;
	if (r->break_logged_ms != 0 && now - r->break_logged_ms < REPEAT_LOG_MS)
		return;
	r->break_logged_ms = now;
	log_info("%s: the stream broke off (%s); watching again", r->source.name,
		 ended->message ? ended->message : "no reason is known");
}

/* ---- lists ---------------------------------------------------------------------- */

void
reflector_tell_applied(struct reflector *r)
{
	const struct resource_request_progress *l = &r->applied;
	uint64_t now = reflector_now_ms(r), decoded_ms = l->decoded_ns / 1000000, coming_ms;

	if (r->applying_ms == 0 || delta_fifo_is_listing(r->source.fifo))
		return;
	coming_ms = r->applying_ms - l->started_ms - l->waited_ms;
	decoded_ms = decoded_ms < coming_ms ? decoded_ms : coming_ms;
	if (now - l->started_ms >= LONG_LIST_MS)
		log_warning("%s: the list took %.1f s: %.1f s until the server began to answer, %.1f s with "
			    "the transfer and other work, "
			    "%.1f s with decoding, %.1f s until it was applied",
			    r->source.name, (double)(now - l->started_ms) / 1000, (double)l->waited_ms / 1000,
			    (double)(coming_ms - decoded_ms) / 1000, (double)decoded_ms / 1000,
			    (double)(now - r->applying_ms) / 1000);
	r->applying_ms = 0;
}

void
reflector_log_listed(struct reflector *r, const char *how, const struct resource_request_progress *p)
{
	uint64_t now = reflector_now_ms(r);
	const char *syntax = r->source.wire ? wire_syntax_name(r->source.wire) : "";
	char version[RESOURCE_VERSION_MAX + 1], pages[32] = "";

	reflector_last_version(r, version);
	if (p->pages > 0)
		snprintf(pages, sizeof(pages), "%u page%s, ", p->pages, p->pages == 1 ? "" : "s");
	log_info("%s: %s %" PRIu64 " objects at resourceVersion %s in %" PRIu64 " ms (%s%" PRIu64 " KB%s%s)",
		 r->source.name, how, p->items, version, now - p->started_ms, pages, p->bytes / 1000,
		 *syntax ? " of " : "", syntax);
	r->applied = *p;
	r->applying_ms = now;
	reflector_tell_applied(r);
}

static void
on_progress(void *context)
{
	struct reflector *r = context;
	struct reflector_status status;
	double seconds = (double)r->timing.progress_ms / 1000;
	char remaining[48] = "";

	reflector_get_status(r, &status);
	if (status.list_remaining > 0)
		snprintf(remaining, sizeof(remaining), " of about %" PRIu64,
			 status.list_items + (uint64_t)status.list_remaining);
	log_info("%s: listing: %" PRIu64 "%s objects so far, %.1f MB/s", r->source.name, status.list_items,
		 remaining, (double)(status.list_bytes - r->progress_bytes) / 1e6 / seconds);
	r->progress_bytes = status.list_bytes;
	clock_set(r->source.clock, &r->timer, r->timing.progress_ms, on_progress, r);
}

void
reflector_begin_list(struct reflector *r, bool old_is_fine)
{
	reflector_last_version(r, r->list_version);
	if (r->version_unavailable)
		r->list_version[0] = '\0';
	else if (r->list_version[0] == '\0' && old_is_fine)
		memcpy(r->list_version, "0", 2);
	r->list_at_latest = r->list_version[0] == '\0';
	r->status.lists_for[r->list_why]++;
	r->status.state = REFLECTOR_LISTING;
	r->progress_bytes = 0;
	r->applying_ms = 0;
	clock_set(r->source.clock, &r->timer, r->timing.progress_ms, on_progress, r);
}
