/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the handler's callbacks into staged changes; see arena_feed.h. */
#include "tools/informer-gateway/history/arena_feed.h"

#include <errno.h>
#include <string.h>

/* Some seconds of a relay's traffic; 1.5 MiB of shared memory. */
#define QUEUE_ENTRIES 65536u

static void
lose_order(struct gw_feed *feed)
{
	feed->stats.resets += feed->begun;
	feed->begun = feed->marked = false;
	gw_staging_clear(&feed->staging);
	gw_change_log_break(&feed->log);
	gw_interests_note_all(&feed->interests);
}

/* The sequence number of the change in this callback. */
static uint64_t
note_seq(struct gw_feed *feed)
{
	informer_handler_cursor(feed->handler, &feed->last);
	return feed->last.seq;
}

/*
 * Stage the change. If its object was revoked during the read, the order is lost, and the object comes again.
 */
static void
stage(struct gw_feed *feed, const struct informer_object *object, struct api_event change, bool unseen)
{
	if (gw_object_make(feed->maker, object, &change.object) < 0) {
		api_object_unref(change.prev);
		lose_order(feed);
		return;
	}
	change.rv = change.object->rv;
	if (!change.unknown &&
	    (change.change == API_DELETED || (change.change == API_MODIFIED && !change.prev)))
		change.prev = api_object_ref(change.object);
	gw_staging_put(&feed->staging, change, note_seq(feed), unseen);
	if (feed->staging.bytes > feed->log.options.bytes)
		lose_order(feed);
}

static void
on_add(void *context, const struct informer_object *object, bool is_initial)
{
	struct gw_feed *feed = context;

	(void)is_initial;
	if (feed->begun)
		stage(feed, object, (struct api_event){.change = API_ADDED}, false);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *object)
{
	struct gw_feed *feed = context;
	struct api_event change = {.change = API_MODIFIED, .unknown = !old};

	note_seq(feed);
	if (!feed->begun || (old && gw_object_rv(old) == gw_object_rv(object)))
		return;
	if (old && !gw_object_selects_alike(feed->maker, old, object) &&
	    gw_object_make(feed->maker, old, &change.prev) < 0) {
		lose_order(feed);
		return;
	}
	stage(feed, object, change, false);
}

/*
 * Some servers give a deletion no RV of its own. The deleted object then has the RV of its last state, which
 * was told before. While the queue coalesces, watches may not know the object's last state, so the previous
 * state is unknown.
 */
static void
on_delete(void *context, const struct informer_object *object, bool final_state_known)
{
	struct gw_feed *feed = context;

	if (feed->begun)
		stage(feed, object, (struct api_event){.change = API_DELETED, .unknown = feed->coalescing},
		      !final_state_known || gw_object_rv(object) <= feed->log.told);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	struct gw_feed *feed = context;

	(void)kind; /* always COALESCED: RESYNC is for consumers */
	feed->coalescing = true;
	feed->marked = false;
}

static void
on_synced(void *context)
{
	struct gw_feed *feed = context;

	feed->walking = feed->coalescing = false;
}

/* ---- advancing ----------------------------------------------------------- */

static bool
same_count(const struct informer_cursor *cursor, const struct gw_standing *standing)
{
	return !memcmp(cursor->lineage, standing->lineage, sizeof(cursor->lineage));
}

static void
begin(struct gw_feed *feed, uint64_t rv)
{
	gw_staging_clear(&feed->staging);
	gw_change_log_begin(&feed->log, rv);
	gw_interests_note_all(&feed->interests);
	feed->begun = true;
	feed->coalescing = feed->marked = false;
}

/* Everything up to seq was told. all: everything up to the newest snapshot. */
static void
release(struct gw_feed *feed, uint64_t seq, uint64_t rv, bool all)
{
	uint64_t before = feed->log.next, told = feed->log.told;
	int r = gw_staging_release(&feed->staging, seq, rv, &feed->log, &feed->interests);

	if (r == -EAGAIN)
		return;
	feed->marked = false;
	if (r == -ESTALE) {
		lose_order(feed);
		if (all)
			begin(feed, rv);
		return;
	}
	feed->stats.changes += feed->log.next - before;
	if (feed->coalescing)
		gw_change_log_gap(&feed->log, told, rv);
	feed->coalescing = feed->coalescing && !all;
}

void
gw_feed_advance(struct gw_feed *feed, const struct gw_standing *standing)
{
	struct informer_cursor cursor;
	bool all;

	if (!feed->handler || feed->walking || !standing->synced || standing->rv == 0 ||
	    informer_handler_cursor(feed->handler, &cursor) < 0 || !same_count(&cursor, standing))
		return;
	all = cursor.seq >= standing->changed_seq;
	if (all && !feed->begun)
		begin(feed, standing->rv);
	else if (all)
		release(feed, UINT64_MAX, standing->rv, true);
	else if (feed->marked && cursor.seq >= feed->mark_seq)
		release(feed, feed->mark_seq, feed->mark_rv, false);
	if (!all && feed->begun && !feed->coalescing && !feed->marked) {
		feed->marked = true;
		feed->mark_seq = standing->changed_seq;
		feed->mark_rv = standing->rv;
	}
}

bool
gw_feed_is_at(const struct gw_feed *feed, const struct gw_standing *standing)
{
	struct informer_cursor cursor;

	return feed->begun && standing->synced && feed->staging.count == 0 &&
	       feed->log.told == standing->rv && informer_handler_cursor(feed->handler, &cursor) == 0 &&
	       same_count(&cursor, standing) && cursor.seq >= standing->changed_seq &&
	       (!same_count(&feed->last, standing) || feed->last.seq <= standing->changed_seq);
}

/* ---- opening and closing ------------------------------------------------- */

void
gw_feed_init(struct gw_feed *feed, const struct gw_log_options *history)
{
	*feed = (struct gw_feed){0};
	gw_change_log_init(&feed->log, history);
	gw_interests_init(&feed->interests, &feed->log);
}

int
gw_feed_open(struct gw_feed *feed, struct informer *informer, struct gw_object_maker *maker, const char *name,
	     const char *namespace_)
{
	const struct informer_handler_options options = {
		.size = sizeof(options),
		.resource = name,
		.namespace_ = namespace_,
		.resync_ms = INFORMER_NO_RESYNC,
		.queue_entries = QUEUE_ENTRIES,
		.context = feed,
		.on_add = on_add,
		.on_update = on_update,
		.on_delete = on_delete,
		.on_overflow = on_overflow,
		.on_synced = on_synced,
	};

	feed->maker = maker;
	feed->walking = true;
	return informer_add_handler(informer, &options, &feed->handler);
}

void
gw_feed_close(struct gw_feed *feed)
{
	if (!feed->handler)
		return;
	informer_remove_handler(feed->handler);
	feed->handler = NULL;
	lose_order(feed);
}

void
gw_feed_done(struct gw_feed *feed)
{
	gw_feed_close(feed);
	gw_staging_done(&feed->staging);
	gw_interests_done(&feed->interests);
	gw_change_log_done(&feed->log);
}
