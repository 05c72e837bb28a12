/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys that a handler with track_keys was told of: what is there, as far as it knows. With it, even a
 * RESYNC becomes adds, updates and deletes: what the table has and the store has not is deleted, what has
 * another uid was deleted and created anew, what has another resourceVersion was updated.
 *
 * Cost: 64 bytes of private memory a key and its length, and 8 to 16 in the table: informer-handlers.h
 * says 80.
 */
#ifndef READER_LIB_EVENTS_TOLD_KEYS_H
#define READER_LIB_EVENTS_TOLD_KEYS_H

#include "reader-lib/attach/handle.h"
#include "reader-lib/base/key_table.h"
#include "shm-layout/object.h"
#include "shm-layout/value.h"

/*
 * uid, version   hashes of metadata.uid and .resourceVersion; 0: it has none
 * value          in a table of values (handler_values.c): the handler's own, instead of uid
 * round          of the RESYNC in which it was met last
 * position       of its resource in the root
 * key            namespace, then name, node.length bytes
 */
struct told_key {
	struct key_node node;
	union {
		uint64_t uid;
		void *value;
	};
	uint64_t version;
	uint32_t round;
	uint16_t position;
	uint8_t ns_length;
	char key[];
};
_Static_assert(sizeof(struct told_key) <= 48, "told key: costs more than informer-handlers.h says");

/* Zeroed is empty; the table is made with the first key. */
struct told_keys {
	struct key_table table;
};

struct told_key *told_keys_find(const struct told_keys *t, const struct object *o);
/* The entry of an object's key, new if need be; NULL: no memory. */
struct told_key *told_keys_get(const struct informer *inf, struct told_keys *t, const struct object *o);
/* NULL is fine. */
void told_keys_remove(struct told_keys *t, struct told_key *entry);
/*
 * An entry that was not met in this round, or NULL. at: where the search goes on, 0 at first; the entry found
 * may be removed.
 */
struct told_key *told_keys_unmet(const struct told_keys *t, uint32_t round, size_t *at);
void told_keys_clear(struct told_keys *t);

/* Hash of a text; 0 for one that is not there. */
uint64_t told_keys_hash(const struct told_keys *t, struct value text);

#endif
