/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies an arena's content into another file (arena_copy.h).
 */
#include "writer/arena/arena_copy.h"

#include <errno.h>
#include <unistd.h>

#include "writer/arena/arena_internal.h"
#include "writer/arena/arena_pages.h"

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

/* Read [from, to) of a file into memory. 0; negative errno; -EIO: the file is shorter. */
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

	/* allocate all memory first: if there is none, nothing is copied in vain */
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
