/* SPDX-License-Identifier: Apache-2.0 */
/* There are few moments, in a list, newest first. Each has a list of its items, most recently used first. */
#include "tools/informer-gateway/views/arena_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/arena/arena_take.h"
#include "tools/informer-gateway/views/view_items.h"

/* How long a closed moment waits for further views. */
#define SHARE_MS 1000u
/* Item lists without a view that a moment keeps. Clients choose the number of different hints. */
#define UNREAD_MAX 4u

/*
 * items: most recently used first. open: number of views. until_ms: a moment without views is kept until
 * then.
 */
struct gw_moment {
	struct gw_moment *next;
	struct gw_entry *entry;
	struct gw_reading reading;
	uint64_t rv, era, position;
	struct gw_items *items;
	unsigned open;
	uint64_t until_ms;
};

struct api_view {
	struct gw_moment *moment;
	struct gw_items *items; /* NULL: not chosen, or no room */
	struct gw_items_place place;
	bool failed;
};

/* ---- moments ------------------------------------------------------------- */

static void
drop_items(struct gw_items **at)
{
	struct gw_items *items = *at;

	*at = items->next;
	gw_items_free(items);
}

static void
drop(struct gw_moment **at)
{
	struct gw_moment *m = *at;

	*at = m->next;
	while (m->items)
		drop_items(&m->items);
	gw_reading_end(&m->reading);
	free(m);
}

void
gw_moments_free(struct gw_arena *arena)
{
	while (arena->moments)
		drop(&arena->moments);
}

void
gw_moments_expire(struct gw_arena *arena)
{
	uint64_t now = gw_arena_now_ms(arena);
	unsigned idle = 0;

	for (struct gw_moment **at = &arena->moments; *at;) {
		const struct gw_moment *m = *at;
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

	for (const struct gw_moment *m = arena->moments; m; m = m->next)
		if (m->open == 0 && m->until_ms < until)
			until = m->until_ms;
	return until;
}

unsigned
gw_moments_count(const struct gw_arena *arena)
{
	unsigned count = 0;

	for (const struct gw_moment *m = arena->moments; m; m = m->next)
		count++;
	return count;
}

static struct gw_moment *
kept_moment(const struct gw_entry *entry, uint64_t rv)
{
	struct gw_moment *m = entry->arena->moments;

	while (m && (m->entry != entry || m->rv != rv || m->era != entry->feed.log.era))
		m = m->next;
	return m;
}

/* ---- views --------------------------------------------------------------- */

static int
new_moment(struct gw_entry *entry, struct gw_moment **ret_moment)
{
	struct gw_moment *m = api_alloc(sizeof(*m));
	int r;

	*m = (struct gw_moment){.entry = entry};
	r = gw_entry_begin_whole(entry, &m->reading);
	if (r < 0) {
		free(m);
		return r;
	}
	m->rv = entry->feed.log.told;
	m->era = entry->feed.log.era;
	m->position = entry->feed.log.next;
	m->next = entry->arena->moments;
	entry->arena->moments = m;
	*ret_moment = m;
	return 0;
}

int
gw_view_open(struct gw_entry *entry, uint64_t rv, struct api_view **ret_view, uint64_t *ret_rv,
	     uint64_t *ret_position)
{
	struct gw_moment *m;

	if (rv == 0)
		gw_arena_take_untold(entry->arena);
	if (!entry->feed.begun)
		return -EAGAIN;
	gw_moments_expire(entry->arena);
	m = kept_moment(entry, rv ? rv : entry->feed.log.told);
	if (!m && rv != 0 && rv < entry->feed.log.told)
		return -ESTALE;
	if (!m && new_moment(entry, &m) < 0)
		return -EAGAIN;
	if (rv != 0 && m->rv != rv)
		return -ESTALE;
	m->open++;
	*ret_view = api_alloc(sizeof(**ret_view));
	**ret_view = (struct api_view){.moment = m};
	*ret_rv = m->rv;
	if (ret_position)
		*ret_position = m->position;
	return 0;
}

/* Free item lists without a view, except the `most` most recently used. */
static void
forget_unread(struct gw_moment *m, unsigned most)
{
	unsigned unread = 0;

	for (struct gw_items **at = &m->items; *at;)
		if ((*at)->readers == 0 && ++unread > most)
			drop_items(at);
		else
			at = &(*at)->next;
}

/* Find the items of a hint, which another view may be filling, and move them to the front. */
static struct gw_items *
find_items(struct gw_moment *m, const struct gw_hint *hint)
{
	struct gw_items **at = &m->items, *found;

	while (*at && !gw_hint_equal(&(*at)->hint, hint))
		at = &(*at)->next;
	found = *at;
	if (found) {
		*at = found->next;
		found->next = m->items;
		m->items = found;
	}
	return found;
}

/* Free item lists without a view when less than half of the room is left. */
static void
make_room(const struct gw_arena *arena)
{
	if (api_share_room(arena->options.views) > arena->options.views->most / 2)
		return;
	for (struct gw_moment *m = arena->moments; m; m = m->next)
		forget_unread(m, 0);
}

int
gw_view_choose(struct api_view *view, struct gw_hint *hint)
{
	struct gw_moment *m = view->moment;
	int r = 0;

	make_room(m->entry->arena);
	view->items = find_items(m, hint);
	if (view->items) {
		gw_hint_done(hint);
	} else if ((r = gw_items_new(m->entry, &m->reading, hint, &view->items)) == 0) {
		view->items->next = m->items;
		m->items = view->items;
	}
	if (r == 0)
		view->items->readers++;
	else if (r != -ENOBUFS)
		view->failed = true; /* gw_view_ready() reports it */
	return r == -ENOBUFS ? r : 0;
}

int
gw_view_ready(struct api_view *view)
{
	int r = view->failed ? -ESTALE : gw_items_fill(view->items);

	view->failed |= r < 0 && r != -EAGAIN;
	return view->failed ? -ESTALE : r;
}

void
gw_view_seek(struct api_view *view, const char *key)
{
	gw_items_seek(view->items, key, &view->place);
}

struct api_object *
gw_view_next(struct api_view *view)
{
	const struct gw_item *item = view->failed ? NULL : gw_items_next(&view->place);
	struct api_object *object;

	if (!item)
		return NULL;
	view->failed = gw_object_make(&view->moment->entry->maker, &item->object, &object) < 0;
	return view->failed ? NULL : object;
}

uint64_t
gw_view_count(struct api_view *view, const char *prefix)
{
	return gw_items_left(&view->place, prefix);
}

int
gw_view_error(struct api_view *view)
{
	return view->failed ? -ESTALE : 0;
}

static void
keep_for(struct gw_moment *m, unsigned ms)
{
	uint64_t until = gw_arena_now_ms(m->entry->arena) + ms;

	if (until > m->until_ms)
		m->until_ms = until;
}

void
gw_view_hold(struct api_view *view)
{
	if (!view->moment->reading.brief)
		keep_for(view->moment, view->moment->entry->arena->options.hold_ms);
}

void
gw_view_close(struct api_view *view)
{
	struct gw_moment *m = view->moment;

	m->open--;
	if (view->items) {
		view->items->readers--;
		forget_unread(m, UNREAD_MAX);
	}
	keep_for(m, SHARE_MS);
	if (view->failed)
		m->until_ms = 0; /* no other view may use the moment */
	gw_items_place_done(&view->place);
	free(view);
	gw_moments_expire(m->entry->arena);
}
