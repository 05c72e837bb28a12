/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging collects a resource's state from a LIST, or from the first part of a WatchList, until one Replace
 * puts all of it into the DeltaFIFO. Staged items are drafts, which no root reaches. Readers do not see
 * them, and an unfinished state can be discarded.
 *
 * Memory: 8 private bytes an item. Bodies stand in the arena; an item that repeats its known object takes no
 * room there.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_FIFO_STAGING_H
#define WRITER_FIFO_STAGING_H

#include "writer/fifo/delta_fifo_replace.h"

struct staged_deletion;

struct staging {
	struct delta_fifo *fifo;
	struct delta_item *items;
	size_t count, capacity;
	struct staged_deletion *deletions;	/* in the order of their arrival */
	size_t deletion_count, deletion_capacity;
};

void staging_init(struct staging *s, struct delta_fifo *fifo);
/* Discards everything staged. */
void staging_done(struct staging *s);

/*
 * add     an object that exists
 * change  a newer state of an object that may be staged already; the newer state counts
 * delete  an object that was deleted; an earlier state does not count
 * Returns 0, or -ENOMEM; staging takes the draft in both cases
 */
int staging_add(struct staging *s, uint32_t draft);
int staging_change(struct staging *s, uint32_t draft);
int staging_delete(struct staging *s, uint32_t draft);

/* The state failed: discard everything staged. Staging is then ready for another state. */
void staging_discard(struct staging *s);

/*
 * The state is complete as of this RV: put it into the FIFO. ret_count: its number of objects. Returns as
 * delta_fifo_replace(); after an error everything is still staged.
 */
int staging_replace(struct staging *s, const char *version, uint64_t *ret_count);

#endif
