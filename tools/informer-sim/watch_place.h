/* SPDX-License-Identifier: Apache-2.0 */
/* A watch's position in the store's history, for faults and slow clients. */
#ifndef TOOLS_INFORMER_SIM_WATCH_PLACE_H
#define TOOLS_INFORMER_SIM_WATCH_PLACE_H

#include "tools/serving/api_watch_private.h"

/* The position of the first change not looked at. */
static inline uint64_t
sim_watch_position(const struct api_watch *w)
{
	return w->position - (w->count - w->at);
}

/* Go back to a position: later changes are sent again. */
static inline void
sim_watch_repeat(struct api_watch *w, uint64_t position)
{
	watch_drop_batch(w);
	w->position = position;
	w->after_rv = 0;
}

#endif
