/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking in what the arena has: handlers get their turns, and a snapshot that is begun after that says what
 * of it is whole.
 *
 * Threads  one
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_ARENA_TAKE_H
#define TOOLS_INFORMER_GATEWAY_ARENA_ARENA_TAKE_H

#include "tools/informer-gateway/arena/arena_handles.h"

/*
 * Take in changes and the table of resources, without telling anybody: who does it outside of
 * gw_arena_dispatch() kicks the handles, so that it comes. It kicks them itself where there is more than one
 * turn may take.
 */
void gw_arena_take(struct gw_arena *arena);

#endif
