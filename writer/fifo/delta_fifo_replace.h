/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delta replace: a whole list, or only its keys, against the known objects and what is queued.
 *
 * Invariant: after delta_fifo_replace() the store will have the list's objects and no others, once all that
 * is queued was popped. The deletions stand before the items.
 */
#ifndef WRITER_FIFO_DELTA_FIFO_REPLACE_H
#define WRITER_FIFO_DELTA_FIFO_REPLACE_H

#include "writer/fifo/delta_fifo.h"

/*
 * An item of a list that is being read, to be kept by the caller for delta_fifo_replace(). A draft that says
 * nothing new is discarded here already, so that a relist needs no room for a second copy of everything.
 */
struct delta_item {
	uint32_t ref;		/* the draft; the known object when the draft was discarded */
	uint32_t found;		/* what was known of its key; FOUND_UNASKED: it is asked at the end */
};
struct delta_item delta_fifo_stage(struct delta_fifo *f, uint32_t draft);
/* Take back a staged item: the list failed. */
void delta_fifo_unstage(struct delta_fifo *f, struct delta_item item);

/*
 * A whole list: a DELETED that was not seen for each key that is known to the store, or only queued, and is
 * not in the list, or is in it with another UID; then a REPLACED for each item that says something new.
 * Between the first delta_fifo_stage() and this call nothing else may be queued.
 *
 * Returns   0: the items are the FIFO's; -ENOMEM: nothing is queued, they stay the caller's
 */
int delta_fifo_replace(struct delta_fifo *f, struct delta_item *items, size_t count);

/*
 * The keys of a whole list: queue a DELETED that was not seen for each known object whose key is missing,
 * unless something is queued for that key. These deletions make room for a list that does not fit. The known
 * objects are then between two states, so delta_fifo_version() becomes "".
 *
 * hashes     of the keys, as drafts have them; sorted here
 * Returns    0 or -ENOMEM: some are queued; ret_count: how many
 */
int delta_fifo_bury_others(struct delta_fifo *f, uint64_t *hashes, size_t count, size_t *ret_count);

#endif
