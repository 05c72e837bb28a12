/* SPDX-License-Identifier: Apache-2.0 */
/* What list_body.c, which knows who reads what, and list_making.c, which makes it, both see of bodies. */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_LIST_BODY_PRIVATE_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_LIST_BODY_PRIVATE_H

#include <sys/queue.h>

#include "tools/informer-gateway/answer/body_blocks.h"
#include "tools/informer-gateway/answer/list_body.h"
#include "tools/informer-gateway/answer/routing.h"
#include "tools/serving/api_list.h"

/* What a body may hold, whatever all of them hold: enough to be answered, and to go on by. */
#define GW_BODY_SHARE ((size_t)256 * 1024)

struct gw_body {
	struct gw_bodies *bodies;
	TAILQ_ENTRY(gw_body) link;
	char *key;	/* NULL: no newcomers */
	char *namespace_;
	struct api_request request; /* what a list needs of it */
	struct api_query query;
	struct gw_store *store;
	struct api_list *list; /* NULL: it is whole, or not open yet */
	enum { GW_BODY_PENDING, GW_BODY_OPEN, GW_BODY_FAILED } state;
	struct gw_body_shown shown;
	bool events, may_gzip, gzip, whole;
	bool broken; /* behind what there is of it: the rest cannot be had any more */
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
	bool replied; /* its stream has begun */
	bool dropped; /* its connection was cut */
	const struct gw_stream_ops *ops;
	void *ctx;
};

struct gw_bodies {
	struct gw_router *router;
	struct api_share *share;
	unsigned count, most; /* bodies: each may hold GW_BODY_SHARE, whatever all of them hold */
	TAILQ_HEAD(, gw_body) list;
	unsigned open_handles;
	uv_idle_t maker;
	uv_timer_t timer; /* bodies that are pending, or have become old */
};

/* Take the state that it shows: it is OPEN then, or FAILED, or PENDING until its size is known. */
void gw_body_begin(struct gw_body *b);
/* Make what there is to make, from the loop's next turn on. */
void gw_bodies_start(struct gw_bodies *bodies);
/* It is OPEN or FAILED, and there is something to read. */
void gw_body_wake(struct gw_body_reader *reader);
/* No reader is left. */
void gw_body_drop(struct gw_body *b);
/* Its blocks held so much before. */
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
