/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of arenas that follow each other as generations: each start takes over the previous content. */
#ifndef TESTS_SUPPORT_GENERATIONS_H
#define TESTS_SUPPORT_GENERATIONS_H

#include "tests/support/store_fixture.h"
#include "writer/store/generation.h"

struct generations {
	char path[64];
	struct arena_place place;
};

/* Makes a new directory in /dev/shm. Aborts on failure. */
void generations_begin(struct generations *g);
void generations_end(struct generations *g);
/* The number of files in the directory, without those whose names begin with a dot. */
unsigned generations_count_files(const struct generations *g);

/*
 * Adopt the last generation, or make the first. *ret_intern goes to the store over the arena (NULL: a new
 * table). The arena is live at once; arena_close() and free() it. Aborts on failure.
 */
struct arena *generations_next(struct generations *g, struct intern **ret_intern);

/* The same with a store of pods (NULL: pods_descriptor); store_fixture_free() closes the arena too. */
struct store_fixture *generations_store(struct generations *g, const char *descriptor);

#endif
