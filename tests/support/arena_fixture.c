/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a private arena for a test that needs blocks and no store, and takes it down with all its memory.
 */
#include "tests/support/arena_fixture.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

struct arena *
arena_fixture_new(void)
{
	struct arena *arena = calloc(1, sizeof(*arena));

	if (!arena || sodium_init() < 0 || arena_create_private(arena, 1u << 30) < 0) {
		fprintf(stderr, "arena_fixture: no arena\n");
		abort();
	}
	return arena;
}

void
arena_fixture_free(struct arena *arena)
{
	if (!arena)
		return;
	arena_close(arena);
	free(arena);
}
