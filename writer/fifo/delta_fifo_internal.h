/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What delta_fifo.c and delta_fifo_replace.c share: what the Deltas mean. They are kept in a delta_table.
 *
 * Invariants
 *   - every node stands in one of two lists, `queue` and `waiting`, but for the one that process() is looking
 *     at; those of a key in both in the order of their arrival, and none in `queue` before one in `waiting`
 *     has had its turn
 *   - a key's first node is not dead and its ref is not 0: the key is read from there
 *   - a node's ref is a draft; a burial's is the known object when it stands first of its key, else 0, for a
 *     node before it changes what is known
 *   - what a node found is true: it is asked when the node is queued and stands first of its key, or when it
 *     is popped
 */
#ifndef WRITER_FIFO_DELTA_FIFO_INTERNAL_H
#define WRITER_FIFO_DELTA_FIFO_INTERNAL_H

#include "shm-layout/root.h"
#include "writer/fifo/delta_fifo_replace.h"
#include "writer/fifo/delta_table.h"

enum node_flags {
	NODE_BURIAL = 1, /* a delete that was not seen */
	NODE_LISTED = 2, /* of a list */
	NODE_DEAD = 4,   /* a burial that says nothing any more; its entry may be gone */
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

/* An object will be looked at soon: its header, its key and the beginning of its body. */
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
 * Add a node to a list of nodes, after delta_table_reserve(&f->table, 1, 1). entry is delta_fifo_entry()'s
 * answer. Returns the entry of the key.
 */
uint32_t delta_fifo_queue(struct delta_fifo *f, uint32_t entry, uint64_t key_hash, struct delta_node node,
			  struct delta_list *to);

/* What the store knows of a draft's key. A draft that repeats it gives way to the known object. */
struct delta_item delta_fifo_look(struct delta_fifo *f, uint32_t draft);

static inline bool
delta_item_is_unchanged(struct delta_item item)
{
	return item.ref == item.found;
}

#endif
