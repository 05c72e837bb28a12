/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields: the value that an object has under a name, and a memo of where that name was.
 *
 * Invariant: a memo says "absent" only of a shape that was still there after the search. A memo outlives
 * arenas, so it stores nothing that was read from zeros.
 */
#ifndef SHM_LAYOUT_VALUE_FIELD_H
#define SHM_LAYOUT_VALUE_FIELD_H

#include <stdatomic.h>

#include "shm-layout/value.h"

/*
 * A cache of where one name is in the last VALUE_MEMOS shapes: to find the name again costs one comparison.
 * Each word has the upper 48 bits of a shape's integrity tag, and the index of the name in the lower 16 bits.
 * The tag depends on the shape's content and place. Zeroed is empty. Threads may share a memo.
 */
#define VALUE_MEMOS 8u
struct value_memo {
	_Atomic uint64_t words[VALUE_MEMOS];
};

/*
 * Set v, an object, to its field of this name; false: no such field, and v is undefined. In place, because
 * passing a struct value that was just stored word by word stalls the processor: the call copies it by
 * vectors.
 *
 * name_fp  shape_fingerprint() of the name
 * memo     may be NULL
 * Cost     skips the fields before it
 */
bool value_enter(struct value *v, const char *name, size_t length, uint8_t name_fp, struct value_memo *memo);
/* What value_enter() asks for. */
struct value_name {
	const char *text;
	size_t length;
	uint8_t fingerprint;
	struct value_memo *memo;
};
/*
 * Find several fields, of different names, in one pass.
 *
 * names  at most VALUE_NAMES_MAX
 * ret    for each name its field; at == NULL: none
 * Cost   skips the fields before the last of them once
 */
#define VALUE_NAMES_MAX 16u
void value_enter_each(struct value object, const struct value_name *names, unsigned count, struct value *ret);
/* The field; at == NULL when absent. */
struct value value_field(struct value object, const char *name, size_t length, uint8_t name_fp);
/* As value_field(), by a terminated name. */
struct value value_at_name(struct value object, const char *name);

#endif
