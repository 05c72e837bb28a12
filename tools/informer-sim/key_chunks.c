/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordered chunks with copy on write: a snapshot holds a chunk with more than one reference, and a change
 * copies the chunk.
 */
#include "tools/informer-sim/key_chunks.h"

#include <stdlib.h>
#include <string.h>

static struct sim_chunk *
chunk_new(void)
{
	struct sim_chunk *chunk = api_alloc(sizeof(*chunk));

	atomic_init(&chunk->refs, 1);
	chunk->count = 0;
	return chunk;
}

static void
chunk_unref(struct sim_chunk *chunk)
{
	if (atomic_fetch_sub_explicit(&chunk->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (unsigned i = 0; i < chunk->count; i++)
		api_object_unref(chunk->items[i]);
	free(chunk);
}

/* The chunk at dir[i], without other references. Acquire: a snapshot's last read happened before. */
static struct sim_chunk *
chunk_own(struct sim_key_chunks *table, size_t i)
{
	struct sim_chunk *chunk = table->dir[i], *copy;

	if (atomic_load_explicit(&chunk->refs, memory_order_acquire) == 1)
		return chunk;
	copy = chunk_new();
	copy->count = chunk->count;
	for (unsigned k = 0; k < chunk->count; k++)
		copy->items[k] = api_object_ref(chunk->items[k]);
	chunk_unref(chunk);
	table->dir[i] = copy;
	return copy;
}

/* The last chunk whose first key is not above `key`; 0 if none is. */
static size_t
find_chunk(struct sim_chunk *const *dir, size_t chunks, const char *key)
{
	size_t low = 0, high = chunks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(dir[middle]->items[0]->key, key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}

/* The first item whose key is not below `key`. */
static unsigned
find_item(const struct sim_chunk *chunk, const char *key)
{
	unsigned low = 0, high = chunk->count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (strcmp(chunk->items[middle]->key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
sim_key_chunks_done(struct sim_key_chunks *table)
{
	for (size_t i = 0; i < table->chunks; i++)
		chunk_unref(table->dir[i]);
	free(table->dir);
	*table = (struct sim_key_chunks){0};
}

struct api_object *
sim_key_chunks_get(const struct sim_key_chunks *table, const char *key)
{
	const struct sim_chunk *chunk;
	unsigned at;

	if (table->chunks == 0)
		return NULL;
	chunk = table->dir[find_chunk(table->dir, table->chunks, key)];
	at = find_item(chunk, key);
	if (at == chunk->count || strcmp(chunk->items[at]->key, key) != 0)
		return NULL;
	return chunk->items[at];
}

static void
insert_chunk(struct sim_key_chunks *table, size_t at, struct sim_chunk *chunk)
{
	if (table->chunks == table->cap) {
		table->cap = table->cap ? table->cap * 2 : 16;
		table->dir = api_realloc(table->dir, table->cap * sizeof(struct sim_chunk *));
	}
	memmove(&table->dir[at + 1], &table->dir[at], (table->chunks - at) * sizeof(struct sim_chunk *));
	table->dir[at] = chunk;
	table->chunks++;
}

struct api_object *
sim_key_chunks_put(struct sim_key_chunks *table, struct api_object *object)
{
	struct sim_chunk *chunk;
	size_t which;
	unsigned at;

	if (table->chunks == 0)
		insert_chunk(table, 0, chunk_new());
	which = table->dir[0]->count ? find_chunk(table->dir, table->chunks, object->key) : 0;
	chunk = chunk_own(table, which);
	at = find_item(chunk, object->key);
	if (at < chunk->count && strcmp(chunk->items[at]->key, object->key) == 0) {
		struct api_object *old = chunk->items[at];

		chunk->items[at] = object;
		return old;
	}
	if (chunk->count == SIM_CHUNK_MAX) {
		struct sim_chunk *upper = chunk_new();
		/* keys in ascending order fill whole chunks */
		unsigned keep = at == SIM_CHUNK_MAX && which + 1 == table->chunks ? SIM_CHUNK_MAX
										  : SIM_CHUNK_MAX / 2;

		upper->count = SIM_CHUNK_MAX - keep;
		memcpy(upper->items, chunk->items + keep, upper->count * sizeof(struct api_object *));
		chunk->count = keep;
		insert_chunk(table, which + 1, upper);
		if (at >= keep) {
			chunk = upper;
			at -= keep;
		}
	}
	memmove(&chunk->items[at + 1], &chunk->items[at], (chunk->count - at) * sizeof(struct api_object *));
	chunk->items[at] = object;
	chunk->count++;
	table->count++;
	return NULL;
}

struct api_object *
sim_key_chunks_remove(struct sim_key_chunks *table, const char *key)
{
	struct sim_chunk *chunk;
	struct api_object *old;
	size_t which;
	unsigned at;

	if (!sim_key_chunks_get(table, key))
		return NULL;
	which = find_chunk(table->dir, table->chunks, key);
	chunk = chunk_own(table, which);
	at = find_item(chunk, key);
	old = chunk->items[at];
	chunk->count--;
	memmove(&chunk->items[at], &chunk->items[at + 1], (chunk->count - at) * sizeof(struct api_object *));
	if (chunk->count == 0) {
		chunk_unref(chunk);
		table->chunks--;
		memmove(&table->dir[which], &table->dir[which + 1],
			(table->chunks - which) * sizeof(struct sim_chunk *));
	}
	table->count--;
	return old;
}

struct api_object *
sim_key_chunks_pick(const struct sim_key_chunks *table, size_t chunk, size_t item)
{
	const struct sim_chunk *chosen;

	if (table->count == 0)
		return NULL;
	chosen = table->dir[chunk % table->chunks];
	return chosen->items[item % chosen->count];
}

void
sim_key_chunks_snapshot(const struct sim_key_chunks *table, struct sim_snapshot *ret_snapshot)
{
	struct sim_snapshot snapshot = {.chunks = table->chunks, .count = table->count};

	snapshot.dir = api_alloc(table->chunks * sizeof(struct sim_chunk *));
	for (size_t i = 0; i < table->chunks; i++) {
		snapshot.dir[i] = table->dir[i];
		atomic_fetch_add_explicit(&snapshot.dir[i]->refs, 1, memory_order_relaxed);
	}
	*ret_snapshot = snapshot;
}

void
sim_snapshot_done(struct sim_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->chunks; i++)
		chunk_unref(snapshot->dir[i]);
	free(snapshot->dir);
	*snapshot = (struct sim_snapshot){0};
}

struct sim_place
sim_snapshot_seek(const struct sim_snapshot *snapshot, const char *key)
{
	struct sim_place place = {0};

	if (snapshot->chunks == 0)
		return place;
	place.chunk = find_chunk(snapshot->dir, snapshot->chunks, key);
	place.item = find_item(snapshot->dir[place.chunk], key);
	return place;
}

struct api_object *
sim_snapshot_next(const struct sim_snapshot *snapshot, struct sim_place *place)
{
	while (place->chunk < snapshot->chunks) {
		const struct sim_chunk *chunk = snapshot->dir[place->chunk];

		if (place->item < chunk->count)
			return chunk->items[place->item++];
		place->chunk++;
		place->item = 0;
	}
	return NULL;
}
