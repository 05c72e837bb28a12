/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource's current objects, ordered by key, in chunks that snapshots share.
 *
 * Changing the table copies a chunk only if a snapshot still holds it, so a LIST
 * of a hundred thousand objects begins by taking some hundred references and
 * then streams for as long as its client likes, while writers go on.
 *
 *   table     dir -> [chunk][chunk][chunk]...     each: up to 256 ordered objects
 *   snapshot  dir' -> the same chunks, one reference on each
 *
 * Threads   the table is its owner's (the store's, under its lock), snapshots are
 *           taken there and then belong to their thread.
 */
#ifndef TOOLS_INFORMER_SIM_KEY_CHUNKS_H
#define TOOLS_INFORMER_SIM_KEY_CHUNKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/serving/stored_object.h"

#define SIM_CHUNK_MAX 256

struct sim_chunk {
	_Atomic unsigned refs;
	unsigned count;
	struct api_object *items[SIM_CHUNK_MAX];
};

struct sim_key_chunks {
	struct sim_chunk **dir;
	size_t chunks;
	size_t cap;
	size_t count;
};

struct sim_snapshot {
	struct sim_chunk **dir;
	size_t chunks;
	size_t count;
};

/* A place in a snapshot. */
struct sim_place {
	size_t chunk;
	unsigned item;
};

void
sim_key_chunks_done(struct sim_key_chunks *table);
/* Borrowed until the table changes; NULL if there is none. */
struct api_object *
sim_key_chunks_get(const struct sim_key_chunks *table, const char *key);
/*
 * Insert or replace. Takes over the caller's reference; returns the one replaced, now the caller's, or
 * NULL.
 */
struct api_object *
sim_key_chunks_put(struct sim_key_chunks *table, struct api_object *object);
/* Take out; the reference is the caller's. NULL if there is none. */
struct api_object *
sim_key_chunks_remove(struct sim_key_chunks *table, const char *key);
/*
 * The n-th object in order of chunks, for random picks: any n; borrowed, NULL only when the table is
 * empty.
 */
struct api_object *
sim_key_chunks_pick(const struct sim_key_chunks *table, size_t chunk, size_t item);

void
sim_key_chunks_snapshot(const struct sim_key_chunks *table, struct sim_snapshot *ret_snapshot);
void
sim_snapshot_done(struct sim_snapshot *snapshot);
/* The first place whose key is not below `key`. */
struct sim_place
sim_snapshot_seek(const struct sim_snapshot *snapshot, const char *key);
/* The object there, then step on; NULL at the end. Borrowed from the snapshot. */
struct api_object *
sim_snapshot_next(const struct sim_snapshot *snapshot, struct sim_place *place);

#endif
