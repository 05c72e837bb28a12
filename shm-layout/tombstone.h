/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tombstones: what remains of deleted objects, for readers that come late.
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
 *   object  ref of the BLOCK_OBJECT as it was last; its body stays whole for as long as the tombstone stands
 *   flags   TOMBSTONE_UNSEEN: that it was gone only showed in a list, or in another object of its name;
 *           object is its last known state
 *
 * `deleted` finds a tombstone by the object's key, and by every value that it had in the indexes uid, podIP
 * and containerID (as far as the resource has them). Different things lie in one trie, so what is found is
 * compared by the rule of what was asked for.
 *
 * resource.tombstone_floor: deletions with seq > floor all stand here. It rises when the oldest go, by count,
 * bytes or age.
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

/* Under which kind of value a tombstone is filed: it is mixed into the value's hash. */
enum tombstone_by {
	TOMBSTONE_BY_KEY = 0,
	TOMBSTONE_BY_UID = 1,
	TOMBSTONE_BY_ADDRESS = 2,
	TOMBSTONE_BY_CONTAINER = 3
};

/* hash: object.key_hash for BY_KEY, index_value_hash() of the value for the others. */
static inline uint64_t
tombstone_hash(uint64_t hash, enum tombstone_by by)
{
	return hash ^ (uint64_t)by * 0x9e3779b97f4a7c15ull;
}

/* The tombstone of this ref, checked (not what it refers to: load that once); NULL when damaged. */
static inline const struct tombstone *
tombstone_at(const struct arena_view *view, uint32_t ref)
{
	const struct block *b = block_at(view, ref, BLOCK_TOMBSTONE, sizeof(struct tombstone));

	return b ? (const struct tombstone *)(const void *)b->payload : NULL;
}

#endif
