/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What informerd caches, as entries, and as a registry of resources for routes and discovery.
 *
 * An entry is one of informerd's: a resource, in all namespaces or in one, whole or as far as selectors go. A
 * request can be answered by an entry that has all that it asks for: what is cached in one namespace says
 * nothing about a list of all.
 *
 *	arena's table ── gw_resources_sync(), each commit ──▶ entries ──▶ registry: served, or gone
 *
 * Invariants
 * - An entry stays where it is for as long as the arena does. One that informerd has no longer is `gone`: its
 *   feed is closed, its watches have lost their place. It comes back when informerd has it again.
 * - A resource in the registry is served as long as some entry has it.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_ARENA_RESOURCES_H
#define TOOLS_INFORMER_GATEWAY_ARENA_ARENA_RESOURCES_H

#include "tools/informer-gateway/arena/arena_handles.h"

/*
 * name            "pods.v1", "deployments.v1.apps"
 * namespace_      the only one; "": all
 * position        in the table, when it was last looked at
 * followed        it has a feed; one that is cached on demand gets it when it is first asked for
 */
struct gw_entry {
	struct gw_arena *arena;
	struct api_resource *resource;
	char *name, *namespace_, *label_selector, *field_selector;
	bool metadata_only, on_demand;
	bool gone, followed, seen;
	unsigned handle; /* for events, that its handler is of */
	uint32_t position;
	struct informer_resource *of_reads,
		*of_events; /* it, by the handle for reads and the first for events */
	struct gw_object_maker maker;
	uint64_t told; /* that on_told was called with */
	struct gw_feed feed;
};

/* Take over the table, and let each feed advance. The snapshot is one of the handle for events. */
void gw_resources_sync(struct gw_arena *arena, const struct informer_snapshot *snapshot);
void gw_resources_done(struct gw_arena *arena);

/* What a request asks for. Texts are borrowed. */
struct gw_want {
	const struct api_resource *resource;
	const char *namespace_;      /* NULL: all */
	const char *labels, *fields; /* selectors as they were asked for; NULL: none */
	const char *key;             /* "namespace/name" or "name", of a GET; NULL: it is none */
	bool narrow;                 /* a part of it will do */
};

/*
 * The entry that has all of what is wanted, or holds its key, or has a part of it where that will do. An
 * entry with selectors has all of it only when the request asks for the same.
 *
 * Returns 0; -ENOENT: it is not cached; -EXDEV: only a part of it is cached
 */
int gw_resources_find(struct gw_arena *arena, const struct gw_want *want, struct gw_entry **ret_entry);
/* Append what is cached of a resource, in words: "in namespace a, or with labelSelector=app=x". */
void gw_resources_parts(void *arena, const struct api_resource *resource, struct api_buf *ret);

/* What a snapshot, of any handle, says of an entry. Returns 0; -ENOENT: it is not there; INFORMER_E_… */
int gw_entry_standing(struct gw_entry *entry, const struct informer_snapshot *snapshot,
		      struct gw_standing *ret_standing);

/*
 * A snapshot in which an entry is read: of the handle for reads, or, while informerd takes none from there
 * (it took its memory back a moment ago), of the one for events; that one must end soon.
 */
struct gw_reading {
	struct informer_snapshot snapshot;
	struct informer_resource *resource;
	bool brief;
};

/*
 * Ended by gw_reading_end(); it must not move until then.
 *
 * Returns 0; what informer_begin() returns; -ENOENT: informerd has the entry no longer
 */
int gw_entry_begin(struct gw_entry *entry, struct gw_reading *ret_reading);
/* A zeroed one is fine. */
void gw_reading_end(struct gw_reading *reading);

/*
 * How long ago the API server was last heard of on this resource, as of now; UINT64_MAX: never, or there is
 * no arena to read. Beyond a minute answers carry a warning.
 */
uint64_t gw_entry_age_ns(struct gw_entry *entry);

#endif
