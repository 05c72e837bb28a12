/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that wait for an object, each for one or more callers, and the callers' deadlines.
 *
 *	add ──▶ fresh ──not found──▶ looked ──a change has the key──▶ fresh
 *	           └────found──▶ taken           └──deadline──▶ taken
 *
 * Threads: the caller locks. A key is valid until its last caller was taken.
 */
#ifndef READER_LIB_EVENTS_PARKED_KEYS_H
#define READER_LIB_EVENTS_PARKED_KEYS_H

#include "reader-lib/base/delay_heap.h"
#include "reader-lib/base/key_table.h"

struct parked_key;

/* One caller. deadline.at 0: it has no deadline. */
struct parked {
	struct delayed deadline;
	struct parked_key *key;
	struct parked *previous, *next;
	void *context;
};

struct parked_list {
	struct parked_key *first, *last;
};

struct parked_key {
	struct key_node node;
	struct parked_list *list; /* fresh or looked */
	struct parked_key *previous, *next;
	struct parked *first, *last;
	char text[];
};

/*
 * fresh   keys to be looked up
 * looked  keys that were looked up and not found
 * count   callers
 */
struct parked_keys {
	struct allocator memory;
	struct key_table table;
	struct delay_heap deadlines;
	struct parked_list fresh, looked;
	size_t count;
};

/* Returns 0 or -ENOMEM. parked_keys_done() frees it, also after a failure. */
int parked_keys_init(struct parked_keys *keys, const struct allocator *memory);
/* Free everything. An all-zero struct is allowed. */
void parked_keys_done(struct parked_keys *keys);

/*
 * Add a caller to a key, which is fresh if it is new.
 *
 * end_ns   the deadline; UINT64_MAX: none
 * Returns  0 or -ENOMEM
 */
int parked_keys_add(struct parked_keys *keys, const char *text, size_t length, uint64_t end_ns,
		    void *context);

/* A change has this key: look it up again, if it is there. */
void parked_keys_touch(struct parked_keys *keys, const char *text, size_t length);
/* Look up all keys again. */
void parked_keys_touch_all(struct parked_keys *keys);
/* The key was not found. */
void parked_keys_looked(struct parked_keys *keys, struct parked_key *key);

/*
 * Take the first caller of a key, and with its last caller the key. Free it with allocator_put().
 *
 * ret_last  the key is gone; may be NULL
 */
struct parked *parked_keys_take(struct parked_keys *keys, struct parked_key *key, bool *ret_last);
/* Take a caller whose deadline has come; NULL: none. */
struct parked *parked_keys_take_expired(struct parked_keys *keys, uint64_t now_ns);
/* The next deadline; UINT64_MAX: none. */
static inline uint64_t
parked_keys_deadline(const struct parked_keys *keys)
{
	const struct delayed *top = delay_heap_top(&keys->deadlines);

	return top ? top->ready_ns : UINT64_MAX;
}

#endif
