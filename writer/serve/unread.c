/* SPDX-License-Identifier: Apache-2.0 */
/* A place leaves its list when a search of the list finds nothing unread in the place's queue. */
#include "writer/serve/unread.h"

#include <errno.h>
#include <stdlib.h>

int
unread_reserve(struct unread *u, size_t capacity)
{
	struct unread_place **places = reallocarray(u->places, capacity, sizeof(struct unread_place *));

	if (!places)
		return -ENOMEM;
	u->places = places;
	return 0;
}

void
unread_note_places(struct unread_queue *q)
{
	for (size_t i = 0; i < q->place_count; i++) {
		struct unread_place *place = &q->places[i];

		if (!place->noted)
			place->list->places[place->list->count++] = place;
		place->noted = true;
	}
	q->noted = true;
}

void
unread_forget(struct unread_queue *q)
{
	for (size_t i = 0; i < q->place_count; i++) {
		struct unread_place *place = &q->places[i];
		struct unread *u = place->list;

		for (size_t k = 0; place->noted && k < u->count; k++) {
			if (u->places[k] != place)
				continue;
			u->places[k] = u->places[--u->count];
			break;
		}
		if (u->lowest_of == place)
			u->lowest_of = NULL;
	}
	free(q->places);
	q->places = NULL;
	q->place_count = 0;
	q->noted = false;
}

static void
look_for_lowest(struct unread *u)
{
	u->lowest_of = NULL;
	u->lowest = UINT64_MAX;
	for (size_t i = 0; i < u->count;) {
		struct unread_place *place = u->places[i];
		uint64_t seq = ring_out_lowest(place->queue->ring);

		if (seq == UINT64_MAX) {
			place->noted = place->queue->noted = false;
			u->places[i] = u->places[--u->count];
			continue;
		}
		if (seq < u->lowest) {
			u->lowest = seq;
			u->lowest_of = place;
		}
		i++;
	}
}

struct unread_queue *
unread_lowest(struct unread *u, uint64_t *ret_seq)
{
	if (!u->lowest_of || ring_out_lowest(u->lowest_of->queue->ring) != u->lowest)
		look_for_lowest(u);
	*ret_seq = u->lowest;
	return u->lowest_of ? u->lowest_of->queue : NULL;
}

uint64_t
unread_held_bytes(const struct unread_queue *q, const struct store *store)
{
	uint64_t lowest = ring_out_lowest(q->ring), bytes = 0;

	if (lowest == UINT64_MAX)
		return 0;
	for (size_t i = 0; i < q->place_count; i++)
		bytes += store_held_bytes(store, q->places[i].resource, lowest ? lowest - 1 : 0);
	return bytes;
}
