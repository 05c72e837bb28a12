/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets glibc's thresholds to their defaults. Once set, they no longer change by themselves.
 */
#include "writer/base/heap.h"

#include <malloc.h>

void
heap_give_back_large(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, (int)HEAP_LARGE);
	mallopt(M_TRIM_THRESHOLD, (int)HEAP_LARGE);
#endif
}
