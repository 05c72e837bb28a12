/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Key chunks: a resource's current objects, ordered by key, in chunks that snapshots share.
 *
 * A change copies a chunk only if a snapshot holds it. So a LIST of 100,000 objects begins with some hundred
 * references, and then streams at its client's pace while writers continue.
 *
 *   table     dir -> [chunk][chunk][chunk]...     each: up to 256 ordered objects
 *   snapshot  dir' -> the same chunks, one reference on each
 *
 * Threads   the table belongs to the store, under its lock. A snapshot is taken under that lock and then
 *           belongs to one thread.
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
 * Insert or replace. Takes over the caller's reference; gives the replaced object's reference to the caller,
 * or NULL.
 */
struct api_object *
sim_key_chunks_put(struct sim_key_chunks *table, struct api_object *object);
/* Remove; the caller gets the reference. NULL if there is none. */
struct api_object *
sim_key_chunks_remove(struct sim_key_chunks *table, const char *key);
/* An object chosen by any two numbers, for random picks; borrowed. NULL only if the table is empty. */
struct api_object *
sim_key_chunks_pick(const struct sim_key_chunks *table, size_t chunk, size_t item);

void
sim_key_chunks_snapshot(const struct sim_key_chunks *table, struct sim_snapshot *ret_snapshot);
void
sim_snapshot_done(struct sim_snapshot *snapshot);
/* The position of the first key not below `key`. */
struct sim_place
sim_snapshot_seek(const struct sim_snapshot *snapshot, const char *key);
/* The object at the position, then move on; NULL at the end. Borrowed from the snapshot. */
struct api_object *
sim_snapshot_next(const struct sim_snapshot *snapshot, struct sim_place *place);

#endif
