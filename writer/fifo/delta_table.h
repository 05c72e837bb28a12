/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A delta table stores a DeltaFIFO: a pool of entries (keys), a pool of nodes (Deltas), a hash table over
 * the entries, and lists of nodes. Entries and nodes are named by 32-bit index. A node stands in one list,
 * linked by `next`, and in the chain of its key's nodes, oldest first, linked by `later`. Pools grow by
 * doubling, so a key needs no allocation of its own. An empty table gives large pools back to the system.
 *
 * The table does not know the meaning of keys and refs: delta_fifo.c does.
 */
#ifndef WRITER_FIFO_DELTA_TABLE_H
#define WRITER_FIFO_DELTA_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define DELTA_NONE UINT32_MAX

struct delta_entry {
	uint64_t key_hash;
	uint32_t bucket_next;	/* or the next free one */
	uint32_t first, last;	/* nodes; first is DELTA_NONE: the entry is free */
	uint32_t list;          /* number of the last list with the key (delta_fifo_replace.c) */
};

struct delta_node {
	uint32_t ref;
	uint32_t found;
	uint32_t next;		/* in its list, or among the free ones */
	uint32_t later;
	uint32_t entry;
	uint8_t type;
	uint8_t flags;
};

_Static_assert(sizeof(struct delta_entry) == 24 && sizeof(struct delta_node) == 24,
	       "delta_table: delta_fifo.h says what a key and a Delta cost");

struct delta_list {
	uint32_t head, tail;
	size_t count;
};
#define DELTA_LIST_EMPTY ((struct delta_list){DELTA_NONE, DELTA_NONE, 0})

struct delta_table {
	struct delta_entry *entries;
	struct delta_node *nodes;
	uint32_t *buckets; /* as many as entry_capacity, a power of two */
	uint32_t entry_capacity, entry_used, entry_free, entries_free_count;
	uint32_t node_capacity, node_used, node_free, nodes_free_count;
	struct delta_list queue, waiting;
};

/* Reserve memory for so many keys and Deltas. 0 or -ENOMEM. */
int delta_table_reserve(struct delta_table *t, size_t entries, size_t nodes);
/* Empty the table and give large pools back. A zeroed table must be reset before its first use. */
void delta_table_reset(struct delta_table *t);
void delta_table_done(struct delta_table *t);

/*
 * Make a node, after delta_table_reserve(). Cannot fail.
 * entry     of its key; DELTA_NONE: make a new entry with key_hash
 * Returns   the node, the last of its key, in no list yet
 */
uint32_t delta_node_new(struct delta_table *t, uint32_t entry, uint64_t key_hash, struct delta_node node);

void delta_node_free(struct delta_table *t, uint32_t node);
/* Prefetch the entry of a node's key, which will be freed soon. */
void delta_node_expect(const struct delta_table *t, uint32_t node);
/* Free an entry whose key has no node any more. */
void delta_entry_free(struct delta_table *t, uint32_t entry);

/* The first entry of a hash's bucket; bucket_next leads to the others. DELTA_NONE at the end. */
uint32_t delta_bucket(const struct delta_table *t, uint64_t key_hash);

void delta_list_append(struct delta_table *t, struct delta_list *l, uint32_t node);
uint32_t delta_list_take(struct delta_table *t, struct delta_list *l); /* the first; l must not be empty */
/* Append all of `second` to `first`; `second` is empty then. */
void delta_list_join(struct delta_table *t, struct delta_list *first, struct delta_list *second);

#endif
