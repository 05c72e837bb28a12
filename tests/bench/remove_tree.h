/* SPDX-License-Identifier: Apache-2.0 */
/* Remove a folder with all that is in it, as far as that goes; links are not followed. */
#ifndef TESTS_BENCH_REMOVE_TREE_H
#define TESTS_BENCH_REMOVE_TREE_H

void remove_tree(const char *directory);

#endif
