/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying an arena's content into a file of its own (arena_copy.h).
 */
#include "writer/arena/arena_copy.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "writer/arena/arena_internal.h"
#include "writer/arena/arena_pages.h"

static uint64_t
load(const _Atomic uint64_t *word)
{
	/* Relaxed: a header that nobody changes, or a copy of one. */
	return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)word, memory_order_relaxed);
}

/* ---- making ---- */

/* A mapping of the file, and a header. fd is taken over. */
static int
set_up(struct arena *a, int fd, const char *name, uint64_t generation, uint64_t max_bytes,
       const uint8_t master[TAG_MASTER_BYTES], const struct arena_source *source)
{
	int r;

	if (strlen(name) >= sizeof(a->name))
		return -ENAMETOOLONG;
	if (source->bytes < HEADER_BYTES || source->bytes % ARENA_COPY_PAGE != 0)
		return -EINVAL;
	r = arena_pages_allocate(fd, 0, HEADER_BYTES);
	if (r == 0 && ftruncate(fd, (off_t)source->bytes) < 0)
		r = -errno;
	if (r == 0)
		r = arena_set_up(a, fd, source->bytes > max_bytes ? source->bytes : max_bytes, master);
	if (r < 0)
		return r;
	a->view.committed = source->bytes;
	memcpy(a->name, name, strlen(name) + 1);
	for (unsigned i = 0; i < RESOURCE_MAX; i++)
		atomic_store_explicit(&a->header->contact_boot_ns[i],
				      load(&source->header->contact_boot_ns[i]), memory_order_relaxed);
	atomic_store_explicit(
		&a->header->server_release,
		atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&source->header->server_release,
				     memory_order_relaxed),
		memory_order_relaxed);
	arena_write_identity(a, generation, master, source->header->hash_key);
	atomic_store_explicit(&a->header->root, load(&source->header->root), memory_order_relaxed);
	/* As in arena_create(): nobody has the file yet, the state word orders all of it. */
	atomic_store_explicit(&a->header->committed_bytes, source->bytes, memory_order_release);
	return 0;
}

int
arena_copy_create(struct arena *ret, int directory, const char *name, uint64_t generation, uint64_t max_bytes,
		  const uint8_t master[TAG_MASTER_BYTES], const struct arena_source *source)
{
	struct arena a = {0};
	int fd = arena_open_new(directory, name), r;

	if (fd < 0)
		return fd;
	r = set_up(&a, fd, name, generation, max_bytes, master, source);
	if (r < 0) {
		close(fd);
		unlinkat(directory, name, 0);
		return r;
	}
	*ret = a;
	return 0;
}

/* ---- what is carried over ---- */

int
arena_source_next(const struct arena_source *source, uint64_t at, uint64_t *ret_from, uint64_t *ret_to)
{
	off_t from, to;

	if (at >= source->bytes)
		return 0;
	from = lseek(source->fd, (off_t)at, SEEK_DATA);
	if (from < 0)
		return errno == ENXIO ? 0 : -errno;
	to = lseek(source->fd, from, SEEK_HOLE);
	if (to < 0)
		return -errno;
	*ret_from = (uint64_t)from / ARENA_COPY_PAGE * ARENA_COPY_PAGE;
	*ret_to = ((uint64_t)to + ARENA_COPY_PAGE - 1) / ARENA_COPY_PAGE * ARENA_COPY_PAGE;
	if (*ret_to > source->bytes)
		*ret_to = source->bytes;
	return *ret_from < *ret_to;
}

/* All of [from, to) of a file into memory: 0, negative errno, -EIO when the file is shorter. */
static int
read_range(int fd, uint8_t *base, uint64_t from, uint64_t to)
{
	while (from < to) {
		ssize_t n = pread(fd, base + from, to - from, (off_t)from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += (uint64_t)n;
	}
	return 0;
}

int
arena_copy_all(struct arena *a, const struct arena_source *source)
{
	uint64_t at = HEADER_BYTES, from = 0, to = 0;
	int r;

	/* memory for all of it first: to find that there is none costs no copy */
	while ((r = arena_source_next(source, at, &from, &to)) > 0) {
		r = arena_pages_fill(a->fd, a->header, from, to);
		if (r < 0)
			return r;
		at = to;
	}
	for (at = HEADER_BYTES; r == 0 && arena_source_next(source, at, &from, &to) > 0; at = to)
		r = read_range(source->fd, (uint8_t *)a->header, from, to);
	return r;
}

int
arena_copy_books(struct arena *a)
{
	uint64_t at = HEADER_BYTES, from = 0, to = 0;
	const struct arena_source self = {a->fd, a->header, a->view.committed};
	int r;

	while (at < self.bytes) {
		r = arena_source_next(&self, at, &from, &to);
		if (r < 0)
			return r;
		if (r == 0)
			from = to = self.bytes;
		if (from > at) {
			r = arena_books_absent(a, at, from);
			if (r < 0)
				return r;
		}
		at = to;
	}
	return 0;
}
