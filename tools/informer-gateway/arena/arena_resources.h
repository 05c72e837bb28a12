/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena resources: informerd's resource table as entries, and as a registry for routes and discovery.
 *
 * An entry is one row of informerd's table: a resource in all namespaces or in one, complete or limited by
 * selectors. An entry can answer a request only if it holds all that the request asks for. An entry for one
 * namespace cannot answer a list of all namespaces.
 *
 *	arena's table ── gw_resources_sync(), each commit ──▶ entries ──▶ registry: served, or gone
 *
 * Invariants
 * - An entry lives, at a fixed address, as long as the arena. An entry that informerd has dropped is `gone`:
 *   its feed is closed and its watches have lost their place. It returns when informerd caches it again.
 * - A resource of the registry is served while at least one entry has it.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_ARENA_RESOURCES_H
#define TOOLS_INFORMER_GATEWAY_ARENA_ARENA_RESOURCES_H

#include "tools/informer-gateway/arena/arena_handles.h"

/*
 * name            "pods.v1", "deployments.v1.apps"
 * namespace_      its only namespace; "": all
 * position        in informerd's table, at the last sync
 * followed        it has a feed; an on-demand entry gets one at its first request
 */
struct gw_entry {
	struct gw_arena *arena;
	struct api_resource *resource;
	char *name, *namespace_, *label_selector, *field_selector;
	bool metadata_only, on_demand;
	bool gone, followed, seen;
	unsigned handle; /* number of the handle for events */
	uint32_t position;
	struct informer_resource *of_reads,
		*of_events; /* this resource on the handle for reads and on the first for events */
	struct gw_object_maker maker;
	uint64_t told; /* the last RV given to on_told */
	struct gw_feed feed;
};

/*
 * Update the entries from the table, and advance each feed. The snapshot must be of the first handle for
 * events.
 */
void gw_resources_sync(struct gw_arena *arena, const struct informer_snapshot *snapshot);
void gw_resources_done(struct gw_arena *arena);

/* What a request asks for. Texts are borrowed. */
struct gw_want {
	const struct api_resource *resource;
	const char *namespace_;      /* NULL: all */
	const char *labels, *fields; /* selectors as they were asked for; NULL: none */
	const char *key;             /* of a GET: "namespace/name" or "name"; NULL: not a GET */
	bool narrow;                 /* an entry with a part of it will do */
};

/*
 * Finds the entry that has all of what is wanted, or has the key, or (narrow) has a part. An entry with
 * selectors has all of it only if the request has the same selectors.
 *
 * Returns 0; -ENOENT: it is not cached; -EXDEV: only a part of it is cached
 */
int gw_resources_find(struct gw_arena *arena, const struct gw_want *want, struct gw_entry **ret_entry);
/* Append which parts of a resource are cached: "in namespace a, or with labelSelector=app=x". */
void gw_resources_parts(void *arena, const struct api_resource *resource, struct api_buf *ret);

/* Read an entry's state from a snapshot of any handle. Returns 0; -ENOENT: not in it; INFORMER_E_… */
int gw_entry_standing(struct gw_entry *entry, const struct informer_snapshot *snapshot,
		      struct gw_standing *ret_standing);

/*
 * A snapshot for reading an entry. It is of the handle for reads. If informerd has just revoked that handle's
 * snapshots, it is of the handle for events (`brief`) and must end soon.
 */
struct gw_reading {
	struct informer_snapshot snapshot;
	struct informer_resource *resource;
	bool brief;
};

/*
 * Begin a reading. End it with gw_reading_end(); it must not move until then.
 *
 * Returns 0; what informer_begin() returns; -ENOENT: informerd no longer has the entry
 */
int gw_entry_begin(struct gw_entry *entry, struct gw_reading *ret_reading);
/* A zeroed one is fine. */
void gw_reading_end(struct gw_reading *reading);

/*
 * Time since informerd last heard from the API server about this resource; UINT64_MAX: never, or no arena.
 * Answers carry a warning if it is above a minute.
 */
uint64_t gw_entry_age_ns(struct gw_entry *entry);

#endif
