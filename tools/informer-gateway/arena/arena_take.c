/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats dispatch, look and arm until there is no newer commit, at most LOOKS_MAX times. */
#include "tools/informer-gateway/arena/arena_take.h"

#include <errno.h>
#include <string.h>

/* Looks for a newer commit in one take. */
#define LOOKS_MAX 4u
#define SAME_LOOKS_MAX 8u
/* Snapshots begun to find one that matches the log. */
#define BEGINS_MAX 8u

static struct gw_change_log *
largest_log(const struct gw_arena *arena)
{
	struct gw_change_log *largest = NULL;

	for (unsigned i = 0; i < arena->count; i++) {
		struct gw_change_log *log = &arena->entries[i]->feed.log;

		if (log->next - log->first > 1 && (!largest || log->bytes > largest->bytes))
			largest = log;
	}
	return largest;
}

/* Trim the largest logs while all logs together exceed their share. */
static void
trim(struct gw_arena *arena)
{
	struct gw_change_log *largest;

	while (api_share_room(arena->options.history) == 0 && (largest = largest_log(arena)))
		gw_change_log_trim(largest, largest->bytes - largest->bytes / 8);
}

static void
note_seen(struct gw_arena *arena, const struct informer_moment *moment)
{
	if (moment->epoch != arena->seen_epoch || moment->generation != arena->seen_generation)
		arena->same_looks = 0;
	arena->seen_epoch = moment->epoch;
	arena->seen_generation = moment->generation;
	memcpy(arena->seen_lineage, moment->lineage, sizeof(arena->seen_lineage));
}

/* Sync with a snapshot that begins after the dispatch. Returns whether there is a newer commit. */
static bool
look(struct gw_arena *arena)
{
	struct informer_snapshot snapshot;
	struct informer_moment moment;
	int r = informer_begin(arena->events[0], &snapshot);

	if (r < 0)
		return false;
	gw_resources_sync(arena, &snapshot);
	r = informer_snapshot_moment(&snapshot, &moment);
	informer_end(&snapshot);
	trim(arena);
	if (r < 0)
		return false;
	note_seen(arena, &moment);
	/*
	 * If several looks show the same epoch although a newer one is reported, a new generation is coming.
	 * Its arrival makes the descriptor readable.
	 */
	return informer_arm(arena->events[0], &moment) > 0 && arena->same_looks++ < SAME_LOOKS_MAX;
}

void
gw_arena_take(struct gw_arena *arena)
{
	bool newer = true;

	for (unsigned i = 0; newer && i < LOOKS_MAX; i++) {
		gw_handles_dispatch(arena);
		newer = look(arena);
	}
	if (newer)
		gw_handles_kick(arena);
}

void
gw_arena_take_untold(struct gw_arena *arena)
{
	gw_arena_take(arena);
	gw_handles_kick(arena);
}

int
gw_entry_begin_whole(struct gw_entry *entry, struct gw_reading *ret_reading)
{
	for (unsigned i = 0; i < BEGINS_MAX; i++) {
		struct gw_standing standing;

		gw_arena_take_untold(entry->arena);
		if (gw_entry_begin(entry, ret_reading) < 0)
			return -EAGAIN;
		if (gw_entry_standing(entry, &ret_reading->snapshot, &standing) == 0) {
			gw_feed_advance(&entry->feed, &standing);
			if (gw_feed_is_at(&entry->feed, &standing))
				return 0;
		}
		gw_reading_end(ret_reading);
		if (entry->gone || !entry->feed.begun)
			break;
	}
	return -EAGAIN;
}
