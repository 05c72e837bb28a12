/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes malloc return large freed blocks to the system. By default, the first large block that is freed
 * raises malloc's threshold for good. Later blocks of up to its size then come from the heap, which keeps as
 * much free memory again. A large list's temporary memory does that.
 *
 * Threads: call before threads start.
 */
#ifndef WRITER_BASE_HEAP_H
#define WRITER_BASE_HEAP_H

/* Blocks of this size or more are always mapped separately, and returned when freed. */
#define HEAP_LARGE (128u << 10)

/* Does nothing if malloc has no such setting. */
void heap_give_back_large(void);

#endif
