/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What malloc keeps of what was freed. A large list's notes come and go; by default the first large block
 * that is freed makes malloc take all later ones of up to its size from the heap, and keep as much again on
 * top of it, for good.
 *
 * Threads: before there are others.
 */
#ifndef WRITER_BASE_HEAP_H
#define WRITER_BASE_HEAP_H

/* From this size on a block is mapped by itself, whatever is freed, and goes back when it is freed. */
#define HEAP_LARGE (128u << 10)

/* Where malloc has no such setting nothing changes. */
void heap_give_back_large(void);

#endif
