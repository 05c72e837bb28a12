/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments are few: they stand in a list, the newest first, and their items too.
 */
#include "tools/informer-gateway/views/arena_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/arena/arena_take.h"
#include "tools/informer-gateway/views/view_items.h"

/* For how long a moment waits for others that come. */
#define SHARE_MS 1000u
/* How often a view of now looks whether the log has got there. */
#define LOOKS_MAX 8u
/* So many items of hints a moment keeps that no view reads: who asks chooses how many there would be. */
#define UNREAD_MAX 4u

/* readers: views that have been given its items */
struct sorted {
	struct sorted *next;
	struct gw_hint hint;
	struct gw_view_items items;
	unsigned readers;
};

/*
 * sorted    who was asked for last stands first
 * open      views of it
 * until_ms  when nobody has it open: until then it is kept
 */
struct moment {
	struct moment *next;
	struct gw_entry *entry;
	struct gw_reading reading;
	uint64_t rv, era, position;
	struct sorted *sorted;
	unsigned open;
	uint64_t until_ms;
};

struct gw_moments {
	struct moment *first;
};

struct gw_view {
	struct moment *moment;
	struct gw_hint hint;
	struct sorted *sorted; /* NULL: not asked for yet */
	size_t at;
	int error;
};

/* ---- moments ------------------------------------------------------------- */

struct gw_moments *
gw_moments_new(void)
{
	struct gw_moments *moments = api_alloc(sizeof(*moments));

	*moments = (struct gw_moments){0};
	return moments;
}

static void
drop_sorted(struct sorted **at)
{
	struct sorted *sorted = *at;

	*at = sorted->next;
	gw_hint_done(&sorted->hint);
	gw_view_items_done(&sorted->items);
	free(sorted);
}

static void
drop(struct moment **at)
{
	struct moment *m = *at;

	*at = m->next;
	while (m->sorted)
		drop_sorted(&m->sorted);
	gw_reading_end(&m->reading);
	free(m);
}

void
gw_moments_free(struct gw_moments *moments)
{
	while (moments && moments->first)
		drop(&moments->first);
	free(moments);
}

void
gw_moments_expire(struct gw_arena *arena)
{
	uint64_t now = gw_arena_now_ms(arena);
	unsigned idle = 0;

	for (struct moment **at = &arena->moments->first; *at;) {
		const struct moment *m = *at;
		bool kept = m->open > 0 || (m->until_ms > now && m->era == m->entry->feed.log.era &&
					    idle < arena->options.held_views);

		idle += m->open == 0;
		if (kept)
			at = &(*at)->next;
		else
			drop(at);
	}
}

uint64_t
gw_moments_wait_until(const struct gw_arena *arena)
{
	uint64_t until = UINT64_MAX;

	for (const struct moment *m = arena->moments->first; m; m = m->next)
		if (m->open == 0 && m->until_ms < until)
			until = m->until_ms;
	return until;
}

unsigned
gw_moments_count(const struct gw_arena *arena)
{
	unsigned count = 0;

	for (const struct moment *m = arena->moments->first; m; m = m->next)
		count++;
	return count;
}

static struct moment *
kept_moment(const struct gw_entry *entry, uint64_t rv)
{
	struct moment *m = entry->arena->moments->first;

	while (m && (m->entry != entry || m->rv != rv || m->era != entry->feed.log.era))
		m = m->next;
	return m;
}

/* ---- views --------------------------------------------------------------- */

/* Who is concerned by what is taken in is told by the next dispatch. */
static void
take(struct gw_arena *arena)
{
	gw_arena_take(arena);
	gw_handles_kick(arena);
}

int
gw_view_begin_whole(struct gw_entry *entry, struct gw_reading *ret_reading)
{
	for (unsigned i = 0; i < LOOKS_MAX; i++) {
		struct gw_standing standing;
		int r;

		take(entry->arena);
		r = gw_entry_begin(entry, ret_reading);
		if (r < 0)
			return r == INFORMER_E_CORRUPT ? r : -EAGAIN;
		r = gw_entry_standing(entry, &ret_reading->snapshot, &standing);
		if (r == 0) {
			gw_feed_settle(&entry->feed, &standing);
			if (gw_feed_is_at(&entry->feed, &standing))
				return 0;
		}
		gw_reading_end(ret_reading);
		if (entry->gone || !entry->feed.begun)
			break;
	}
	return -EAGAIN;
}

static int
new_moment(struct gw_entry *entry, struct moment **ret_moment)
{
	struct gw_moments *moments = entry->arena->moments;
	struct moment *m = api_alloc(sizeof(*m));
	int r;

	*m = (struct moment){.entry = entry};
	r = gw_view_begin_whole(entry, &m->reading);
	if (r < 0) {
		free(m);
		return r;
	}
	m->rv = entry->feed.log.told;
	m->era = entry->feed.log.era;
	m->position = entry->feed.log.next;
	m->next = moments->first;
	moments->first = m;
	*ret_moment = m;
	return 0;
}

