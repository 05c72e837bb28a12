/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging: the state of a resource while it comes in, from a LIST or from the first part of a WatchList,
 * until one Replace puts all of it into the DeltaFIFO. What is staged are drafts, which no root reaches:
 * readers see nothing of them, and a state that does not come to its end is taken back without a trace.
 *
 * Memory: 8 private bytes an item; bodies stand in the arena, and an item that says nothing new takes no room
 * there either.
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
/* Takes everything back. */
void staging_done(struct staging *s);

/*
 * add     an object that is there
 * change  a newer state of one that is, or may be; what came before it does not count
 * delete  it is gone; what came before it does not count
 * Return  0, or -ENOMEM; the draft is the staging's also then
 */
int staging_add(struct staging *s, uint32_t draft);
int staging_change(struct staging *s, uint32_t draft);
int staging_delete(struct staging *s, uint32_t draft);

/* Take everything back: it failed. Ready for another state. */
void staging_discard(struct staging *s);

/*
 * It is whole, as of this RV: so many objects. Returns as delta_fifo_replace(); after an error everything is
 * still staged.
 */
int staging_replace(struct staging *s, const char *version, uint64_t *ret_count);

#endif
