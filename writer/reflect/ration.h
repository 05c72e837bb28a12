/*
 * Ration: how much one stream may bring in one turn of the loop. libcurl reads a socket for as long as there is something
 * to read, so that a large LIST, or a WATCH that catches up, would keep everybody else waiting for seconds. A stream that
 * has had its share is paused until the next turn; what it brought is applied in between.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_RATION_H
#define WRITER_RATION_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/reflect/feed.h"

struct ration {
	const struct feed *feed;
	void **request;		/* its owner's, NULL while there is none */
	uint64_t share;		/* in whatever the owner counts */
	uint64_t turn_ms, used;
	struct clock_timer rest;
	bool resting, held;	/* why it is paused: until the next turn; until ration_release() */
};

void ration_init(struct ration *r, const struct feed *feed, void **request, uint64_t share);
/* Before the owner goes, and when the request has ended. */
void ration_stop(struct ration *r);

/* So much has come; to be called from on_data. */
void ration_use(struct ration *r, uint64_t amount);

/* Pause until it is released, for a reason of the owner's. */
void ration_hold(struct ration *r);
void ration_release(struct ration *r);

#endif
