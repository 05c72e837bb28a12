/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tunnel pipe: the bytes of one direction of a tunnel, between who sends them and who takes them.
 *
 * Threads   one at a time
 */
#ifndef TOOLS_INFORMER_GATEWAY_TUNNEL_PIPE_H
#define TOOLS_INFORMER_GATEWAY_TUNNEL_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define GW_PIPE_BYTES (64u << 10)
#define GW_PIPE_ROOM  (16u << 10) /* that a read is given at least: a TLS record */

/* Zeroed at first. */
struct gw_pipe {
	char *data; /* NULL until there is something */
	size_t size, begin, end;
	bool ended; /* who sends has ended */
	bool told;  /* and who takes knows it: its owner's */
};

void gw_pipe_done(struct gw_pipe *pipe);

/* What came before; more than GW_PIPE_BYTES, too. */
void gw_pipe_put(struct gw_pipe *pipe, const void *data, size_t length);

/* Both: a count, 0 (of read: the end), -EAGAIN, or another negative errno. */
typedef ssize_t gw_pipe_read(void *ctx, void *to, size_t max);
typedef ssize_t gw_pipe_write(void *ctx, const void *data, size_t length);

/*
 * Take in what fits and give out what goes, once. Returns 1: something moved; 0: nothing; negative: broken.
 */
int gw_pipe_move(struct gw_pipe *pipe, gw_pipe_read *read, gw_pipe_write *write, void *ctx);

bool gw_pipe_has_room(const struct gw_pipe *pipe);
bool gw_pipe_has_bytes(const struct gw_pipe *pipe);
/* It has ended, and all is given out. */
bool gw_pipe_is_through(const struct gw_pipe *pipe);

#endif
