/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root, from which one version of all resources is reached, and the resource block. Both are immutable.
 * The writer makes them; readers reach them through the header's root word.
 *
 *   root ──▶ resource[0] ──▶ identity trie   hash of "namespace/name" ──▶ ordinal
 *        │               ├─▶ ordinals trie   ordinal ──▶ object
 *        │               ├─▶ by-seq trie     seq ──▶ ordinal, or tombstone
 *        │               ├─▶ index[0..n)     hash of a value ──▶ ordinal, or postings
 *        │               └─▶ descriptor      what the resource is and how it is indexed
 *        └▶ resource[1] …
 *
 * A commit writes the resource blocks that changed and a new root, then stores the root's offset in the
 * header. So all resources and all indexes change together.
 */
#ifndef SHM_LAYOUT_ROOT_H
#define SHM_LAYOUT_ROOT_H

#include <stdint.h>
#include <string.h>

#include "shm-layout/block.h"
#include "shm-layout/header.h"

/*
 * BLOCK_ROOT payload.
 *
 *   tag             root tag (tag.h); the next writer checks it when it takes over the content
 *   epoch           number of the commit; at least EPOCH_FIRST (slot.h)
 *   seq             number of the newest change
 *   lineage         random id of an unbroken count of seq; a generation that takes over content keeps it
 *   committed_*_ns  when the root was published
 *   consumers       ref of a BLOCK_CONSUMERS (consumer.h), or 0
 *   table           epoch of the last root that added or removed a resource, or changed its descriptor or
 *                   fingerprint. Roots of one arena with equal tables have equal positions and descriptors
 *   resources       the ref of each resource. The last ref may be 0: a configured resource is not in the root
 *                   yet, because discovery has not resolved it. Then a name that is in no resource may still
 *                   become one
 */
struct root {
	uint8_t tag[32];
	uint64_t epoch;
	uint64_t seq;
	uint8_t lineage[16];
	uint64_t committed_boot_ns;
	uint64_t committed_wall_ns;
	uint32_t resource_count;
	uint32_t consumers;
	uint64_t table;
	uint32_t resources[];
};
_Static_assert(offsetof(struct root, epoch) == 32, "root: epoch moved");
_Static_assert(offsetof(struct root, lineage) == 48, "root: lineage moved");
_Static_assert(offsetof(struct root, resource_count) == 80, "root: resource_count moved");
_Static_assert(offsetof(struct root, table) == 88, "root: table moved");
_Static_assert(sizeof(struct root) == 96, "root: size");

enum resource_state {
	RESOURCE_LISTING = 1,	/* no complete list is in; the RV means nothing */
	RESOURCE_SYNCED = 2,	/* all changes up to the RV are in */
};

#define RESOURCE_VERSION_MAX 63

/*
 * BLOCK_RESOURCE payload.
 *
 *   descriptor        ref of a BLOCK_VALUE: a JSON document (LAYOUT.md, DESCRIPTOR)
 *   state             enum resource_state
 *   object_count      objects present
 *   next_ordinal      all ordinals are below it
 *   changed_seq       seq of the resource's last change
 *   tombstone_floor   each deletion with a greater seq has a tombstone in by-seq
 *   complete_from     each deletion after this resourceVersion (as a number) was seen and has a tombstone;
 *                     0: not known
 *   fingerprint       three hashes of 8 bytes: the source of the content, the selection from that source, and
 *                     the server's CA; zeroes: the next writer drops the resource
 *   cluster           the first 8 bytes of BLAKE2b-128 of the cluster's id; zeroes: not known
 *   version           the API server's resourceVersion, opaque; version_length 0: none
 *   valued_seq        seq of the last change after which some object could be found by a value, in any index,
 *                     by which it could not be found before; new objects included
 *   identity, ordinals, by_seq, deleted, indexes[]  links (trie.h; deleted: tombstone.h)
 *   by_key, by_ordinal  refs of BLOCK_SHORTCUTs (shortcut.h), or 0
 *   status            ref of a BLOCK_VALUE: the Reflector's last error (LAYOUT.md, STATUS), or 0
 */