int
gw_view_open(struct gw_entry *entry, uint64_t rv, struct gw_view **ret_view, uint64_t *ret_rv,
	     uint64_t *ret_position)
{
	struct moment *m;
	int r = 0;

	if (rv == 0)
		take(entry->arena);
	if (!entry->feed.begun)
		return -EAGAIN;
	gw_moments_expire(entry->arena);
	m = kept_moment(entry, rv ? rv : entry->feed.log.told);
	if (!m && rv != 0 && rv < entry->feed.log.told)
		return -ESTALE;
	if (!m)
		r = new_moment(entry, &m);
	if (r < 0)
		return r;
	if (rv != 0 && m->rv != rv)
		return -ESTALE;
	m->open++;
	*ret_view = api_alloc(sizeof(**ret_view));
	**ret_view = (struct gw_view){.moment = m};
	*ret_rv = m->rv;
	if (ret_position)
		*ret_position = m->position;
	return 0;
}

void
gw_view_narrow(struct gw_view *view, const struct gw_hint *hint)
{
	if (view->sorted)
		return;
	gw_hint_done(&view->hint);
	gw_hint_copy(&view->hint, hint);
}

/* Those of a hint, taken out of the list; NULL: nobody has asked for them, or they are forgotten. */
static struct sorted *
take_sorted(struct moment *m, const struct gw_hint *hint)
{
	struct sorted **at = &m->sorted, *found;

	while (*at && !gw_hint_equal(&(*at)->hint, hint))
		at = &(*at)->next;
	found = *at;
	if (found)
		*at = found->next;
	return found;
}

static struct sorted *
sort(struct gw_view *view)
{
	struct gw_view_items items;
	struct sorted *sorted;

	view->error = gw_view_items_fill(&items, view->moment->entry, &view->moment->reading, &view->hint);
	if (view->error < 0)
		return NULL;
	sorted = api_alloc(sizeof(*sorted));
	*sorted = (struct sorted){.items = items};
	gw_hint_copy(&sorted->hint, &view->hint);
	return sorted;
}

/* Its items, from now on; another view may have sorted them already. */
static bool
filled(struct gw_view *view)
{
	struct moment *m = view->moment;
	struct sorted *sorted;

	if (view->sorted || view->error < 0)
		return view->sorted != NULL;
	sorted = take_sorted(m, &view->hint);
	if (!sorted)
		sorted = sort(view);
	if (!sorted)
		return false;
	sorted->next = m->sorted;
	m->sorted = sorted;
	sorted->readers++;
	view->sorted = sorted;
	return true;
}

/* Keep the newest of those that nobody reads. */
static void
forget_unread(struct moment *m)
{
	unsigned unread = 0;

	for (struct sorted **at = &m->sorted; *at;)
		if ((*at)->readers == 0 && ++unread > UNREAD_MAX)
			drop_sorted(at);
		else
			at = &(*at)->next;
}

void
gw_view_seek(struct gw_view *view, const char *key)
{
	if (filled(view))
		view->at = gw_key_seek(view->sorted->items.items, view->sorted->items.count, key);
}

struct api_object *
gw_view_next(struct gw_view *view)
{
	struct api_object *object;
	int r;

	if (!filled(view) || view->at == view->sorted->items.count)
		return NULL;
	r = gw_object_make(&view->moment->entry->maker, &view->sorted->items.items[view->at].object, &object);
	if (r < 0) {
		view->error = r;
		view->at = view->sorted->items.count;
		return NULL;
	}
	view->at++;
	return object;
}

size_t
gw_view_count(struct gw_view *view, const char *prefix)
{
	size_t length = strlen(prefix), at = view->at, count = 0;

	for (; filled(view) && at < view->sorted->items.count; at++)
		count += !strncmp(view->sorted->items.items[at].key, prefix, length);
	return count;
}

int
gw_view_error(const struct gw_view *view)
{
	return view->error;
}

static void
keep_for(struct moment *m, unsigned ms)
{
	uint64_t until = gw_arena_now_ms(m->entry->arena) + ms;

	if (until > m->until_ms)
		m->until_ms = until;
}

void
gw_view_hold(struct gw_view *view)
{
	if (!view->moment->reading.brief)
		keep_for(view->moment, view->moment->entry->arena->options.hold_ms);
}

void
gw_view_close(struct gw_view *view)
{
	struct moment *m;

	if (!view)
		return;
	m = view->moment;
	m->open--;
	if (view->sorted) {
		view->sorted->readers--;
		forget_unread(m);
	}
	keep_for(m, SHARE_MS);
	if (view->error < 0)
		m->until_ms = 0; /* nobody else is to meet that */
	gw_hint_done(&view->hint);
	free(view);
	gw_moments_expire(m->entry->arena);
}

struct api_object *
gw_view_get(struct gw_entry *entry, const char *key)
{
	struct gw_reading reading;
	struct api_object *object = NULL;
	struct informer_object found;

	if (gw_entry_begin(entry, &reading) < 0)
		return NULL;
	if (informer_get_key(&reading.snapshot, reading.resource, key, strlen(key), &found) == 0 &&
	    informer_object_position(&found) == entry->position &&
	    gw_object_make(&entry->maker, &found, &object) < 0)
		object = NULL;
	gw_reading_end(&reading);
	return object;
}
