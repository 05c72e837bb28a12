/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slot places: the addresses at which slots are mapped. Each place serves one published slot, and is never
 * used again.
 *
 * Why: a thread may still be entering a slot that is given up (snapshot.c), to claim a cell and give it back.
 * So private memory replaces that slot until detach, and no other slot comes to its address.
 *
 * Cost: SLOT_BYTES of address space, in whole pages, for each attach, and one mapping for FIELD_PLACES of
 * them. The places lie side by side, so the kernel merges the replacements of a field into one mapping. A
 * replacement that no thread touches takes no memory.
 *
 * Threads: with the handle's `lock` held.
 */
#ifndef READER_LIB_ATTACH_SLOT_PLACES_H
#define READER_LIB_ATTACH_SLOT_PLACES_H

#include "reader-lib/base/allocator.h"
#include "shm-layout/slot.h"

/* All zero: empty. used: places taken in the first field. */
struct slot_places {
	struct slot_field *fields;
	unsigned used;
};

/* Map a slot's file at the next place, for this process only. 0 or negative errno. */
int slot_places_map(struct slot_places *p, const struct allocator *memory, int fd, struct slot **ret_slot);
/* The slot at the next place was published: take the place. */
void slot_places_take(struct slot_places *p);
/* The slot at the next place will not be published: unmap it, and keep the place as the next. */
void slot_places_leave(struct slot *slot);
/* Give up a slot: private memory replaces it. Without memory, the slot stays. */
void slot_places_stand_in(struct slot *slot);
/* Unmap all places. in_child: unmap nothing, because other memory may be mapped there in a forked child. */
void slot_places_done(struct slot_places *p, const struct allocator *memory, bool in_child);

#endif
