/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker serves at the moment, and to how many: the arena through a descriptor of its own, which
 * nobody can write through.
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
	if (b->arena_fd < 0 || b->arena != ret_source->arena ||
	    b->arena_generation != ret_source->arena->header->generation) {
		if (b->arena_fd >= 0)
			close(b->arena_fd);
		/* A descriptor that cannot write, whatever its holder does: another open of the same file. */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", ret_source->arena->fd);
		b->arena_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (b->arena_fd < 0)
			return -errno;
		b->arena = ret_source->arena;
		b->arena_generation = ret_source->arena->header->generation;
	}
	*ret_fd = b->arena_fd;
	return 0;
}

unsigned
broker_readers_of(const struct broker *b, uid_t uid)
{
	unsigned n = 0;

	for (const struct client *c = b->clients; c; c = c->next)
		n += client_has_slot(c) && c->peer.uid == uid;
	return n;
}

unsigned
broker_pending_of(const struct broker *b, uid_t uid)
{
	unsigned n = 0;

	for (const struct client *c = b->clients; c; c = c->next)
		n += !client_has_slot(c) && c->peer.uid == uid;
	return n;
}
