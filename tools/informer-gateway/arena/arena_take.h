/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking in what the arena has: handlers get their turns, and a snapshot that is begun after that says what
 * of it is whole.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_ARENA_TAKE_H
#define TOOLS_INFORMER_GATEWAY_ARENA_ARENA_TAKE_H

#include "tools/informer-gateway/arena/arena_resources.h"

/*
 * Take in changes and the table of resources, without telling anybody. It kicks the handles where there is
 * more than one turn may take.
 */
void gw_arena_take(struct gw_arena *arena);
/* The same, outside of gw_arena_dispatch(), whose next call tells what came. */
void gw_arena_take_untold(struct gw_arena *arena);

/*
 * Begin a snapshot of which the entry's log has everything, and nothing beyond it: what has come meanwhile is
 * taken into the log. End it with gw_reading_end().
 *
 * Returns 0; -EAGAIN: commits come faster than they are taken in, or there is nothing to read
 */
int gw_entry_begin_whole(struct gw_entry *entry, struct gw_reading *ret_reading);

#endif
