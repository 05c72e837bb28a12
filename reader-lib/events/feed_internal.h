/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What feed.c (turns) and feed_next.c (items) share.
 */
#ifndef READER_LIB_EVENTS_FEED_INTERNAL_H
#define READER_LIB_EVENTS_FEED_INTERNAL_H

#include "reader-lib/events/feed.h"

/* Go over to the ring that arrived; ends the turn. */
void feed_change_over(struct feed *f);
/* Whether deletions after this seq were forgotten: 1, 0, or why that cannot be known. */
int feed_forgotten_after(const struct feed *f, uint64_t seq);

#endif
