/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tombstones: what remains of deleted objects, for readers that catch up later. The writer makes them;
 * readers find them.
 *
 *   resource ─┬─▶ by-seq    trie: seq ──▶ immediate ordinal (its object's last change)
 *             │                       ──▶ BLOCK_TOMBSTONE   (a deletion)
 *             └─▶ deleted   trie: tombstone_hash ──▶ BLOCK_TOMBSTONE
 *                                                ──▶ BLOCK_COLLISION of them, newest last
 *
 * BLOCK_TOMBSTONE payload:
 *
 *   0      8                 16                 24       28
 *   +------+-----------------+------------------+--------+----------+
 *   | seq  | deleted_boot_ns | deleted_wall_ns  | object | flags    |
 *   +------+-----------------+------------------+--------+----------+
 *
 *   seq     of the deletion; the object's own seq is that of its last change
 *   object  ref of the BLOCK_OBJECT in its final state; the arena keeps it as long as the tombstone
 *   flags   TOMBSTONE_UNSEEN: the deletion was not seen. A list lacked the object, or its name had another
 *           UID; object is the last known state
 *
 * `deleted` leads to a tombstone from the object's key. It also leads there from each filed value that the
 * object had in the resource's indexes of UIDs, addresses and containers (index_def.h, enum index_role). All
 * of these share one trie, so a reader compares the object's key or values with what it searched for.
 *
 * resource.tombstone_floor: each deletion with a greater seq has a tombstone. The writer raises it when it
 * removes the oldest tombstones, by count, bytes or age.
 */
#ifndef SHM_LAYOUT_TOMBSTONE_H
#define SHM_LAYOUT_TOMBSTONE_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/block.h"

#define TOMBSTONE_UNSEEN 1u

struct tombstone {
	uint64_t seq;
	uint64_t deleted_boot_ns;
	uint64_t deleted_wall_ns;
	uint32_t object;
	uint32_t flags;
};
_Static_assert(sizeof(struct tombstone) == 32, "tombstone: size");
_Static_assert(offsetof(struct tombstone, object) == 24, "tombstone: object moved");

/* The kinds of keys in `deleted`; the kind is mixed into the hash. */
enum tombstone_by {
	TOMBSTONE_BY_KEY = 0,
	TOMBSTONE_BY_UID = 1,
	TOMBSTONE_BY_ADDRESS = 2,
	TOMBSTONE_BY_CONTAINER = 3
};

/* The key in `deleted`. hash: object.key_hash for BY_KEY, else index_value_hash() of the filed value. */
static inline uint64_t
tombstone_hash(uint64_t hash, enum tombstone_by by)
{
	return hash ^ (uint64_t)by * 0x9e3779b97f4a7c15ull;
}

/* The tombstone of this ref; NULL when damaged. Its object is not checked: load t->object once. */
static inline const struct tombstone *
tombstone_at(const struct arena_view *view, uint32_t ref)
{
	const struct block *b = block_at(view, ref, BLOCK_TOMBSTONE, sizeof(struct tombstone));

	return b ? (const struct tombstone *)(const void *)b->payload : NULL;
}

#endif
