/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop room: a loop's table of descriptors, made large at once.
 *
 * libuv grows the table when a descriptor is watched whose number is beyond it, and ends the process when
 * that fails. So it grows at the start, where nothing is lost by that, and not when a reader comes.
 */
#ifndef WRITER_BASE_LOOP_ROOM_H
#define WRITER_BASE_LOOP_ROOM_H

#include <uv.h>

/*
 * Room for descriptors below `count`, or below the process' limit where that is less. fd: one that can be
 * polled. What that leaves behind is closed when the loop turns. Returns 0 or negative errno.
 */
int loop_room_make(uv_loop_t *loop, unsigned count, int fd);

#endif
