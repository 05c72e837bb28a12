/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the processor for what a change will look at, before the change looks there.
 *
 * A change goes down a dozen tries, one after the other, and each step waits for memory once the tries are
 * larger than the caches: most of a change's time. Gone down side by side, a step each in turn, all of them
 * wait together.
 *
 * Hints only: nothing is written, and what is asked for wrongly costs a little time.
 */
#ifndef WRITER_STORE_TRIE_WARM_H
#define WRITER_STORE_TRIE_WARM_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/trie.h"

#define TRIE_WARM_MAX 64u

/* link: at first the root of a trie, then the leaf that can have the key; 0: none. */
struct trie_walk {
	uint64_t key;
	uint32_t link;
};

/*
 * Walk down to the leaves: TRIE_WARM_MAX walks at most. What the leaves refer to is asked for, too.
 *
 * Cost: as the longest walk, and some instructions for each of the others.
 */
void trie_warm(const struct arena_view *view, struct trie_walk *walks, size_t count);

#endif
