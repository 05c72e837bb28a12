/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena take: dispatches the handles, then begins a snapshot that shows which changes are complete.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_ARENA_TAKE_H
#define TOOLS_INFORMER_GATEWAY_ARENA_ARENA_TAKE_H

#include "tools/informer-gateway/arena/arena_resources.h"

/*
 * Take in changes and the resource table, without calling on_told. Kicks the handles if there is more work
 * than one call may do.
 */
void gw_arena_take(struct gw_arena *arena);
/* The same, for callers outside gw_arena_dispatch(). The next gw_arena_dispatch() calls on_told. */
void gw_arena_take_untold(struct gw_arena *arena);

/*
 * Begin a snapshot that matches the entry's log exactly: first the log takes in all newer changes. End it
 * with gw_reading_end().
 *
 * Returns 0; -EAGAIN: commits arrive faster than they are taken in, or there is nothing to read
 */
int gw_entry_begin_whole(struct gw_entry *entry, struct gw_reading *ret_reading);

#endif
