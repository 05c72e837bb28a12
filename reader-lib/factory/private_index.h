/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private index: the values that a caller's function returns for each object in a scope, kept in this
 * process's own memory.
 *
 *   values ──▶ value ──▶ entry ──▶ entry …     an entry is one value of one object
 *                          │
 *   records ──▶ record ────┘                   a record is one key: its entries, the seq of its last change
 *                 │
 *   newest ───────┴──▶ record ──▶ record …     in order of seq
 *
 * The index shows one version, `seq` of `lineage`. A lookup answers for its snapshot:
 *
 *	a later snapshot           the index is brought there first: by-seq tells what changed, deletions
 *	                           included, as far back as tombstones reach
 *	a slightly older snapshot  the index stays; the keys that changed since are found by the order of
 *	                           records, and only these are looked at in the older state
 *	older than known_from      the function is called for every object of the snapshot
 *	other lineage, deletions   the index is made anew
 *	forgotten, damage
 *
 * The index holds no reference to the arena: records hold keys, and results are looked up in the snapshot.
 *
 * Threads: any. Each use holds the index's lock, and the function is called with it held.
 */
#ifndef READER_LIB_FACTORY_PRIVATE_INDEX_H
#define READER_LIB_FACTORY_PRIVATE_INDEX_H

#include <pthread.h>

#include "reader-lib/read/found_list.h"
#include "reader-lib/informer-factory.h"
#include "reader-lib/factory/scope.h"
#include "reader-lib/base/text_set.h"

typedef void (*index_function)(void *context, const struct informer_object *object, informer_emit_value emit,
			       void *emit_context);

struct index_entry {
	struct index_record *record;
	struct index_value *value;
	struct index_entry *next_of_record;
	struct index_entry *next_of_value, **at_of_value;
};

/*
 * present: the object is in the scope and has values. Other records are kept for a time, for older snapshots.
 */
struct index_record {
	struct key_node node;
	uint64_t seq;
	bool present;
	struct index_entry *entries;
	struct index_record *newer, *older;
	char key[];
};

struct index_value {
	struct key_node node;
	struct index_entry *first;
	char bytes[];
};

/*
 * seq, lineage  the version that the index shows
 * known_from    changes after this seq are known key by key
 * parts         of the resource's binding, as one number
 * valid         false: the index is to be made anew
 */
struct private_index {
	struct private_index *next;
	const struct scope *scope;
	index_function function;
	void *context;
	pthread_mutex_t lock;
	struct allocator memory;
	struct key_table records, values;
	struct index_record *newest, *oldest;
	size_t absent; /* records that are not `present` */
	uint64_t seq, known_from;
	uint8_t lineage[16];
	uint64_t parts;
	bool valid;
	char name[];
};

/* scope: borrowed. Returns 0 or -ENOMEM. */
int private_index_new(const struct scope *scope, const char *name, index_function function, void *context,
		      struct private_index **ret_index);
void private_index_free(struct private_index *ix);	/* NULL is fine */

/* Append the objects of a snapshot that have a value, as they are in the arena. */
int private_index_find(struct private_index *ix, const struct informer_snapshot *snapshot, const char *value,
		       size_t length, struct found_list *list);
/* Collect all values that objects of a snapshot have. */
int private_index_values(struct private_index *ix, const struct informer_snapshot *snapshot,
			 struct text_set *values);
/* Collect the values of one object, in the scope or not. */
int private_index_values_of(const struct private_index *ix, const struct informer_object *object,
			    struct text_set *values);

/* ---- what the two files share ---- */

/*
 * private_index.c: bring the index to a snapshot's version where that is cheap.
 * Returns 1: the index shows it; 0: the snapshot is older; negative: error
 */
int private_index_bring_to(struct private_index *ix, const struct informer_snapshot *snapshot);

#endif
