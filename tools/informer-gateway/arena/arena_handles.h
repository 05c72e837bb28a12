/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena handles: the gateway's libinformer handles, and the options and state of its arena part.
 *
 *	handles for events   up to 60 handlers each; their snapshots end at once
 *	handle for reads     views and look-ups. informerd may revoke its long snapshots; no feed is affected
 *
 * One epoll descriptor covers all handles, so the loop watches one descriptor.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_ARENA_HANDLES_H
#define TOOLS_INFORMER_GATEWAY_ARENA_ARENA_HANDLES_H

#include "tools/informer-gateway/history/arena_feed.h"

#define GW_HANDLES_MAX 6u /* for events: room for more handlers than there can be resources */

struct gw_moment;

/*
 * socket_path    informerd's; NULL: libinformer's default
 * reader_name    our name in informerctl stat
 * history_bytes  limit of each resource's log
 * history, views  limits of all logs, and of all views, together
 * held_views     most snapshots of earlier RVs kept for continue tokens
 * hold_ms        how long each of them is kept
 * now_ms         monotonic clock; NULL: the system's
 * on_told        called after a resource's `told` RV has grown, only from gw_arena_dispatch(); may be NULL
 * log            as in informer_options
 */
struct gw_arena_options {
	const char *socket_path, *reader_name;
	size_t history_bytes;
	struct api_share *history, *views;
	unsigned held_views;
	unsigned hold_ms;
	uint64_t (*now_ms)(void);
	void (*on_told)(void *context, const struct api_resource *resource, uint64_t rv);
	void (*log)(void *context, enum informer_log_level level, const char *message);
	void *context;
};

struct gw_entry;

struct gw_arena {
	struct gw_arena_options options;
	struct informer *reads, *events[GW_HANDLES_MAX];
	unsigned handlers[GW_HANDLES_MAX]; /* handlers on each handle */
	int epoll, kick;                   /* kick: eventfd for work that no handle reports */
	struct api_registry registry;      /* cached resources, and known kinds that are not served */
	struct gw_entry **entries;         /* unordered; an entry's address does not change */
	unsigned count;
	bool known; /* informerd's table is fully resolved: a resource that is not in it is not cached */
	struct gw_moment *moments; /* snapshots of views (arena_view.h), newest first */
	uint64_t seen_epoch, seen_generation;
	uint8_t seen_lineage[16];
	unsigned same_looks; /* looks in a row at this epoch although a newer one was reported */
};

/*
 * Open epoll, the first handle for events and the one for reads. The arena must be zeroed except options, and
 * epoll and kick must be -1. Returns 0, or a negative errno. Call gw_handles_close() in either case.
 */
int gw_handles_open(struct gw_arena *arena);
void gw_handles_close(struct gw_arena *arena);

/* Dispatch all handles, at most 16 rounds. */
void gw_handles_dispatch(struct gw_arena *arena);
/* Make the descriptor readable until gw_handles_rest(). */
void gw_handles_kick(struct gw_arena *arena);
void gw_handles_rest(struct gw_arena *arena);

/*
 * Reserve room for a handler: returns the number of a handle for events. -EUSERS: all are full; or another
 * negative error.
 */
int gw_handles_take_room(struct gw_arena *arena);
void gw_handles_give_room(struct gw_arena *arena, unsigned handle);

uint64_t gw_arena_now_ms(const struct gw_arena *arena);

#endif
