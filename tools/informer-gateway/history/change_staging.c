/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts staged changes, gives unseen deletions an RV, and moves them into the log. */
#include "tools/informer-gateway/history/change_staging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/history/arena_object.h"

#define CAPACITY_MIN 64u

static void
drop(struct gw_staging *staging, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		staging->bytes -= gw_object_bytes(staging->items[i].change.object);
		api_events_done(&staging->items[i].change, 1);
	}
	staging->count -= count;
	if (count > 0 && staging->count > 0)
		memmove(staging->items, staging->items + count, staging->count * sizeof(*staging->items));
}

void
gw_staging_clear(struct gw_staging *staging)
{
	drop(staging, staging->count);
}

void
gw_staging_done(struct gw_staging *staging)
{
	gw_staging_clear(staging);
	free(staging->items);
	*staging = (struct gw_staging){0};
}

void
gw_staging_put(struct gw_staging *staging, struct api_event change, uint64_t seq, bool unseen)
{
	if (staging->count == staging->capacity) {
		staging->capacity = staging->capacity ? staging->capacity * 2 : CAPACITY_MIN;
		staging->items = api_realloc(staging->items, staging->capacity * sizeof(*staging->items));
	}
	staging->bytes += gw_object_bytes(change.object);
	staging->items[staging->count++] = (struct gw_staged){.change = change, .seq = seq, .unseen = unseen};
}

static int
by_rv(const void *a, const void *b)
{
	const struct gw_staged *x = a, *y = b;

	if (x->change.rv != y->change.rv)
		return x->change.rv > y->change.rv ? 1 : -1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/*
 * Unseen deletions get the newest RV told before them. Returns whether every other change has a higher RV
 * than `told` and than every such deletion before it.
 */
static bool
place_unseen(struct gw_staged *items, size_t count, uint64_t told)
{
	uint64_t newest = told, least = told;

	for (size_t i = 0; i < count; i++) {
		struct api_event *change = &items[i].change;

		if (items[i].unseen)
			change->rv = least = newest;
		else if (change->rv <= least)
			return false;
		else if (change->rv > newest)
			newest = change->rv;
		change->again = items[i].unseen;
	}
	return true;
}

/* Move the change to the log. Its object stays referenced here. */
static void
hand_over(struct gw_staged *item, struct gw_change_log *log, struct gw_interests *interests)
{
	struct api_object *object = api_object_ref(item->change.object);

	gw_interests_note(interests, gw_change_log_put(log, item->change));
	item->change = (struct api_event){.object = object};
}

int
gw_staging_release(struct gw_staging *staging, uint64_t seq, uint64_t rv, struct gw_change_log *log,
		   struct gw_interests *interests)
{
	size_t count = 0;
	int r = 0;

	for (; count < staging->count && staging->items[count].seq <= seq; count++)
		if (staging->items[count].change.rv > rv)
			return -EAGAIN;
	if (rv < log->told || !place_unseen(staging->items, count, log->told))
		r = -ESTALE;
	if (r == 0 && count > 1)
		qsort(staging->items, count, sizeof(*staging->items), by_rv);
	for (size_t i = 0; i < count && r == 0; i++)
		hand_over(&staging->items[i], log, interests);
	if (r == 0)
		gw_change_log_tell(log, rv);
	drop(staging, count);
	return r;
}
