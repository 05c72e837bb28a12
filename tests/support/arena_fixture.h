/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private arena for tests: a memfd, random keys, no daemon.
 */
#ifndef TESTS_SUPPORT_ARENA_FIXTURE_H
#define TESTS_SUPPORT_ARENA_FIXTURE_H

#include "writer/arena/arena.h"

/* Any size; 0 or negative errno. sodium_init() was called. arena_close() it. */
int arena_fixture_make(struct arena *ret, uint64_t max_bytes);

struct arena *arena_fixture_new(void); /* 1 GiB at most; aborts the test when it cannot be had */
void arena_fixture_free(struct arena *arena);

#endif
