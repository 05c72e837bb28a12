/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known keys: the key of each object that a handler was told and takes for present, with UID or value, and
 * version.
 *
 * They turn a walk over everything into adds, updates and deletes. A key that the store lacks was deleted. A
 * key with another UID was deleted and created anew. A key with another resourceVersion was updated.
 *
 * Cost per key: 40 bytes of private memory and the key's length, 4 to 8 bytes in the table, and what malloc()
 * adds. informer-handlers.h says 64.
 */
#ifndef READER_LIB_EVENTS_KNOWN_KEYS_H
#define READER_LIB_EVENTS_KNOWN_KEYS_H

#include "reader-lib/attach/handle.h"
#include "reader-lib/base/key_table.h"
#include "shm-layout/object.h"

/*
 * uid, version  hashes of metadata.uid and .resourceVersion; 0: none, or unknown
 * value         of a handler with a transform, in place of uid: its value (handler_values.c), or NULL
 * round         of the last episode that met the object
 * position      of its resource in the root
 * key           namespace, then name: node.length bytes
 */
struct known_key {
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
_Static_assert(sizeof(struct known_key) <= 40, "known key: costs more than informer-handlers.h says");

struct known_keys {
	struct key_table table;
};

/* 0 or -ENOMEM. */
int known_keys_init(const struct informer *inf, struct known_keys *t);
/* Free all entries. A zeroed struct is fine. */
void known_keys_done(struct known_keys *t);

/*
 * A key to look up: its bytes, lent, and its hash. If it is of an object in the arena, validate after use;
 * drop what was made of it when that fails.
 */
struct known_name {
	const char *key;
	uint64_t hash;
	uint32_t ns_length, length;
};

/* The key of an object. False: its lengths make no sense. */
bool known_keys_name(const struct known_keys *t, const struct arena_view *view, const struct object *o,
		     struct known_name *ret_name);
struct known_key *known_keys_find(const struct known_keys *t, const struct known_name *name);
/*
 * Make an entry for a key that the table lacks. known_keys_insert() puts it in, or known_keys_drop() frees
 * it. NULL: no memory.
 */
struct known_key *known_keys_make(const struct informer *inf, const struct known_name *name);
void known_keys_insert(struct known_keys *t, struct known_key *entry);
/* NULL is fine. */
void known_keys_drop(const struct informer *inf, struct known_key *entry);
/* Take it out and free it. NULL is fine. */
void known_keys_remove(struct known_keys *t, struct known_key *entry);
/*
 * An entry that was not met in this round, or NULL. at: where the search goes on, 0 at first. The entry found
 * may be removed.
 */
struct known_key *known_keys_unmet(const struct known_keys *t, uint32_t round, size_t *at);
void known_keys_clear(struct known_keys *t);

/* Hash of a text; 0 of an empty one. */
uint64_t known_keys_hash(const struct known_keys *t, const char *text, size_t length);

#endif
