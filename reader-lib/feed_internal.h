/*
 * What feed.c (turns) and feed_next.c (items) share.
 */
#ifndef READER_LIB_FEED_INTERNAL_H
#define READER_LIB_FEED_INTERNAL_H

#include "reader-lib/feed.h"

/* Go over to the ring that arrived; ends the turn. */
void feed_change_over(struct feed *f);
bool feed_part_state_is_synced(const struct feed *f, uint32_t part);

#endif
