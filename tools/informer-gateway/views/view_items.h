/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of one entry in a snapshot, sorted by key: all, or those that a hint leaves, by an index where
 * there is one.
 *
 * Cost  a step for each object that the hint leaves, and sorting them; no object is made
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_VIEW_ITEMS_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_VIEW_ITEMS_H

#include "tools/informer-gateway/arena/arena_resources.h"
#include "tools/informer-gateway/views/hint.h"
#include "tools/informer-gateway/views/key_sort.h"

/* Zeroed is empty. The items' objects are the snapshot's. */
struct gw_view_items {
	struct gw_keyed *items;
	size_t count;
	char *keys;
};

/* Returns 0, INFORMER_E_EXPIRED, INFORMER_E_CORRUPT, … */
int gw_view_items_fill(struct gw_view_items *view, struct gw_entry *entry, const struct gw_reading *reading,
		       const struct gw_hint *hint);
void gw_view_items_done(struct gw_view_items *view);

#endif
