/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a private arena for tests that need blocks and no store, and frees it with all its memory. */
#include "tests/support/arena_fixture.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "writer/arena/arena_internal.h"

int
arena_fixture_make(struct arena *ret, uint64_t max_bytes)
{
	uint8_t master[TAG_MASTER_BYTES];
	int fd = memfd_create("informer-arena", MFD_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	randombytes_buf(master, sizeof(master));
	*ret = (struct arena){0};
	r = arena_make(ret, fd, 1, max_bytes, master, NULL);
	if (r < 0)
		close(fd);
	return r;
}

struct arena *
arena_fixture_new(void)
{
	struct arena *arena = calloc(1, sizeof(*arena));

	if (!arena || sodium_init() < 0 || arena_fixture_make(arena, 1u << 30) < 0) {
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
