/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the RVs of all candidates first, which is cheap. Then makes the objects that fit, newest first. */
#include "tools/informer-gateway/views/history.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "tools/informer-gateway/arena/arena_take.h"

/* A change that may be prepended. */
struct candidate {
	struct informer_object object;
	uint64_t rv;
	bool gone;
};

struct search {
	const struct gw_entry *entry;
	struct candidate *items;
	size_t count, capacity;
	uint64_t forgotten_seq; /* all deletions after it are remembered */
	uint64_t proven;        /* F; 0: nothing is proven */
};

static void
add(struct search *s, const struct informer_object *object, uint64_t rv, bool gone)
{
	if (s->count == s->capacity) {
		s->capacity = s->capacity ? s->capacity * 2 : 64;
		s->items = api_realloc(s->items, s->capacity * sizeof(*s->items));
	}
	s->items[s->count++] = (struct candidate){.object = *object, .rv = rv, .gone = gone};
}

/* The RV of a deletion that informerd's watch saw and after which none was forgotten; 0: another deletion. */
static uint64_t
rv_of_seen(const struct search *s, const struct informer_object *object)
{
	struct informer_deletion deletion = {.size = sizeof(deletion)};

	if (informer_object_deletion(object, &deletion) < 0 || !deletion.seen ||
	    deletion.seq < s->forgotten_seq)
		return 0;
	return gw_object_rv(object);
}

/* Called from the oldest to the newest deletion. */
static int
look_at_deleted(void *context, const struct informer_object *object)
{
	struct search *s = context;
	uint64_t rv = rv_of_seen(s, object);

	if (informer_object_position(object) != s->entry->position)
		return 0;
	if (rv == 0 || s->proven == 0)
		s->proven = rv;
	if (rv > 0 && rv <= s->entry->feed.log.floor)
		add(s, object, rv, true);
	return 0;
}

/* Find F: from the remembered deletions, or from the RV of the first list. */
static int
prove(struct search *s, const struct gw_reading *reading, uint64_t complete_from)
{
	int r = informer_each_deleted(&reading->snapshot, reading->resource, look_at_deleted, s);

	if (complete_from > 0 && (s->proven == 0 || complete_from < s->proven))
		s->proven = complete_from;
	return r < 0 ? r : s->proven > 0 && s->proven < s->entry->feed.log.floor ? 0 : -ESTALE;
}

static int
look_at_present(struct search *s, const struct gw_reading *reading)
{
	uint64_t floor = s->entry->feed.log.floor, rv;
	struct informer_object object;
	struct informer_iter it;
	int r = informer_list(&reading->snapshot, reading->resource, &it);

	while (r == 0 && (r = informer_next(&it, &object)) > 0) {
		rv = gw_object_rv(&object);
		if (rv > s->proven && rv <= floor && informer_object_position(&object) == s->entry->position)
			add(s, &object, rv, false);
		r = 0;
	}
	return r;
}

static int
newest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->rv < y->rv) - (x->rv > y->rv);
}

/*
 * Prepend the newest changes that fit. Their previous states are unknown, also for deletions: a client may
 * know an earlier selected state, and none between that and the last one.
 */
static void
extend(struct gw_entry *entry, struct search *s)
{
	struct gw_change_log *log = &entry->feed.log;
	size_t room = log->options.bytes / 2, left = api_share_room(log->options.share), bytes;
	uint64_t floor = s->proven;

	room = room > log->bytes ? room - log->bytes : 0;
	room = room < left ? room : left;
	if (s->count > 0)
		qsort(s->items, s->count, sizeof(*s->items), newest_first);
	gw_change_log_forget_before(log);
	for (size_t i = 0; i < s->count && s->items[i].rv > s->proven; i++, room -= bytes) {
		struct api_event change = {.change = s->items[i].gone ? API_DELETED : API_MODIFIED,
					   .rv = s->items[i].rv,
					   .unknown = true};
		bool made = gw_object_make(&entry->maker, &s->items[i].object, &change.object) == 0;

		bytes = made ? gw_object_bytes(change.object) + sizeof(change) : SIZE_MAX;
		if (bytes > room) { /* the change does not fit: its RV becomes the floor */
			api_object_unref(change.object);
			floor = change.rv;
			break;
		}
		gw_change_log_prepend(log, change);
	}
	gw_change_log_lower(log, floor);
}

int
gw_history_extend(struct gw_entry *entry)
{
	struct gw_change_log *log = &entry->feed.log;
	struct search search = {.entry = entry};
	struct gw_reading reading;
	struct gw_standing standing = {0};
	int r;

	/* if the snapshot is ahead of the log, the changes between them would be missing */
	if (!entry->feed.begun || log->extended)
		return -ESTALE;
	r = gw_entry_begin_whole(entry, &reading);
	if (r < 0)
		return r;
	r = gw_entry_standing(entry, &reading.snapshot, &standing);
	search.forgotten_seq = standing.forgotten_seq;
	if (r == 0)
		r = prove(&search, &reading, standing.complete_from);
	if (r == 0)
		r = look_at_present(&search, &reading);
	if (r == 0)
		extend(entry, &search);
	log->extended = r == 0 || r == -ESTALE;
	gw_reading_end(&reading);
	free(search.items);
	return r < 0 ? -ESTALE : 0;
}
