/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateway's handles of libinformer, and what else all of its arena section stands on.
 *
 *	handles for events   60 handlers each; their snapshots are of a moment
 *	handle for reads     views and look-ups: where its snapshots are held for so long that informerd takes
 *	                     the memory back, no feed loses its place
 *
 * One epoll descriptor stands for all of them, so that the loop has one.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_ARENA_HANDLES_H
#define TOOLS_INFORMER_GATEWAY_ARENA_ARENA_HANDLES_H

#include "tools/informer-gateway/history/arena_feed.h"

#define GW_HANDLES_MAX 6u /* of events: more handlers than there can be resources */

struct gw_moment;

/*
 * socket_path    of informerd; NULL: libinformer's own choice
 * reader_name    what informerctl stat calls us
 * history_bytes  for the log of each resource
 * history, views  what all logs, and all views, may hold
 * held_views     how many views of earlier RVs are kept for continue tokens
 * hold_ms        and for how long
 * now_ms         the clock, monotonic; NULL: the system's
 * on_told        called after a resource's `told` moved, from gw_arena_dispatch() alone; may be NULL
 * log            as informer_options has it
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
	unsigned handlers[GW_HANDLES_MAX]; /* how many each has */
	int epoll, kick;                   /* kick: there is something to do besides what a handle says */
	struct api_registry registry;      /* what is cached, and known kinds that are not served */
	struct gw_entry **entries;         /* in no order; they stay where they are */
	unsigned count;
	bool known; /* of all that informerd caches it is known what it is: what is not there is not cached */
	struct gw_moment *moments; /* of views (arena_view.h), the newest first */
	uint64_t seen_epoch, seen_generation;
	uint8_t seen_lineage[16];
	unsigned same_looks; /* that showed them, though something newer was said to be there */
};

/*
 * Open epoll, the first handle for events and the one for reads. The arena is zeroed but for its options, and
 * its epoll and kick are -1. Returns 0, negative errno; gw_handles_close() in any case.
 */
int gw_handles_open(struct gw_arena *arena);
void gw_handles_close(struct gw_arena *arena);

/* Give the handles their turns, a bounded number of them. */
void gw_handles_dispatch(struct gw_arena *arena);
/* Make the descriptor readable; it stays so until gw_handles_rest(). */
void gw_handles_kick(struct gw_arena *arena);
void gw_handles_rest(struct gw_arena *arena);

/* A handle for events that has room for another handler: its number, counted; -EUSERS, or negative. */
int gw_handles_take_room(struct gw_arena *arena);
void gw_handles_give_room(struct gw_arena *arena, unsigned handle);

uint64_t gw_arena_now_ms(const struct gw_arena *arena);

#endif
