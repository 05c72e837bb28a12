/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View items: the objects of one entry in a snapshot, in order of keys as in upstream's storage. They are all
 * objects, or those that fit a hint, found by the most selective index.
 *
 *	gw_items_fill() ── GW_SLICE objects a call ──▶ runs, each sorted ── merged by each reader ──▶ items
 *
 * Cost  filling: a step for each object of the index, and a sort of each run; 0.6 us an object. Reading: some
 *       comparisons for each item. No object is made
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_VIEW_ITEMS_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_VIEW_ITEMS_H

#include "tools/informer-gateway/arena/arena_resources.h"
#include "tools/informer-gateway/views/hint.h"

/* Most objects that one call looks at; other requests are served between calls. */
#define GW_SLICE 1024u

/* key: "namespace/name" or "name" */
struct gw_item {
	const char *key;
	struct informer_object object;
};

struct gw_run {
	struct gw_item *items;
	size_t count;
	char *keys;
	size_t key_bytes;
};

/*
 * entry, reading: borrowed; the items' objects belong to the reading. state: the last result of
 * gw_items_fill()
 */
struct gw_items {
	struct gw_items *next; /* for the owner */
	unsigned readers;      /* for the owner */
	struct gw_entry *entry;
	const struct gw_reading *reading;
	struct gw_hint hint;
	struct informer_label_selector *selector;
	struct informer_iter it;
	struct gw_run *runs;
	size_t count;
	size_t held; /* bytes of the share; before filling, an estimate */
	bool begun;
	int state;
};

/*
 * Takes over the hint, also on failure.
 *
 * Returns 0; -ENOBUFS: the share of views has no room for the expected number; INFORMER_E_…
 */
int gw_items_new(struct gw_entry *entry, const struct gw_reading *reading, struct gw_hint *hint,
		 struct gw_items **ret_items);
void gw_items_free(struct gw_items *items);
/*
 * Collect the next slice. Returns 0: all are there; -EAGAIN: call again; INFORMER_E_EXPIRED,
 * INFORMER_E_CORRUPT, …: final
 */
int gw_items_fill(struct gw_items *items);

/* A reader's position: the rest of each run, as a heap by the next key. Zeroed: at the end. */
struct gw_items_place {
	struct gw_run *rest;
	size_t count;
};

/* Move to the first item with this or a higher key. All items must be there. */
void gw_items_seek(const struct gw_items *items, const char *key, struct gw_items_place *place);
/* The next item, or NULL. */
const struct gw_item *gw_items_next(struct gw_items_place *place);
/* Number of remaining items whose key begins with prefix. */
size_t gw_items_left(const struct gw_items_place *place, const char *prefix);
void gw_items_place_done(struct gw_items_place *place);

#endif
