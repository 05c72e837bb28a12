/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefetches the trie nodes that a change will read.
 *
 * A change walks down a dozen tries one after the other. In tries larger than the caches each step waits for
 * memory: most of a change's time. Here all walks advance side by side, so their waits overlap.
 *
 * These are hints: nothing is written, and a wrong hint costs only time.
 */
#ifndef WRITER_STORE_TRIE_WARM_H
#define WRITER_STORE_TRIE_WARM_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/trie.h"

#define TRIE_WARM_MAX 64u

/* link: first the root of a trie, then the leaf that may have the key; 0: none */
struct trie_walk {
	uint64_t key;
	uint32_t link;
};

/*
 * Walk down to the leaves, with at most TRIE_WARM_MAX walks, and prefetch what the leaves refer to.
 *
 * Cost: that of the longest walk, and some instructions for each other one
 */
void trie_warm(const struct arena_view *view, struct trie_walk *walks, size_t count);

#endif