struct resource {
	uint32_t descriptor;
	uint32_t state;
	uint64_t object_count;
	uint64_t next_ordinal;
	uint64_t changed_seq;
	uint64_t tombstone_floor;
	uint64_t complete_from;
	uint8_t fingerprint[24];
	uint8_t cluster[8];
	uint8_t version_length;
	char version[RESOURCE_VERSION_MAX];
	uint32_t identity;
	uint32_t ordinals;
	uint32_t by_seq;
	uint32_t deleted;
	uint32_t by_key;
	uint32_t by_ordinal;
	uint32_t status;
	uint32_t index_count;
	uint64_t valued_seq;
	uint32_t indexes[];
};
_Static_assert(offsetof(struct resource, complete_from) == 40, "resource: complete_from moved");
_Static_assert(offsetof(struct resource, fingerprint) == 48, "resource: fingerprint moved");
_Static_assert(offsetof(struct resource, cluster) == 72, "resource: cluster moved");
_Static_assert(offsetof(struct resource, version_length) == 80, "resource: version moved");
_Static_assert(offsetof(struct resource, identity) == 144, "resource: identity moved");
_Static_assert(offsetof(struct resource, valued_seq) == 176, "resource: valued_seq moved");
_Static_assert(offsetof(struct resource, indexes) == 184, "resource: indexes moved");

/*
 * The root at this offset. Bounds, type, and room for its resources are checked; NULL when damaged.
 *
 * ret_count   the checked number of resources. Use this copy: under a revoked reader the block's own count
 *             may change
 */
static inline const struct root *
root_load(const struct arena_view *view, uint64_t offset, uint32_t *ret_count)
{
	const struct block *b;
	const struct root *root;
	uint32_t length = 0;

	if (offset % REF_UNIT != 0 || offset / REF_UNIT > REF_MAX)
		return NULL;
	b = block_load(view, (uint32_t)(offset / REF_UNIT), BLOCK_ROOT, sizeof(struct root), &length);
	if (!b)
		return NULL;
	root = (const struct root *)(const void *)b->payload;
	*ret_count = block_word(&root->resource_count);
	if (*ret_count > RESOURCE_MAX || length < sizeof(*root) + *ret_count * sizeof(root->resources[0]))
		return NULL;
	return root;
}

/* Resource i of a root with `count` resources (root_load()); NULL when it is damaged or absent. */
static inline const struct resource *
root_resource_of(const struct arena_view *view, const struct root *root, uint32_t count, uint32_t i)
{
	const struct block *b;
	const struct resource *r;
	uint32_t length = 0;

	if (i >= count)
		return NULL;
	b = block_load(view, block_word(&root->resources[i]), BLOCK_RESOURCE, sizeof(struct resource),
		       &length);
	if (!b)
		return NULL;
	r = (const struct resource *)(const void *)b->payload;
	/* resource_version() and resource_index() check these again */
	if (r->version_length > RESOURCE_VERSION_MAX ||
	    r->index_count > (length - sizeof(*r)) / sizeof(r->indexes[0]))
		return NULL;
	return r;
}

/* The link of index i. False when the resource has no such index, or the link lies beyond committed bytes. */
static inline bool
resource_index(const struct arena_view *view, const struct resource *r, uint32_t i, uint32_t *ret_link)
{
	uint64_t end = (uint64_t)((const uint8_t *)r->indexes - view->base) +
		       ((uint64_t)i + 1) * sizeof(r->indexes[0]);

	if (i >= block_word(&r->index_count) || end > view->committed)
		return false;
	*ret_link = block_word(&r->indexes[i]);
	return true;
}

/* The resource's version, not terminated. ret_length is at most RESOURCE_VERSION_MAX; 0: none, or damaged. */
static inline const char *
resource_version(const struct resource *r, size_t *ret_length)
{
	uint8_t length = __atomic_load_n(&r->version_length, __ATOMIC_RELAXED);

	*ret_length = length > RESOURCE_VERSION_MAX ? 0 : length;
	return r->version;
}

/* As root_load() and root_resource_of(), for a root that cannot change: the writer's, or one in a copy. */
static inline const struct root *
root_at(const struct arena_view *view, uint64_t offset)
{
	uint32_t count;

	return root_load(view, offset, &count);
}

static inline const struct resource *
root_resource(const struct arena_view *view, const struct root *root, uint32_t i)
{
	return root_resource_of(view, root, root->resource_count, i);
}

#endif
