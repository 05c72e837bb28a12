/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handler was told: the key of each object that it takes for present, with UID or value, and version.
 * By it a walk over everything becomes adds, updates and deletes: a key that the store lacks is deleted, one
 * with another UID was deleted and created anew, one with another resourceVersion was updated.
 *
 * Cost: 40 bytes of private memory a key and its length, 4 to 8 in the table, and what malloc() adds:
 * informer-handlers.h says 64.
 */
#ifndef READER_LIB_EVENTS_KNOWN_KEYS_H
#define READER_LIB_EVENTS_KNOWN_KEYS_H

#include "reader-lib/attach/handle.h"
#include "reader-lib/base/key_table.h"
#include "shm-layout/object.h"

/*
 * uid, version   hashes of metadata.uid and .resourceVersion; 0: there is none, or it is not known
 * value          of a handler with a transform, instead of uid: its own (handler_values.c), or NULL
 * round          of the episode in which the object was met last
 * position       of its resource in the root
 * key            namespace, then name, node.length bytes
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
/* Frees all entries. One that is zeroed is fine. */
void known_keys_done(struct known_keys *t);

/*
 * A key that is looked for: where its bytes stand, lent, and its hash. Of an object in the arena all of it is
 * to be validated, and what was made of it dropped where that fails.
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
 * An entry for a key that is not there yet: it stands beside the table until known_keys_insert() puts it in,
 * or known_keys_drop() frees it. NULL: no memory.
 */
struct known_key *known_keys_make(const struct informer *inf, const struct known_name *name);
void known_keys_insert(struct known_keys *t, struct known_key *entry);
/* NULL is fine. */
void known_keys_drop(const struct informer *inf, struct known_key *entry);
/* Take it out and free it. NULL is fine. */
void known_keys_remove(struct known_keys *t, struct known_key *entry);
/*
 * An entry that was not met in this round, or NULL. at: where the search goes on, 0 at first; the entry found
 * may be removed.
 */
struct known_key *known_keys_unmet(const struct known_keys *t, uint32_t round, size_t *at);
void known_keys_clear(struct known_keys *t);

/* Hash of a text; 0 of an empty one. */
uint64_t known_keys_hash(const struct known_keys *t, const char *text, size_t length);

#endif
