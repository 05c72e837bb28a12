/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory in which arenas follow each other as generations: each start takes over what the one before
 * left.
 */
#ifndef TESTS_SUPPORT_GENERATIONS_H
#define TESTS_SUPPORT_GENERATIONS_H

#include "tests/support/store_fixture.h"
#include "writer/store/generation.h"

struct generations {
	char path[64];
	struct arena_place place;
};

/* A new directory in /dev/shm. Aborts when it cannot be had. */
void generations_begin(struct generations *g);
void generations_end(struct generations *g);
/* How many files lie in its directory, but for those whose names begin with a dot. */
unsigned generations_count_files(const struct generations *g);

/*
 * Adopt the last generation, or make the first. *ret_intern belongs to the store that is made over the arena
 * (NULL: a new one). The arena is live at once; arena_close() and free() it. Aborts when it cannot be had.
 */
struct arena *generations_next(struct generations *g, struct intern **ret_intern);

/* The same with a store of pods (NULL: pods_descriptor) over it; store_fixture_free() closes the arena, too.
 */
struct store_fixture *generations_store(struct generations *g, const char *descriptor);

#endif
