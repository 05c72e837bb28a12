/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of one entry in a snapshot, in order of their keys, as upstream's storage has them: all, or
 * those that a hint leaves, by the index that leaves fewest.
 *
 *	gw_items_fill() ── GW_SLICE objects a call ──▶ runs, each sorted ── merged by each reader ──▶ items
 *
 * Cost  filling: a step for each object of the index, and sorting each run; 0.6 us an object. Reading: some
 * comparisons for each item. No object is made
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_VIEW_ITEMS_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_VIEW_ITEMS_H

#include "tools/informer-gateway/arena/arena_resources.h"
#include "tools/informer-gateway/views/hint.h"

/* What one call looks at, at most: other requests are answered before the next. */
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

/* entry, reading: borrowed; the items' objects are the reading's. state: as gw_items_fill() returns */
struct gw_items {
	struct gw_items *next; /* its owner's */
	unsigned readers;      /* the same */
	struct gw_entry *entry;
	const struct gw_reading *reading;
	struct gw_hint hint;
	struct informer_label_selector *selector;
	struct informer_iter it;
	struct gw_run *runs;
	size_t count;
	size_t held; /* of the share: before it is filled, what it is expected to */
	bool begun;
	int state;
};

/*
 * hint: it goes over to the items, also on failure.
 *
 * Returns 0; -ENOBUFS: the share of views has no room for as many as there may be; INFORMER_E_…
 */
int gw_items_new(struct gw_entry *entry, const struct gw_reading *reading, struct gw_hint *hint,
		 struct gw_items **ret_items);
void gw_items_free(struct gw_items *items);
/* Go on. Returns 0: all are there; -EAGAIN: call again; INFORMER_E_EXPIRED, INFORMER_E_CORRUPT, …, for good
 */
int gw_items_fill(struct gw_items *items);

/* Where one reader stands: what is left of each run, as a heap by the next key. Zeroed: at the end. */
struct gw_items_place {
	struct gw_run *rest;
	size_t count;
};

/* Go to the first item whose key is not below this one. All are there. */
void gw_items_seek(const struct gw_items *items, const char *key, struct gw_items_place *place);
/* The next item, or NULL. */
const struct gw_item *gw_items_next(struct gw_items_place *place);
/* How many of those that are left have a key that begins so. */
size_t gw_items_left(const struct gw_items_place *place, const char *prefix);
void gw_items_place_done(struct gw_items_place *place);

#endif
