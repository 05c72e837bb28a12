/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DeltaFIFO's internals, shared by delta_fifo.c and delta_fifo_replace.c: what Deltas mean. A
 * delta_table stores them.
 *
 * Invariants
 * - Every node stands in one of two lists, `queue` and `waiting`, except the one that process() is looking
 *   at. Each list keeps a key's nodes in the order of their arrival. A key's nodes in `waiting` are older
 *   than those in `queue`.
 * - A key's first node is not dead, and its ref is not 0: the key is read from there.
 * - A node's ref is a draft. A burial's ref is the known object if the burial is its key's first node, else
 *   0: an earlier node will change the known object.
 * - A node's `found` is true. The store is asked when the node is queued as its key's first, or when it is
 *   popped.
 */
#ifndef WRITER_FIFO_DELTA_FIFO_INTERNAL_H
#define WRITER_FIFO_DELTA_FIFO_INTERNAL_H

#include "shm-layout/root.h"
#include "writer/fifo/delta_fifo_replace.h"
#include "writer/fifo/delta_table.h"

enum node_flags {
	NODE_BURIAL = 1, /* a deletion that a list implies */
	NODE_LISTED = 2, /* of a list */
	NODE_DEAD = 4,   /* a burial without an object; its entry may be freed */
};

struct delta_fifo {
	struct store *store;
	unsigned resource;
	struct delta_table table;
	size_t listed; /* nodes with NODE_LISTED */
	uint64_t lists;

	uint8_t version_length;
	char version[RESOURCE_VERSION_MAX];
};

/* Prefetch an object: its header, its key and the beginning of its body. */
static inline void
delta_fifo_expect(const struct delta_fifo *f, uint32_t ref)
{
	const uint8_t *at = store_arena(f->store)->view.base + ref_offset(ref);

	for (unsigned i = 0; i < 8; i++)
		__builtin_prefetch(at + (size_t)i * 64);
}

/* The entry of an object's key, or DELTA_NONE. */
uint32_t delta_fifo_entry(const struct delta_fifo *f, const struct object *key);

/*
 * Add a node to a list of nodes, after delta_table_reserve(&f->table, 1, 1). entry is the result of
 * delta_fifo_entry(). Returns the key's entry.
 */
uint32_t delta_fifo_queue(struct delta_fifo *f, uint32_t entry, uint64_t key_hash, struct delta_node node,
			  struct delta_list *to);

/*
 * Ask the store about a draft. A draft that repeats the known object is discarded; the item then names that
 * object.
 */
struct delta_item delta_fifo_look(struct delta_fifo *f, uint32_t draft);

static inline bool
delta_item_is_unchanged(struct delta_item item)
{
	return item.ref == item.found;
}

#endif
