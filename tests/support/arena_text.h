/* SPDX-License-Identifier: Apache-2.0 */
/* What an arena's published root shows, as text, for tests that compare two states. */
#ifndef TESTS_SUPPORT_ARENA_TEXT_H
#define TESTS_SUPPORT_ARENA_TEXT_H

#include "shm-layout/block.h"
#include "shm-layout/tag.h"

/*
 * The text has everything that a reader can find, found in every possible way. These are the root, consumers,
 * each resource, its objects by ordinal, key, seq and every value of every index, and its tombstones by seq
 * and key. Every block that is touched is verified. Refs and the structure of the tries are left out.
 * Shortcuts are checked to lead to nothing older.
 *
 * view  the mapped file of an arena that has an identity; without a verifier
 * keys  of the tags
 *
 * Returns the text, to be free()d. A line with "DAMAGED:" names what is damaged or missing.
 */
char *arena_text(const struct arena_view *view, const struct tag_keys *keys);

#endif
