/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private arena for tests: a memfd, random keys, no daemon.
 */
#ifndef TESTS_SUPPORT_ARENA_FIXTURE_H
#define TESTS_SUPPORT_ARENA_FIXTURE_H

#include "writer/arena/arena.h"

/* Returns 0 or a negative errno. Call sodium_init() before, and arena_close() after. */
int arena_fixture_make(struct arena *ret, uint64_t max_bytes);

struct arena *arena_fixture_new(void); /* at most 1 GiB; aborts on failure */
void arena_fixture_free(struct arena *arena);

#endif
