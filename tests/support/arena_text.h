/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an arena's published root shows, as text: for tests that compare two states, and want to see where
 * they differ.
 */
#ifndef TESTS_SUPPORT_ARENA_TEXT_H
#define TESTS_SUPPORT_ARENA_TEXT_H

#include "shm-layout/block.h"
#include "shm-layout/tag.h"

/*
 * Everything that a reader can find, found in every way that it can be found: the root, consumers, each
 * resource, its objects by ordinal, key, seq and every value of every index, its tombstones by seq and key.
 * Every block that is touched is verified. Refs do not occur, nor how the tries are built. Of shortcuts it is
 * checked that they lead to nothing older.
 *
 * view  the mapped file of an arena that has an identity; without a verifier
 * keys  its tags'
 * Returns the text, to be free()d; where something is damaged or missing, a line with "DAMAGED:" says what.
 */
char *arena_text(const struct arena_view *view, const struct tag_keys *keys);

#endif
