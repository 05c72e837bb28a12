/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues a whole list, or only the deletions that its keys imply.
 *
 * Invariant: after delta_fifo_replace(), once all queued Deltas are popped, the store has exactly the list's
 * objects. The deletions are queued before the items.
 */
#ifndef WRITER_FIFO_DELTA_FIFO_REPLACE_H
#define WRITER_FIFO_DELTA_FIFO_REPLACE_H

#include "writer/fifo/delta_fifo.h"

/*
 * An item of a list that is still being read. The caller keeps it for delta_fifo_replace(). A draft that
 * repeats the known object is discarded at once, so that a relist needs no room for a second copy of all
 * objects.
 */
struct delta_item {
	uint32_t ref;		/* the draft; the known object when the draft was discarded */
	uint32_t found;         /* store_look()'s answer; FOUND_UNASKED: asked by delta_fifo_replace() */
};
struct delta_item delta_fifo_stage(struct delta_fifo *f, uint32_t draft);
/* Take back a staged item: the list failed. */
void delta_fifo_unstage(struct delta_fifo *f, struct delta_item item);

/*
 * Queue a whole list: first the deletions that it implies, then a REPLACED for each item that changes its
 * object. A deletion is a DELETED without a final state. It is queued for each key, known or only queued,
 * that the list lacks or has with another UID. Nothing else may be queued between the first
 * delta_fifo_stage() and this call.
 *
 * Returns   0: the FIFO takes the items; -ENOMEM: nothing is queued, the caller keeps them
 */
int delta_fifo_replace(struct delta_fifo *f, struct delta_item *items, size_t count);

/*
 * Queue only the deletions that a whole list implies, by its keys. A DELETED without a final state is queued
 * for each known object whose key is missing and has nothing queued. This makes room for a list that does
 * not fit. The content is then between two states, so delta_fifo_version() becomes "".
 *
 * hashes     of the list's keys, as drafts have them; sorted here
 * Returns    0 or -ENOMEM: only some are queued; ret_count: how many
 */
int delta_fifo_bury_others(struct delta_fifo *f, uint64_t *hashes, size_t count, size_t *ret_count);

#endif
