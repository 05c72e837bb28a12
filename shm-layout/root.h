/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root: the immutable record from which one version of the whole store is reached, and a
 * resource's part of it.
 *
 *   root ──▶ resource[0] ──▶ identity trie   hash of "namespace/name" ──▶ ordinal
 *        │               ├─▶ ordinals trie   ordinal ──▶ object
 *        │               ├─▶ by-seq trie     seq ──▶ ordinal, or tombstone
 *        │               ├─▶ index[0..n)     hash of a value ──▶ ordinal, or postings
 *        │               └─▶ descriptor      what the resource is and how it is indexed
 *        └▶ resource[1] …
 *
 * A commit writes the resource blocks that changed and a new root, and stores its offset in the header:
 * all resources and all indexes change together.
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
 *   tag             tag.h, root tag; checked by the writer at adoption
 *   epoch           the commit's number; never 0 or 1 (slot.h)
 *   seq             the last modification sequence number given out
 *   lineage         random id of an unbroken count of seq; kept by adoption
 *   committed_*_ns  when it was published
 *   consumers       ref of a BLOCK_CONSUMERS (consumer.h), or 0
 *   table           epoch of the last root in which a resource came, went, or became another: what was learnt
 *                   from one root about positions and descriptors holds for every root of the same arena with
 *                   the same number
 *   resources       a ref each; the last may be 0: informerd is configured to cache more, and the API server
 *                   has not said yet what that is. Who finds a name nowhere cannot tell that it is not cached
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
	RESOURCE_LISTING = 1,	/* the first list is not whole yet; its RV says nothing */
	RESOURCE_SYNCED = 2,	/* everything up to its RV is in */
};

#define RESOURCE_VERSION_MAX 63

/*
 * BLOCK_RESOURCE payload.
 *
 *   descriptor        ref of a BLOCK_VALUE: a JSON document (LAYOUT.md, DESCRIPTOR)
 *   state             enum resource_state
 *   object_count      objects present
 *   next_ordinal      ordinals below it have been given out
 *   changed_seq       seq of its last change
 *   tombstone_floor   deletes after this seq still stand in by-seq
 *   complete_from     every deletion after this resourceVersion, a number, has its tombstone, and was seen;
 *                     0: not known since when
 *   fingerprint       three hashes of 8 bytes: where its content is from, which part of that it is, and the
 *                     CA of the server; zeroes: the next writer drops the resource
 *   cluster           the first 8 bytes of BLAKE2b-128 of the id of the cluster that it came from; zeroes:
 *                     not known
 *   version           the API server's resourceVersion, opaque, length first; empty: none
 *   identity, ordinals, by_seq, deleted, indexes[]  links (trie.h; deleted: tombstone.h)
 *   by_key, by_ordinal  refs of BLOCK_SHORTCUTs (shortcut.h), or 0
 *   status            ref of a BLOCK_VALUE: what the Reflector last met (LAYOUT.md, STATUS), or 0
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
	uint32_t indexes[];
};
_Static_assert(offsetof(struct resource, complete_from) == 40, "resource: complete_from moved");
_Static_assert(offsetof(struct resource, fingerprint) == 48, "resource: fingerprint moved");
_Static_assert(offsetof(struct resource, cluster) == 72, "resource: cluster moved");
_Static_assert(offsetof(struct resource, version_length) == 80, "resource: version moved");
_Static_assert(offsetof(struct resource, identity) == 144, "resource: identity moved");
_Static_assert(sizeof(struct resource) == 176, "resource: size");

/*
 * The root at this offset, or NULL: bounds, type, and room for its resources are checked.
 * ret_count   how many these are, as it was checked: the block may become another under a reader that nothing
 *             protects any more, and its count another with it
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

/* Resource i of a root that has so many, as root_load() said; NULL where it is damaged or there is none. */
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
	/* who uses these later checks them again: resource_version(), resource_index() */
	if (r->version_length > RESOURCE_VERSION_MAX ||
	    r->index_count > (length - sizeof(*r)) / sizeof(r->indexes[0]))
		return NULL;
	return r;
}

/* The link of index i, or false: there is none, or it would lie where nothing may be touched. */
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

/* Its version, and of how many bytes that is: RESOURCE_VERSION_MAX at most, whatever stands there. */
static inline const char *
resource_version(const struct resource *r, size_t *ret_length)
{
	uint8_t length = __atomic_load_n(&r->version_length, __ATOMIC_RELAXED);

	*ret_length = length > RESOURCE_VERSION_MAX ? 0 : length;
	return r->version;
}

/* The same two of a root that does not change while one looks: the writer's, a frozen one. */
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
