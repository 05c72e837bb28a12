/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop room enlarges a libuv loop's table of descriptors at the start.
 *
 * libuv grows the table when a descriptor beyond it is watched, and ends the process if that fails. So the
 * table grows at the start, where a failure loses nothing, and not when a reader attaches.
 */
#ifndef WRITER_BASE_LOOP_ROOM_H
#define WRITER_BASE_LOOP_ROOM_H

#include <uv.h>

/*
 * Make room for descriptors below `count`, or below the process' limit if that is lower. fd: any descriptor
 * that can be polled. A temporary handle is closed when the loop turns. Returns 0 or negative errno.
 */
int loop_room_make(uv_loop_t *loop, unsigned count, int fd);

#endif
