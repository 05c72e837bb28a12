/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault guard: zeros where a revoked arena has no memory any more.
 *
 * informerd takes the pages of a revoked arena back (PROTOCOLS.md, Revoke). Whoever looks at one gets a page
 * of zeros from the file system. A file system that is full has none, and the kernel sends SIGBUS to the
 * thread that looked. So the first attach of a process puts a handler of SIGBUS in place. When the address
 * lies in an arena that is revoked, it maps zeros of our own over all of that arena but its header, and the
 * thread goes on. Every other SIGBUS goes to the handler that was there before, or ends the process as it
 * did.
 *
 * A program that installs a handler of SIGBUS later passes on what is not its own, as it would for any
 * library: to the handler that sigaction() gave it.
 *
 * The guarded arenas stand in memory that a forked child sees as zeros: there it guards nothing.
 *
 * Threads: any. The handler takes no lock.
 */
#ifndef READER_LIB_ATTACH_FAULT_GUARD_H
#define READER_LIB_ATTACH_FAULT_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "shm-layout/header.h"
#include "shm-layout/slot.h"

/*
 * An arena is mapped there, `bytes` long, and read by this slot: revoked when its header says so, or when the
 * slot is closed. Both stay mapped until fault_guard_remove(). 0 or negative errno; -ENOMEM also: 4,096 are.
 */
int fault_guard_add(const struct header *arena, size_t bytes, const struct slot *slot);
/* It is to be unmapped. Nothing to do for one that is not guarded. */
void fault_guard_remove(const struct header *arena);

/*
 * Map zeros of our own over a revoked arena but its header: nothing there takes memory of the file any more.
 * False: there is no memory for that.
 */
bool fault_guard_blank(const struct header *arena, size_t bytes);

#endif
