/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turn share: how much one stream may bring in one turn of the loop. libcurl reads a socket for as long as
 * there is something to read, so that a large LIST, or a WATCH that catches up, would keep everybody else
 * waiting for seconds. A stream that has had its share is paused until the next turn; what it brought is
 * applied in between.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_REFLECT_TURN_SHARE_H
#define WRITER_REFLECT_TURN_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/reflect/source.h"

struct turn_share {
	const struct source *source;
	void **request;		/* its owner's, NULL while there is none */
	uint64_t share;		/* in whatever the owner counts */
	uint64_t turn_ms, used;
	struct clock_timer rest;
	bool resting, held;	/* why it is paused: until the next turn; until turn_share_release() */
};

void turn_share_init(struct turn_share *r, const struct source *source, void **request, uint64_t share);
/* Before the owner goes, and when the request has ended. */
void turn_share_stop(struct turn_share *r);

/* So much has come; to be called from on_data. */
void turn_share_use(struct turn_share *r, uint64_t amount);

/* Pause until it is released, for a reason of the owner's. */
void turn_share_hold(struct turn_share *r);
void turn_share_release(struct turn_share *r);

#endif
