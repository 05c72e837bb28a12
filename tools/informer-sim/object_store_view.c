/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views one resource at an RV, and restores the whole store to an RV. Both undo the ring's events: a key's
 * state at an RV is the `prev` of its first later event.
 */
#include "tools/informer-sim/object_store_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
compare_overlay(const void *a, const void *b)
{
	const struct sim_overlay *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->rv > y->rv) - (x->rv < y->rv);
}

/* Keep each key's state at rv: the `prev` of its first later event. */
static void
undo(struct sim_view *view)
{
	size_t kept = 0;

	if (!view->overlay || view->overlay_count == 0)
		return;
	qsort(view->overlay, view->overlay_count, sizeof(*view->overlay), compare_overlay);
	for (size_t i = 0; i < view->overlay_count; i++) {
		struct sim_overlay entry = view->overlay[i];

		if (kept && !strcmp(view->overlay[kept - 1].key, entry.key)) {
			api_object_unref(entry.object);
			api_object_unref(entry.holder);
			continue;
		}
		view->overlay[kept++] = entry;
	}
	view->overlay_count = kept;
}

int
sim_store_view(struct sim_store *store, const struct api_resource *resource, uint64_t rv,
	       struct sim_view *ret_view, uint64_t *ret_position)
{
	struct shelf *shelf = &store->shelves[resource->index];
	struct sim_view view = {.rv = rv};

	pthread_mutex_lock(&store->lock);
	if (rv != 0 && rv < shelf->floor) {
		pthread_mutex_unlock(&store->lock);
		return -ESTALE;
	}
	sim_key_chunks_snapshot(&shelf->table, &view.snapshot);
	if (rv == 0)
		view.rv = store->rv;
	if (ret_position)
		*ret_position = shelf->next;
	if (view.rv < store->rv && shelf->next > shelf->first)
		view.overlay = api_alloc((size_t)(shelf->next - shelf->first) * sizeof(*view.overlay));
	for (uint64_t at = shelf->next; view.overlay && at > shelf->first; at--) {
		const struct api_event *event = &shelf->ring[(at - 1) % store->history];

		if (event->rv <= view.rv)
			break;
		view.overlay[view.overlay_count++] = (struct sim_overlay){
			.key = event->object->key,
			.object = event->prev ? api_object_ref(event->prev) : NULL,
			.holder = api_object_ref(event->object),
			.rv = event->rv};
	}
	pthread_mutex_unlock(&store->lock);
	undo(&view);
	*ret_view = view;
	sim_view_seek(ret_view, "");
	return 0;
}

void
sim_view_done(struct sim_view *view)
{
	for (size_t i = 0; i < view->overlay_count; i++) {
		api_object_unref(view->overlay[i].object);
		api_object_unref(view->overlay[i].holder);
	}
	free(view->overlay);
	sim_snapshot_done(&view->snapshot);
	*view = (struct sim_view){0};
}

void
sim_view_seek(struct sim_view *view, const char *key)
{
	view->place = sim_snapshot_seek(&view->snapshot, key);
	view->ahead = sim_snapshot_next(&view->snapshot, &view->place);
	for (view->overlay_at = 0; view->overlay_at < view->overlay_count; view->overlay_at++)
		if (strcmp(view->overlay[view->overlay_at].key, key) >= 0)
			break;
}

struct api_object *
sim_view_next(struct sim_view *view)
{
	for (;;) {
		const struct sim_overlay *entry = view->overlay_at < view->overlay_count
							  ? &view->overlay[view->overlay_at]
							  : NULL;
		int order = !entry ? -1 : !view->ahead ? 1 : strcmp(view->ahead->key, entry->key);
		struct api_object *object = view->ahead;

		if (order <= 0 && view->ahead)
			view->ahead = sim_snapshot_next(&view->snapshot, &view->place);
		if (order < 0)
			return object;
		view->overlay_at++;
		if (entry->object)
			return entry->object;
	}
}

int
sim_store_restore(struct sim_store *store, uint64_t rv)
{
	int r = 0;

	pthread_mutex_lock(&store->lock);
	for (unsigned i = 0; i < store->count && r == 0; i++)
		if (rv > store->rv || rv < store->shelves[i].floor)
			r = -ESTALE;
	for (unsigned i = 0; i < store->count && r == 0; i++) {
		struct shelf *shelf = &store->shelves[i];
		uint64_t end = shelf->next;

		while (shelf->next > shelf->first) {
			struct api_event *event = &shelf->ring[(shelf->next - 1) % store->history];

			if (event->rv > rv) {
				const char *key = event->object->key;

				api_object_unref(event->prev ? sim_key_chunks_put(&shelf->table,
										  api_object_ref(event->prev))
							     : sim_key_chunks_remove(&shelf->table, key));
			}
			api_events_done(event, 1);
			shelf->next--;
		}
		/* each watch loses its position: positions only grow */
		shelf->first = shelf->next = end + 1;
		shelf->floor = rv;
		pthread_cond_broadcast(&shelf->changed);
	}
	if (r == 0)
		store->rv = rv;
	pthread_mutex_unlock(&store->lock);
	return r;
}
