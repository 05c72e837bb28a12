/* SPDX-License-Identifier: Apache-2.0 */
/* The structs that list_body.c (readers of bodies) and list_making.c (their bytes) share. */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_LIST_BODY_PRIVATE_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_LIST_BODY_PRIVATE_H

#include <sys/queue.h>

#include "tools/informer-gateway/answer/body_blocks.h"
#include "tools/informer-gateway/answer/list_body.h"
#include "tools/informer-gateway/answer/routing.h"
#include "tools/serving/api_list.h"

/* Each body may hold this much, whatever the others hold. */
#define GW_BODY_SHARE ((size_t)256 * 1024)

struct gw_body {
	struct gw_bodies *bodies;
	TAILQ_ENTRY(gw_body) link;
	char *key; /* NULL: accepts no new readers */
	char *namespace_;
	struct api_request request; /* the fields that a list needs */
	struct api_query query;
	struct gw_store *store;
	struct api_list *list; /* NULL: complete, or not open yet */
	enum { GW_BODY_PENDING, GW_BODY_OPEN, GW_BODY_FAILED } state;
	struct gw_body_shown shown;
	bool events, may_gzip, gzip, whole;
	bool broken; /* the rest cannot be made: the snapshot was revoked */
	uint64_t begun_ms, bytes;
	struct gw_blocks blocks;
	LIST_HEAD(, gw_body_reader) readers;
};

struct gw_body_reader {
	struct gw_body *body;
	LIST_ENTRY(gw_body_reader) link;
	struct gw_blocks_place place;
	struct gw_exchange *x;
	uint64_t begun_ms;
	bool waiting;
	bool replied; /* the stream has begun */
	bool dropped; /* the connection was cut */
	const struct gw_stream_ops *ops;
	void *ctx;
};

struct gw_bodies {
	struct gw_router *router;
	struct api_share *share;
	unsigned count, most; /* bodies now, and their limit */
	TAILQ_HEAD(, gw_body) list;
	unsigned open_handles;
	uv_idle_t maker;
	uv_timer_t timer; /* looks at pending and old bodies */
};

/* Take the snapshot. The body becomes OPEN or FAILED, or stays PENDING until its size is known. */
void gw_body_begin(struct gw_body *b);
/* Make bytes, from the loop's next turn on. */
void gw_bodies_start(struct gw_bodies *bodies);
/* The body is OPEN or FAILED: let the reader read. */
void gw_body_wake(struct gw_body_reader *reader);
/* Free a body that has no reader. */
void gw_body_drop(struct gw_body *b);
/* Update the budget. before: what the blocks held until now */
void gw_body_count_held(struct gw_body *b, size_t before);

static inline bool
gw_bodies_are_full(const struct gw_bodies *bodies)
{
	return api_share_room(bodies->share) == 0;
}

static inline uint64_t
gw_bodies_now_ms(const struct gw_bodies *bodies)
{
	return uv_now(bodies->maker.loop);
}

#endif
