/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker serves: the arena, through a descriptor of its own, which nobody can write through.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "writer/serve/broker_internal.h"

int
broker_source(struct broker *b, struct broker_source *ret_source, int *ret_fd)
{
	char path[64];

	memset(ret_source, 0, sizeof(*ret_source));
	b->options.source(b->options.context, ret_source);
	if (!ret_source->arena || !ret_source->pins)
		return -EAGAIN;
	if (b->arena_fd < 0) {
		/* A descriptor that cannot write, whatever its holder does: another open of the same file. */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", ret_source->arena->fd);
		b->arena_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (b->arena_fd < 0)
			return -errno;
	}
	*ret_fd = b->arena_fd;
	return 0;
}
