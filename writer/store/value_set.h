/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value set holds the filed values of one object in one index: hashed, sorted, without duplicates.
 * index_change.c compares the sets of an object's old and new state side by side.
 */
#ifndef WRITER_STORE_VALUE_SET_H
#define WRITER_STORE_VALUE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/store/index_plan.h"

struct value_entry {
	uint64_t hash;
	uint32_t offset;
	uint32_t length;
	bool filed;		/* for the caller: the index has it */
	bool stays;             /* for the caller: the object has it before and after the change */
};

/* Zeroed is empty; keeps its memory between uses. */
struct value_set {
	struct value_entry *entries;
	size_t count, capacity;
	char *bytes;
	size_t used, room;
};

/*
 * Fill `count` sets with the values of a body, one set for each index. Sets of indexes that are not wanted
 * stay empty. 0, -ENOMEM, -EBADMSG.
 */
int value_sets_fill(struct value_set *sets, unsigned count, struct index_plan *plan, struct value body,
		    index_mask wanted, const uint8_t hash_key[16]);
static inline void
value_set_clear(struct value_set *set)
{
	set->count = 0;
	set->used = 0;
}
void value_set_done(struct value_set *set);

static inline const char *
value_set_bytes(const struct value_set *set, size_t i)
{
	return set->bytes + set->entries[i].offset;
}

/* <0, 0, >0 as entry i of a sorts before, equals, or sorts after entry j of b. */
int value_set_compare(const struct value_set *a, size_t i, const struct value_set *b, size_t j);

#endif
