/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault guard: a SIGBUS handler that puts zeros where a revoked arena has lost its memory.
 *
 * informerd takes back the pages of a revoked arena (PROTOCOLS.md, Revoke). A thread that touches such a page
 * gets a page of zeros from the file system. A full file system has none, and the kernel sends SIGBUS to the
 * thread. If the address lies in a revoked arena, the handler maps zeros over the whole arena but its header,
 * and the thread goes on. Every other SIGBUS goes to the handler installed before, or ends the process as
 * without us.
 *
 * The first fault_guard_add() of a process installs the handler. A program that installs a SIGBUS handler
 * later must call the handler that sigaction() gave it, for signals that are not its own.
 *
 * The table of guarded arenas reads as zeros in a forked child: nothing is guarded there.
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
 * Guard an arena of `bytes` bytes that this slot reads. The arena counts as revoked if its header says so, or
 * if the slot is closed. Both must stay mapped until fault_guard_remove().
 * Returns 0 or negative errno. -ENOMEM: out of memory, or 4,096 arenas are guarded.
 */
int fault_guard_add(const struct header *arena, size_t bytes, const struct slot *slot);
/* Stop guarding an arena, before it is unmapped. Does nothing if the arena is not guarded. */
void fault_guard_remove(const struct header *arena);

/*
 * Map our own zeros over a revoked arena but its header. From then on, reads take no memory of the file.
 * False: out of memory.
 */
bool fault_guard_blank(const struct header *arena, size_t bytes);

#endif
