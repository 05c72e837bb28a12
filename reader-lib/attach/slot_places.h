/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slot places: the addresses at which slots are mapped, each used for one published slot and for no other.
 *
 * A thread may be on its way into a slot that is given up (snapshot.c): it claims a cell there, and gives it
 * back. So memory of our own stands in for that slot until detach, and no other slot may come to that
 * address. The places lie side by side: to the kernel all stand-ins of a field are one mapping, and a
 * stand-in that no thread touches takes no memory. So a re-attach costs SLOT_BYTES of address space, and
 * FIELD_PLACES of them cost one mapping.
 *
 * Threads: with the handle's `lock` held.
 */
#ifndef READER_LIB_ATTACH_SLOT_PLACES_H
#define READER_LIB_ATTACH_SLOT_PLACES_H

#include "reader-lib/base/allocator.h"
#include "shm-layout/slot.h"

/* Zeroed is empty. used: places of the first field that were taken */
struct slot_places {
	struct slot_field *fields;
	unsigned used;
};

/* Map a slot's file at the next place, for this process alone. 0 or negative errno. */
int slot_places_map(struct slot_places *p, const struct allocator *memory, int fd, struct slot **ret_slot);
/* The slot at the next place is published: the place is taken. */
void slot_places_take(struct slot_places *p);
/* The slot at the next place is published to nobody: the place stays the next. */
void slot_places_leave(struct slot *slot);
/* The slot is given up: memory of our own takes its place. If there is none, the slot stays. */
void slot_places_stand_in(struct slot *slot);
/* Unmap all. In a forked child nothing is mapped there, or something else is. */
void slot_places_done(struct slot_places *p, const struct allocator *memory, bool in_child);

#endif
