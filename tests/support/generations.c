/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a directory of arenas for tests of adoption: each call starts the next generation as the daemon does.
 * Readers of the replaced generation may continue until the next start, which revokes it.
 */
#include "tests/support/generations.h"

#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
generations_begin(struct generations *g)
{
	memset(g, 0, sizeof(*g));
	snprintf(g->path, sizeof(g->path), "/dev/shm/informer-test-XXXXXX");
	if (sodium_init() < 0 || !mkdtemp(g->path))
		abort();
	g->place.directory = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->place.directory < 0)
		abort();
	snprintf(g->place.prefix, sizeof(g->place.prefix), "arena");
	g->place.max_bytes = 64u << 20;
	memset(g->place.master, 7, sizeof(g->place.master));
}

void
generations_end(struct generations *g)
{
	DIR *dir = fdopendir(g->place.directory);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(g->path);
}

unsigned
generations_count_files(const struct generations *g)
{
	DIR *dir = fdopendir(openat(g->place.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;
	unsigned n = 0;

	if (!dir)
		abort();
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

struct arena *
generations_next(struct generations *g, struct intern **ret_intern)
{
	struct arena *arena = calloc(1, sizeof(*arena));
	struct adoption adoption;

	if (!arena || generation_adopt(&g->place, arena, ret_intern, &adoption) < 0) {
		fprintf(stderr, "generations: no arena\n");
		abort();
	}
	if (adoption.message[0])
		fprintf(stderr, "generations: %s\n", adoption.message);
	generation_finish(&g->place, arena, &adoption);
	generation_leave(&adoption);
	return arena;
}

struct store_fixture *
generations_store(struct generations *g, const char *descriptor)
{
	struct intern *intern;
	struct arena *arena = generations_next(g, &intern);
	struct store_fixture *fx = store_fixture_of(arena, intern, descriptor ? descriptor : pods_descriptor);

	fx->owns_arena = 1;
	return fx;
}
